// Records and disturbs the file operations of a process, for the endurance suite. Loaded with LD_PRELOAD.
//
//   ENDURANCE_FOLDER   only files under this folder are recorded and disturbed
//   ENDURANCE_LOG      a file that gets one record for each operation (see struct record)
//   ENDURANCE_CONTROL  a file with a struct control; it may change while the process runs
//
// One log serves several processes: each record is one write to a file that is open with O_APPEND, so the
// log has one order. The record of a write comes before the write, and the record of a sync comes in two
// parts. So a sync that begins after the record of a write covers that write, because SQLite and PostgreSQL
// write and sync a file under one lock. Two things are not recorded: writes to a memory map (the -shm file
// of SQLite), and system calls that do not go through the C library (the files that Bun's own code writes).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

// The rest is for the files of the shim only: a program may have functions of these names.
#pragma GCC visibility push(hidden)

// NULL without ENDURANCE_CONTROL.
extern struct control *control;

// Whether there is a log.
int is_recording(void);

// Whether a path is the folder or is in it.
int is_inside(const char *path);

// Appends a record to the log, if there is one.
void put(uint32_t type, uint64_t inode, uint64_t offset, int32_t result, const void *payload, size_t length);

// The inode of a regular file or a folder inside the folder; 0 for anything else.
uint64_t inode_of(int fd);

// Records that a file was opened for writing, if it is inside the folder.
void learn_open(int fd, int flags);

// Forgets an inode: its number may be given to a file outside the folder next.
void forget(uint64_t inode);

// Counts an operation that is failed, delayed or changed.
void count_hit(void);

// Sets errno and returns 1 if there is an error to make.
int fails(volatile int32_t *error);

#pragma GCC visibility pop

#define FAILS(kind, fd) (control && control->kind && inode_of(fd) && fails(&control->kind))

// The function of the C library that has the same name.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
