"""A process gives up what a hand-in has no use for, before the hand-in is read.

On Linux two parts of the kernel take it away for good: Landlock the writing of files, and a seccomp
filter (by way of libseccomp) sockets, new processes and signals to others. Neither needs an
administrator, and both also bind one. Elsewhere only time and memory are limited, from outside.
"""

import ctypes
import errno
import os
import sys
from contextlib import suppress
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_uint,
    c_uint32,
    c_uint64,
    c_ulong,
    c_void_p,
)

KINDS = {  # what can be contained: what it means if it isn't
    "files": "it can change or delete your files",
    "network": "it can reach the network",
    "processes": "it can start programs that outlive it",
}

# ---------------------------------------------------------------------------------------- Landlock

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every processor
VERSION, PATH_BENEATH = 1, 1
SET_NO_NEW_PRIVILEGES = 38
WRITE_FILE = 1 << 1
# Write, remove and make files of each kind; move and truncate them, where the kernel knows of it.
WRITING = {1: WRITE_FILE | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: 1 << 14}


class Ruleset(Structure):
    _fields_ = [("handled_access_fs", c_uint64)]


class PathBeneath(Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", c_uint64), ("parent_fd", c_int)]


def write_nowhere(libc: ctypes.CDLL) -> None:
    """Let this process write no file from here on, /dev/null excepted.

    Raises: OSError if the kernel has no Landlock.
    """
    libc.syscall.restype = ctypes.c_long
    version = _done(libc.syscall(CREATE_RULESET, None, c_uint64(0), VERSION))
    handled = sum(rights for since, rights in WRITING.items() if since <= version)
    ruleset = Ruleset(handled)
    rules = _done(libc.syscall(CREATE_RULESET, ctypes.byref(ruleset), c_uint64(8), 0))
    null = os.open(os.devnull, os.O_PATH | os.O_CLOEXEC)
    rule = PathBeneath(WRITE_FILE, null)
    _done(libc.syscall(ADD_RULE, rules, PATH_BENEATH, ctypes.byref(rule), 0))
    _done(libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(null)
    os.close(rules)


# ----------------------------------------------------------------------------------------- seccomp

ALLOW = 0x7FFF0000
REFUSE, ABSENT = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
NOT_EQUAL, MASKED_EQUAL = 1, 7
CLONE_THREAD = 0x00010000

NETWORK = "socket io_uring_setup"
# A process of its own; memory that stays when it ends, or that its limit doesn't count.
PROCESSES = "fork vfork memfd_create shmget msgget semget mq_open"
OTHERS = "tkill pidfd_open pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo ptrace unshare setns"
OTHERS += " process_vm_readv process_vm_writev keyctl add_key bpf perf_event_open userfaultfd"
FILES = "truncate chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes"
FILES += " utimensat futimesat setxattr lsetxattr fsetxattr setxattrat mount"
FILES += " removexattr lremovexattr fremovexattr removexattrat file_setattr"


class Compare(Structure):
    _fields_ = [("arg", c_uint), ("op", c_int), ("a", c_uint64), ("b", c_uint64)]


def call_nobody() -> None:
    """Refuse this process, for good, all calls that reach beyond it; threads stay allowed.

    Raises: OSError if there is no libseccomp, or the kernel refuses the filter.
    """
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = c_void_p
    library.seccomp_init.argtypes = [c_uint32]
    library.seccomp_load.argtypes = [c_void_p]
    library.seccomp_syscall_resolve_name.argtypes = [c_char_p]
    library.seccomp_rule_add_array.argtypes = [c_void_p, c_uint32, c_int, c_uint, POINTER(Compare)]
    rules = library.seccomp_init(ALLOW)

    def add(action: int, name: str, *conditions: Compare) -> None:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # this processor has it
            given = (Compare * len(conditions))(*conditions)
            code = library.seccomp_rule_add_array(rules, action, number, len(conditions), given)
            _done(-1 if code else 0, -code)

    for name in " ".join((NETWORK, PROCESSES, OTHERS, FILES)).split():
        add(REFUSE, name)
    add(REFUSE, "clone", Compare(0, MASKED_EQUAL, CLONE_THREAD, 0))
    add(ABSENT, "clone3")  # its flags are out of a filter's reach: the C library takes clone then
    for name in ("kill", "tgkill"):
        add(REFUSE, name, Compare(0, NOT_EQUAL, os.getpid()))
    add(REFUSE, "prlimit64", Compare(0, NOT_EQUAL, 0))
    code = library.seccomp_load(rules)
    _done(-1 if code else 0, -code)


# ---------------------------------------------------------------------------------------- together


class Header(Structure):
    _fields_ = [("version", c_uint32), ("pid", c_int)]


def contain() -> list[str]:
    """Contain this process, which must have one thread only; say which of KINDS are."""
    if not sys.platform.startswith("linux"):
        return []
    libc = ctypes.CDLL(None, use_errno=True)
    libc.capset(ctypes.byref(Header(0x20080522, 0)), (c_uint32 * 6)())  # an administrator's powers
    held = []
    with suppress(OSError):
        _done(libc.prctl(SET_NO_NEW_PRIVILEGES, *map(c_ulong, (1, 0, 0, 0))))
        with suppress(OSError):
            write_nowhere(libc)
            held.append("files")
        call_nobody()
        return [*held, "network", "processes"]
    return []  # without the filter, files can still be made unreadable


def limit_memory(more: int) -> None:
    """Let this process take `more` bytes of addresses beyond those it has; Linux only."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + more,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _done(result: int, code: int = 0) -> int:
    if result < 0:
        raise OSError(code or ctypes.get_errno(), "the kernel refuses to contain this process")
    return result
