"""Runs a command under a filter of system calls, as systemd does: SYSCALLS FAMILIES COMMAND...

SYSCALLS are the allowed calls, FAMILIES the allowed families of sockets, separated by commas. Others fail with EPERM.
https://man7.org/linux/man-pages/man3/seccomp_rule_add.3.html
"""

import ctypes, errno, os, socket, sys

ALLOW, ERRNO, EQUAL = 0x7FFF0000, 0x00050000, 4


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


syscalls, families, *command = sys.argv[1:]
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(ERRNO | errno.EPERM))
for name in syscalls.split(","):
    number = library.seccomp_syscall_resolve_name(name.encode())
    sockets = [Comparison(0, EQUAL, getattr(socket, family), 0) for family in families.split(",")]
    for rule in [[one] for one in sockets] if name == "socket" else [[]]:
        values = (Comparison * len(rule))(*rule)
        assert number < 0 or library.seccomp_rule_add_exact_array(context, ALLOW, number, len(rule), values) == 0, name
assert library.seccomp_load(context) == 0
os.execvp(command[0], command)
