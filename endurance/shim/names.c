// What is done to the names of files: unlink, rename and mkdir.

#include "shim.h"

// Writes the path of a name in a folder that exists. Returns whether it is to be recorded.
static int resolve(int at, const char *path, char *full) {
  if (!is_recording() || (at != AT_FDCWD && path[0] != '/')) return 0;
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
  int before = errno;
  int inside = resolve(at, path, full) && lstat(full, &status) == 0;
  errno = before;
  int result = syscall(SYS_unlinkat, at, path, flags);
  if (!inside || result != 0) return result;
  forget(status.st_ino);
  put(UNLINK, 0, 0, 0, full, strlen(full));
  return result;
}

int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return unlink_at(at, path, flags); }

static int rename_at(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  char paths[2 * PATH_MAX], target[PATH_MAX];
  int before = errno;
  int inside = resolve(from_at, from, paths) && resolve(to_at, to, target);
  errno = before;
  int result = syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  if (inside && result == 0) {
    size_t length = strlen(paths) + 1;
    strcpy(paths + length, target);
    put(RENAME, 0, 0, 0, paths, length + strlen(target));
  }
  return result;
}

int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat(int from_at, const char *from, int to_at, const char *to) {
  return rename_at(from_at, from, to_at, to, 0);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  return rename_at(from_at, from, to_at, to, flags);
}

int mkdir(const char *path, mode_t mode) {
  int result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  char full[PATH_MAX];
  int before = errno;
  if (result == 0 && resolve(AT_FDCWD, path, full)) put(MKDIR, 0, 0, 0, full, strlen(full));
  errno = before;
  return result;
}
