// The log, the control file, and which files are recorded.

#include "shim.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>

struct control *control;

static char folder[PATH_MAX];
static size_t folder_length;
static int log_file = -1;

// Inodes that are known to be in the folder, by their last digits.
#define INODES 4096
static uint64_t inodes[INODES];
static pthread_mutex_t inodes_lock = PTHREAD_MUTEX_INITIALIZER;

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

int is_recording(void) { return log_file >= 0; }

int is_inside(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == '\0');
}

void put(uint32_t type, uint64_t inode, uint64_t offset, int32_t result, const void *payload, size_t length) {
  if (!is_recording()) return;
  struct record head = {.size = sizeof head + length, .type = type, .inode = inode, .offset = offset, .result = result};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)payload, length}};
  int before = errno;
  if (syscall(SYS_writev, log_file, parts, 2) != (ssize_t)(sizeof head + length)) abort();
  errno = before;
}

static int is_known(uint64_t inode) { return inodes[inode % INODES] == inode; }

void forget(uint64_t inode) {
  if (is_known(inode)) inodes[inode % INODES] = 0;
}

static void learn(uint64_t inode, const char *path, int flags) {
  pthread_mutex_lock(&inodes_lock);
  inodes[inode % INODES] = inode;
  put(OPEN, inode, 0, flags, path, strlen(path));
  pthread_mutex_unlock(&inodes_lock);
}

static int path_of(int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return 1;
}

static uint64_t find_inode(int fd) {
  struct stat status;
  char path[PATH_MAX];
  if (fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) return 0;
  if (is_known(status.st_ino)) return status.st_ino;
  if (!path_of(fd, path) || !is_inside(path)) return 0;
  learn(status.st_ino, path, S_ISDIR(status.st_mode) ? O_DIRECTORY : 0);
  return status.st_ino;
}

uint64_t inode_of(int fd) {
  if (folder_length == 0) return 0;
  int before = errno;
  uint64_t inode = find_inode(fd);
  errno = before;
  return inode;
}

void learn_open(int fd, int flags) {
  if (fd < 0 || folder_length == 0 || !(flags & (O_CREAT | O_TRUNC))) return;
  char path[PATH_MAX];
  struct stat status;
  if (path_of(fd, path) && is_inside(path) && fstat(fd, &status) == 0) learn(status.st_ino, path, flags);
}

void count_hit(void) { __atomic_add_fetch(&control->hits, 1, __ATOMIC_RELAXED); }

int fails(volatile int32_t *error) {
  if (!control || *error == 0) return 0;
  count_hit();
  errno = *error;
  return 1;
}
