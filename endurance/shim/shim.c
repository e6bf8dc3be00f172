// Records and disturbs the file operations of a process, for the endurance suite. Loaded with LD_PRELOAD.
//
//   ENDURANCE_FOLDER   only files under this folder are recorded and disturbed
//   ENDURANCE_LOG      a file that gets one record for each operation (see struct record)
//   ENDURANCE_CONTROL  a file with a struct control; it may change while the process runs
//
// One log serves several processes: each record is one write to a file that is open with O_APPEND, so the
// log has one order. The record of a write comes before the write, and the record of a sync comes in two
// parts. So a sync that begins after the record of a write covers that write, because SQLite writes and
// syncs a file under one lock. Writes to a memory map (the -shm file of SQLite) are not recorded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC_BEGIN, SYNC_END, OPEN, UNLINK, RENAME, MKDIR, SEND };

// Little-endian, followed by the payload. recording.ts reads it.
struct record {
  uint32_t size;    // of the record with its payload
  uint32_t type;
  uint64_t inode;
  uint64_t offset;  // of a write; the new size for a truncate; an id for a sync; the peer's port for a send
  int32_t result;   // of a sync: 0 when it succeeded; of an open: the flags, O_DIRECTORY for a folder
  uint32_t reserved;
};

// shim.ts writes it.
struct control {
  volatile int32_t write_errno;
  volatile int32_t sync_errno;
  volatile int32_t read_errno;
  volatile int32_t sync_delay_ms;
  volatile int64_t clock_offset_ms;
  volatile uint64_t hits;  // operations that were failed or delayed, and times that were changed
};

static char folder[PATH_MAX];
static size_t folder_length;
static int log_file = -1;
static struct control *control;
static uint64_t syncs;

// Inodes that are known to be in the folder, by their last digits.
#define INODES 4096
static uint64_t inodes[INODES];
static pthread_mutex_t inodes_lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) abort();
  return function;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("ENDURANCE_FOLDER");
  if (!path || !realpath(path, folder)) return;
  folder_length = strlen(folder);
  const char *log = getenv("ENDURANCE_LOG");
  if (log) log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const char *shared = getenv("ENDURANCE_CONTROL");
  if (!shared) return;
  int file = syscall(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *map = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) control = map;
  syscall(SYS_close, file);
}

static int is_inside(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

static void put(uint32_t type, uint64_t inode, uint64_t offset, int32_t result, const void *payload, size_t length) {
  if (log_file < 0) return;
  struct record head = {.size = sizeof head + length, .type = type, .inode = inode, .offset = offset, .result = result};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)payload, length}};
  int before = errno;
  if (syscall(SYS_writev, log_file, parts, 2) != (ssize_t)(sizeof head + length)) abort();
  errno = before;
}

static int is_known(uint64_t inode) {
  return inodes[inode % INODES] == inode;
}

static void learn(uint64_t inode, const char *path, int flags) {
  pthread_mutex_lock(&inodes_lock);
  inodes[inode % INODES] = inode;
  put(OPEN, inode, 0, flags, path, strlen(path));
  pthread_mutex_unlock(&inodes_lock);
}

// The inode of a regular file or a folder inside the folder; 0 for anything else.
static uint64_t inode_of(int fd) {
  if (folder_length == 0) return 0;
  int before = errno;
  struct stat status;
  if (fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
    errno = before;
    return 0;
  }
  if (is_known(status.st_ino)) return status.st_ino;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = '\0';
  if (!is_inside(path)) return 0;
  learn(status.st_ino, path, S_ISDIR(status.st_mode) ? O_DIRECTORY : 0);
  return status.st_ino;
}

static int fails(volatile int32_t *error) {
  if (!control || *error == 0) return 0;
  __atomic_add_fetch(&control->hits, 1, __ATOMIC_RELAXED);
  errno = *error;
  return 1;
}

#define FAILS(kind, fd) (control && control->kind && inode_of(fd) && fails(&control->kind))

static int open_at(int at, const char *path, int flags, mode_t mode) {
  int fd = syscall(SYS_openat, at, path, flags, mode);
  if (fd < 0 || folder_length == 0 || !(flags & (O_CREAT | O_TRUNC))) return fd;
  char link[64], full[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, full, sizeof full - 1);
  struct stat status;
  if (length < 0 || fstat(fd, &status) != 0) return fd;
  full[length] = '\0';
  if (is_inside(full)) learn(status.st_ino, full, flags);
  return fd;
}

#define MODE(flags, mode)                        \
  mode_t mode = 0;                               \
  if ((flags) & (O_CREAT | O_TMPFILE)) {         \
    va_list rest;                                \
    va_start(rest, flags);                       \
    mode = va_arg(rest, mode_t);                 \
    va_end(rest);                                \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(at, path, flags, mode);
}

