"""Calls that can open a few files only: Landlock (landlock(7), Linux 5.13), for one thread.

A compiler decides itself what it includes, so no check of the source in front of it is complete.
The kernel resolves links before it compares a file with the folders.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from cudarun.base.errors import RequestError

T = TypeVar("T")

# linux/landlock.h, linux/prctl.h; the numbers of the system calls are those of all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ALL_RIGHTS = (1 << 13) - 1  # on files, of the first version: others need one of these
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # of the versions 2 and 3
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


def call_confined(call: Callable[[], T], folder: str | None, trusted: Iterable[str] = ()) -> T:
    """Make a call that opens no file outside a folder, and in it only for reading.

    Args:
        call: The call. Threads that it starts are confined, too; files that are open are not.
        folder: The folder; ``None`` for a call that may open every file.
        trusted: Further files and folders that it can read.
    """
    if folder is None:
        return call()
    from concurrent.futures import ThreadPoolExecutor  # only with --confine

    def confined() -> T:
        _enter(struct.pack("=Q", _ALL_RIGHTS), dict.fromkeys((folder, *trusted), _READ_FILE))
        return call()

    with ThreadPoolExecutor(1, "confined") as thread:  # a thread never loses its restrictions
        return thread.submit(confined).result()


def version() -> int:
    """Return the version of the kernel's Landlock; 0 without."""
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION)))


def restrict_program(
    readable: Iterable[str],
    shared: Iterable[str],
    own: Iterable[str],
    *,
    keeps_sockets: bool = False,
) -> None:
    """Restrict this process and its children for good; without Landlock nothing happens.

    They read files and run programs of some folders, connect to no TCP port, and send signals only
    to each other.

    Args:
        readable: The folders.
        shared: Folders whose files they also write, but not truncate; or files.
        own: Folders in which they can do everything.
        keeps_sockets: They can connect to abstract sockets of other processes.

    Raises:
        RequestError: The kernel refuses it.
    """
    known = version()
    if not known:
        return
    every = _ALL_RIGHTS | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)
    network = 0b11 if known >= 4 else 0  # bind, connect
    scopes = (0b10 if keeps_sockets else 0b11) if known >= 6 else 0  # abstract sockets, signals
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    attributes = struct.pack("=QQQ", every, network, scopes)[:size]
    look = _EXECUTE | _READ_FILE | _READ_DIRECTORY
    folders = dict.fromkeys(readable, look)
    folders |= dict.fromkeys(shared, look | _WRITE_FILE)
    folders |= dict.fromkeys(own, every)
    of_file = ~_READ_DIRECTORY  # the kernel refuses rights that only folders have
    _enter(
        attributes,
        {path: each if os.path.isdir(path) else each & of_file for path, each in folders.items()},
    )


def _enter(attributes: bytes, rights: Mapping[str, int]) -> None:
    """Restrict the current thread to the rights on files below some paths."""
    library = ctypes.CDLL(None, use_errno=True)

    def system(function: Callable[..., int], *words: bytes | int) -> int:
        result = function(*(ctypes.c_long(w) if isinstance(w, int) else w for w in words))
        if result < 0:
            raise RequestError(
                "--confine compiles CUDA source only where Linux has Landlock (5.13), "
                f"which cannot be used here: {os.strerror(ctypes.get_errno())}",
                hint="compile the source to PTX where it is trusted",
            )
        return result

    ruleset = system(library.syscall, _CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path, allowed in rights.items():
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = struct.pack("=Qi", allowed, descriptor)
                system(library.syscall, _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
            finally:
                os.close(descriptor)
        system(library.prctl, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        system(library.syscall, _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
