// Reports every fsync, fdatasync and rename of this process, and every write to its standard output, to a file. It can let
// the syncs, the reads (pread64) or the writes (pwrite64) of one file fail with EIO, and reports those that fail. It can
// also hold the thread that has synced a file.
//
// A seccomp filter (seccomp(2), SECCOMP_RET_TRAP) makes the kernel send SIGSYS instead of running these system calls.
// The handler runs the call itself and writes a line about it before the call returns. So the count does not depend on
// which library makes the call, and it covers all threads. preload.ts compiles this file with the C compiler
// inside Bun (TinyCC): no other compiler and no header file is needed, which is why everything is declared here.

typedef unsigned long size_t;
extern long syscall(long number, ...);
extern int open(const char *path, int flags, ...);
extern int close(int fd);
extern long read(int fd, void *bytes, size_t size);
extern long write(int fd, const void *bytes, size_t size);
extern long readlink(const char *path, char *target, size_t size);
extern int snprintf(char *text, size_t size, const char *format, ...);
extern int strcmp(const char *one, const char *other);
extern int prctl(int option, ...);
extern int usleep(unsigned microseconds);
extern int *__errno_location(void);

struct action {
  void (*handler)(int, void *, void *);
  unsigned long mask[16];
  int flags;
  void (*restorer)(void);
};
extern int sigaction(int signal, const struct action *new, struct action *old);

// Numbers of system calls, and where the registers are in ucontext_t, from the headers of Linux.
#if defined(__x86_64__)
enum { WRITE = 1, FCNTL = 72, FSTAT = 5, PREAD = 17, PWRITE = 18, FSYNC = 74, FDATASYNC = 75 };
enum { RENAME = 82, RENAMEAT = 264, RENAMEAT2 = 316, SECCOMP = 317 };
#define ARCH 0xc000003e
#define REGISTER(context, index) (((long *)((char *)(context) + 40))[index])
static const int ARGUMENTS[] = {8, 9, 12, 2, 0};
#define RESULT 13
#elif defined(__aarch64__)
enum { WRITE = 64, FCNTL = 25, PREAD = 67, PWRITE = 68, FSTAT = 80, FSYNC = 82, FDATASYNC = 83 };
enum { RENAME = -1, RENAMEAT = 38, RENAMEAT2 = 276, SECCOMP = 277 };
#define ARCH 0xc00000b7
#define REGISTER(context, index) (((long *)((char *)(context) + 184))[index])
static const int ARGUMENTS[] = {0, 1, 2, 3, 4};
#define RESULT 0
#else
#error "sync-counter.c knows x86-64 and arm64 only"
#endif

enum { F_GETFL = 3, ACCESS_MODE = 3 };
enum { SIGSYS = 31, SA_SIGINFO = 4, EIO = 5, STDOUT = 1, PATH_SIZE = 4096 };
enum { O_WRONLY = 1, O_CREAT = 0100, O_APPEND = 02000, O_CLOEXEC = 02000000 };

// None of these calls takes a sixth argument. This value in its place marks the handler's own calls.
#define OWN_CALL 0x526f6c6cL

struct trap {
  int signal, error, code;
  void *address;
  int call;
};

static int log_file;
// Whether a file got a name: a "late sync" is one after that.
static volatile int has_renamed;
static char fail_file[PATH_SIZE], hold_file[PATH_SIZE];

static long size_of(long fd) {
  long status[32] = {0};
  // st_size is the seventh word of struct stat on both architectures.
  return syscall(FSTAT, fd, status) == 0 ? status[6] : -1;
}

// Whether a file has this call and this path in it: in `fail`, the call fails, as on a broken disk; in `hold`, it takes long.
static int is_in(const char *file, const char *name, const char *path) {
  char wanted[PATH_SIZE + 100] = "", made[PATH_SIZE + 100];
  int fd = open(file, O_CLOEXEC);
  if (fd < 0) return 0;
  long size = read(fd, wanted, sizeof wanted - 1);
  close(fd);
  wanted[size < 0 ? 0 : size] = 0;
  snprintf(made, sizeof made, "%s %s", name, path);
  return strcmp(made, wanted) == 0;
}

