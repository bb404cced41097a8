"""The confinement of a submission: its own folder and network, without the files of others."""

from __future__ import annotations

import ctypes
import glob
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cudarun.base.records import dataclass
from cudarun.session.compile import landlock
from cudarun.session.judge import system_calls
from cudarun.session.workers.line_program import LineProgram

# linux/sched.h, linux/mount.h
_NEW_NETWORK, _NEW_USER, _NEW_MOUNTS = 0x40000000, 0x10000000, 0x00020000
_NO_SET_USER, _NO_DEVICES, _ALL_PRIVATE = 2, 4, 0x44000
_SYSTEM = ("/bin", "/etc", "/lib", "/lib64", "/opt", "/sbin", "/sys", "/usr")
_DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "dxg")
"""The files of ``/dev`` that CUDA and Python use: no disks, and no memory that others share."""
_SHARED_MEMORY = "/dev/shm"  # shm_overview(7): the locks of multiprocessing are there
_MOST_FILE = 4 << 30


@dataclass(frozen=True, slots=True)
class SubmissionConfinement:
    """The limits of a program, for `SupervisedProgram.prepare`."""

    readable: tuple[str, ...]  # the folders that it can read beside those of the system
    shared: tuple[str, ...]  # the folders whose files it can also write
    own: tuple[str, ...]  # the folders in which it can do everything
    # It stays in the network, by which CUDA shares device memory (cuIpc).
    shares_network: bool = False

    def __call__(self) -> None:
        """Confine this process, as far as the kernel allows it."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE, _MOST_FILE))
        if not self.shares_network:
            _enter_new(_NEW_NETWORK)
        mount = ctypes.CDLL(None).mount
        in_memory = ctypes.c_ulong(_NO_SET_USER | _NO_DEVICES)
        # An empty one that only this process and its children see, if that is possible.
        has_memory = (
            _enter_new(_NEW_MOUNTS)
            and mount(None, b"/", None, ctypes.c_ulong(_ALL_PRIVATE), None) == 0
            and mount(b"tmpfs", _SHARED_MEMORY.encode(), b"tmpfs", in_memory, b"size=1g") == 0
        )
        memory = [_SHARED_MEMORY] if has_memory else []
        system_calls.restrict_program()
        # Its own process, whose threads CUDA names, but no other one: a command line can have the
        # seed.
        of_kernel = (each.path for each in os.scandir("/proc") if not each.name.isdigit())
        folders = filter(os.path.isdir, dict.fromkeys((*_SYSTEM, *self.readable)))
        devices = (path for name in _DEVICES for path in glob.glob(f"/dev/{name}"))
        landlock.restrict_program(
            (*folders, *of_kernel),
            (*devices, *self.shared),
            (*self.own, *memory, "/proc/self"),
            keeps_sockets=self.shares_network,
        )


def confinement_notes(program: LineProgram) -> Iterator[str]:
    """Yield what the kernel does not allow, of a program that has started."""
    if not landlock.version():
        yield "the submission could read other files: the kernel has no Landlock"
    if not program.has_own_filter:
        yield "the submission could compute while others have the clock: the kernel has no seccomp"
    if not program.has_own("net"):
        yield "the submission was in the network of this machine: no other one is possible"
    if not program.has_own("mnt"):
        yield "the submission could not use multiprocessing: no other /dev/shm is possible"


def _enter_new(namespace: int) -> bool:
    """Enter a new namespace, in a new user namespace if that is necessary, and if it is possible.

    A new network has no interfaces.
    """
    library = ctypes.CDLL(None)
    if library.unshare(namespace) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if library.unshare(namespace | _NEW_USER) != 0:
        return False
    with suppress(PermissionError):  # by AppArmor; then the user has no number, but its rights
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True