static void record_write(int fd, const void *bytes, size_t size, int64_t offset) {
  if (log_file < 0) return;
  uint64_t inode = inode_of(fd);
  if (!inode) return;
  put(WRITE, inode, offset < 0 ? lseek(fd, 0, SEEK_CUR) : offset, 0, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
  if (FAILS(write_errno, fd)) return -1;
  record_write(fd, bytes, size, offset);
  return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size) {
  if (FAILS(write_errno, fd)) return -1;
  record_write(fd, bytes, size, -1);
  return syscall(SYS_write, fd, bytes, size);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset) {
  if (FAILS(read_errno, fd)) return -1;
  return syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
  return pread64(fd, bytes, size, offset);
}

static int truncate_to(int fd, off64_t size) {
  if (FAILS(write_errno, fd)) return -1;
  uint64_t inode = log_file < 0 ? 0 : inode_of(fd);
  if (inode) put(TRUNCATE, inode, size, 0, NULL, 0);
  return syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_to(fd, size); }

static int sync_file(int fd, long call) {
  uint64_t inode = inode_of(fd);
  if (!inode) return syscall(call, fd);
  uint64_t id = (uint64_t)getpid() << 32 | __atomic_add_fetch(&syncs, 1, __ATOMIC_RELAXED);
  put(SYNC_BEGIN, inode, id, 0, NULL, 0);
  // In short parts, so that the delay ends when the fault does.
  int delayed = 0;
  for (int waited = 0; control && waited < control->sync_delay_ms; waited += 5) {
    if (!delayed++) __atomic_add_fetch(&control->hits, 1, __ATOMIC_RELAXED);
    usleep(5000);
  }
  int result = control && fails(&control->sync_errno) ? -1 : (int)syscall(call, fd);
  put(SYNC_END, inode, id, result, NULL, 0);
  return result;
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

static int resolve(const char *path, char *full) {
  char folder_of[PATH_MAX];
  const char *name = strrchr(path, '/');
  snprintf(folder_of, sizeof folder_of, "%.*s", name ? (int)(name - path) : 1, name ? path : ".");
  if (!realpath(*folder_of ? folder_of : "/", full)) return 0;
  size_t length = strlen(full);
  snprintf(full + length, PATH_MAX - length, "/%s", name ? name + 1 : path);
  return is_inside(full);
}

static int unlink_at(int at, const char *path, int flags) {
  char full[PATH_MAX];
  struct stat status = {0};
  int inside = log_file >= 0 && (at == AT_FDCWD || path[0] == '/') && resolve(path, full) && lstat(full, &status) == 0;
  int result = syscall(SYS_unlinkat, at, path, flags);
  if (!inside || result != 0) return result;
  // The number may be given to a file outside the folder next.
  if (is_known(status.st_ino)) inodes[status.st_ino % INODES] = 0;
  put(UNLINK, 0, 0, 0, full, strlen(full));
  return result;
}

int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return unlink_at(at, path, flags); }

int rename(const char *from, const char *to) {
  char paths[2 * PATH_MAX], target[PATH_MAX];
  int inside = log_file >= 0 && resolve(from, paths) && resolve(to, target);
  int result = syscall(SYS_rename, from, to);
  if (inside && result == 0) {
    size_t length = strlen(paths) + 1;
    strcpy(paths + length, target);
    put(RENAME, 0, 0, 0, paths, length + strlen(target));
  }
  return result;
}

int mkdir(const char *path, mode_t mode) {
  int result = syscall(SYS_mkdir, path, mode);
  char full[PATH_MAX];
  if (result == 0 && log_file >= 0 && resolve(path, full)) put(MKDIR, 0, 0, 0, full, strlen(full));
  return result;
}

// The first bytes of what goes to a peer, which is enough for the status line of a response.
ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  if (log_file >= 0 && getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.ss_family == AF_INET) {
    put(SEND, 0, ntohs(((struct sockaddr_in *)&peer)->sin_port), 0, bytes, size < 16 ? size : 16);
  }
  static __typeof__(&send) original;
  if (!original) original = REAL(send);
  return original(fd, bytes, size, flags);
}

static int64_t offset_ms(void) { return control ? control->clock_offset_ms : 0; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) original;
  if (!original) original = REAL(clock_gettime);
  int result = original(clock, time);
  int64_t offset = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? offset_ms() : 0;
  if (result != 0 || offset == 0) return result;
  __atomic_add_fetch(&control->hits, 1, __ATOMIC_RELAXED);
  int64_t all = time->tv_sec * 1000000000LL + time->tv_nsec + offset * 1000000LL;
  time->tv_sec = all / 1000000000LL;
  time->tv_nsec = all % 1000000000LL;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