// The signal is sent only from inside one of the calls in the filter, so the handler may call any function.
static void on_trap(int signal, void *info, void *context) {
  long a[5];
  for (int i = 0; i < 5; i++) a[i] = REGISTER(context, ARGUMENTS[i]);
  int call = ((struct trap *)info)->call;
  int is_sync = call == FSYNC || call == FDATASYNC;
  int is_page = call == PREAD || call == PWRITE;
  const char *name = is_sync ? "sync" : call == PREAD ? "pread" : call == PWRITE ? "pwrite" : call == WRITE ? "write" : "rename";

  char link[64], path[PATH_SIZE], line[PATH_SIZE + 100];
  if (is_sync || is_page || call == WRITE) {
    snprintf(link, sizeof link, "/proc/self/fd/%ld", a[0]);
    long length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
  } else {
    snprintf(path, sizeof path, "%s", (const char *)(call == RENAME ? a[1] : a[3]));
  }

  long result = -EIO;
  int fails = is_in(fail_file, name, path) || (is_sync && has_renamed && is_in(fail_file, "late sync", path));
  if (!(is_sync || is_page) || !fails) {
    result = syscall(call, a[0], a[1], a[2], a[3], a[4], OWN_CALL);
    if (result < 0) result = -*__errno_location();
  }
  if (!(is_sync || is_page || call == WRITE) && result >= 0) has_renamed = 1;
  REGISTER(context, RESULT) = result;
  if (is_page && result >= 0) return;
  // A descriptor that can write has another access mode than O_RDONLY, which is 0.
  int is_writer = is_sync && (syscall(FCNTL, a[0], (long)F_GETFL) & ACCESS_MODE) != 0;
  long size = is_sync ? size_of(a[0]) : 0;
  int length = snprintf(line, sizeof line, "%s %ld %ld %d %s\n", name, result, size, is_writer, path);
  write(log_file, line, length);
  while (is_sync && is_in(hold_file, name, path)) usleep(1000);
}

struct instruction {
  unsigned short code;
  unsigned char if_true, if_false;
  unsigned operand;
};
struct program {
  unsigned short length;
  struct instruction *instructions;
};

// The filter is a program of classic BPF over struct seccomp_data.
#define LOAD(offset) {0x20, 0, 0, offset}
#define JUMP_IF_EQUAL(value, if_true, if_false) {0x15, if_true, if_false, (unsigned)(value)}
#define RETURN(action) {0x06, 0, 0, action}
enum { NUMBER_AT = 0, ARCH_AT = 4, FIRST_ARGUMENT_AT = 16, SIXTH_ARGUMENT_AT = 56, ALLOW = 0x7fff0000, TRAP = 0x00030000 };

// Starts reporting to the file `log` in a folder. Returns 0, or the number of the step that failed.
int start(const char *folder) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "%s/log", folder);
  snprintf(fail_file, sizeof fail_file, "%s/fail", folder);
  snprintf(hold_file, sizeof hold_file, "%s/hold", folder);
  log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) return 1;

  struct action action = {on_trap, {0}, SA_SIGINFO, 0};
  if (sigaction(SIGSYS, &action, 0)) return 2;

  struct instruction instructions[] = {
    LOAD(ARCH_AT), JUMP_IF_EQUAL(ARCH, 0, 13),
    LOAD(SIXTH_ARGUMENT_AT), JUMP_IF_EQUAL(OWN_CALL, 11, 0),
    LOAD(NUMBER_AT),
    JUMP_IF_EQUAL(FSYNC, 10, 0), JUMP_IF_EQUAL(FDATASYNC, 9, 0), JUMP_IF_EQUAL(RENAME, 8, 0),
    JUMP_IF_EQUAL(RENAMEAT, 7, 0), JUMP_IF_EQUAL(RENAMEAT2, 6, 0),
    JUMP_IF_EQUAL(PREAD, 5, 0), JUMP_IF_EQUAL(PWRITE, 4, 0), JUMP_IF_EQUAL(WRITE, 0, 2),
    LOAD(FIRST_ARGUMENT_AT), JUMP_IF_EQUAL(STDOUT, 1, 0),
    RETURN(ALLOW), RETURN(TRAP),
  };
  struct program program = {sizeof instructions / sizeof instructions[0], instructions};
  enum { PR_SET_NO_NEW_PRIVS = 38, SECCOMP_SET_MODE_FILTER = 1, SECCOMP_FILTER_FLAG_TSYNC = 1 };
  // Without new privileges, a filter needs no special right. TSYNC puts it on the threads that run already.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L)) return 3;
  if (syscall(SECCOMP, (long)SECCOMP_SET_MODE_FILTER, (long)SECCOMP_FILTER_FLAG_TSYNC, &program)) return 4;
  return 0;
}
