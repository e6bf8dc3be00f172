// What is done to the bytes of a file: open, write, read, truncate and sync.

#include "shim.h"
#include <sys/uio.h>

static int open_at(int at, const char *path, int flags, mode_t mode) {
  int fd = syscall(SYS_openat, at, path, flags, mode);
  learn_open(fd, flags);
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
  uint64_t inode = is_recording() ? inode_of(fd) : 0;
  if (inode) put(WRITE, inode, offset < 0 ? lseek(fd, 0, SEEK_CUR) : offset, 0, bytes, size);
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

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  if (FAILS(write_errno, fd)) return -1;
  int64_t at = offset;
  for (int part = 0; part < count; at += parts[part++].iov_len) {
    record_write(fd, parts[part].iov_base, parts[part].iov_len, at);
  }
  return syscall(SYS_pwritev, fd, parts, count, offset, 0);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return pwritev(fd, parts, count, offset);
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
  uint64_t inode = is_recording() ? inode_of(fd) : 0;
  if (inode) put(TRUNCATE, inode, size, 0, NULL, 0);
  return syscall(SYS_ftruncate, fd, size);
}

int ftruncate(int fd, off_t size) { return truncate_to(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_to(fd, size); }

static void delay(void) {
  // In short parts, so that the delay ends when the fault does.
  for (int waited = 0; control && waited < control->sync_delay_ms; waited += 5) {
    if (waited == 0) count_hit();
    usleep(5000);
  }
}

static int sync_file(int fd, long call) {
  static uint64_t syncs;
  uint64_t inode = inode_of(fd);
  if (!inode) return syscall(call, fd);
  uint64_t id = (uint64_t)getpid() << 32 | __atomic_add_fetch(&syncs, 1, __ATOMIC_RELAXED);
  put(SYNC_BEGIN, inode, id, 0, NULL, 0);
  delay();
  int result = control && fails(&control->sync_errno) ? -1 : (int)syscall(call, fd);
  put(SYNC_END, inode, id, result, NULL, 0);
  return result;
}

int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }
