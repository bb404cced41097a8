"""Workers of a launch, forked before the command line is parsed.

A launch takes 0.4 s in total, of which importing click and parsing take 0.05 s. A worker that
starts only then has to import the bindings and numpy while its driver initializes, which takes as
long. So the entry point forks the workers first: each imports, and initializes the driver for the
devices that the arguments seem to name. Their task is sent when it is known. If the guess was
wrong, other workers are used.

Only the imports that a fork needs are made here.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from cudarun.session.driver.visibility import count, narrow, preinitialize

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cudarun.session.workers.connection import Connection

_ALL = "all"
_EMULATED = "cpu"
_THEN = "--then"
DEVICE_VARIABLE = "CUDARUN_DEVICE"
_DEFAULT_DEVICE = "0"
_FLAGS = "qv"  # the letters of flags, before which that of the device can be
WITHOUT_WORKER = {
    *("--context", "--ctx-flags", "--dry-run", "--sanitize", "--spec", "--trace"),
    *("--help", "--help-all", "-h"),
}
"""The options with which no worker is needed, or another kind of worker."""

_waiting: dict[str, Connection] = {}
"""The processes that wait for a message, by their devices as they are written, with commas."""


def begin(
    arguments: Sequence[str], prefetch: Callable[[], object], share: Callable[[], object]
) -> None:
    """Fork, if the arguments are those of a launch; the children do not return.

    Args:
        arguments: The command line without the program.
        prefetch: Imports what a launch needs, in each child.
        share: Imports what this process needs, too, before workers of emulated devices are forked.
            Those of GPUs initialize their drivers meanwhile.
    """
    start = read(arguments, os.environ)
    if start is not None:
        named, together = start
        # Without it the workers start later, and report what the operating system refuses.
        with suppress(OSError):
            if all(item.strip().startswith(_EMULATED) for item in named.split(",")):
                share()
            for devices in _groups(named, together=together):
                _waiting[devices] = _fork(devices, prefetch)


def take(devices: Iterable[str]) -> list[Connection | None]:
    """For each group of devices return the process forked for it, once; end the others."""
    taken = [_waiting.pop(group, None) for group in devices]
    while _waiting:
        _, worker = _waiting.popitem()
        os.kill(worker.process, signal.SIGKILL)
        os.waitpid(worker.process, 0)
        worker.close()
    return taken


def _fork(devices: str, prefetch: Callable[[], object]) -> Connection:
    from cudarun.session.workers.connection import fork_worker

    def begin_worker(parent: Connection) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills it
        # The initialization of GPU drivers starts here, as the session will request it.
        each = devices.split(",")
        if all(device.isdecimal() for device in each):
            narrow(tuple(map(int, each)))
            preinitialize(context=len(each) == 1)
        elif each == [_ALL]:
            preinitialize(context=False)
        from cudarun.session.workers.worker import serve

        serve(parent, prepare)

    def prepare() -> None:
        """Import the modules that can be imported before the first message."""
        from cudarun.session.driver.drivers import choose_driver
        from cudarun.session.driver.selection import parse_devices

        first = parse_devices(devices)[0]
        choose_driver(first.driver, first.profile)
        prefetch()

    return fork_worker(begin_worker)


def _groups(device: str, *, together: bool) -> list[str]:
    """Return the devices of each worker: ``all`` is the estimated number of GPUs."""
    items = [item.strip() for item in device.split(",")]
    if together:
        return [",".join(dict.fromkeys(items))]
    each: list[str] = []
    for item in items:
        each += map(str, range(count() or 0)) if item == _ALL else [item]
    return list(dict.fromkeys(each))


def read(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, bool] | None:
    """Return the devices that a launch seems to name, and whether one worker serves them all.

    It is a guess: the value of an option, or an option that click refuses, is not told from others.

    Returns:
        ``None`` for other commands, and where no worker or another kind of worker is needed.
    """
    if not arguments or arguments[0] != "launch":
        return None
    devices, together = environ.get(DEVICE_VARIABLE) or _DEFAULT_DEVICE, False
    words = iter(arguments[1:])
    for word in words:
        name, equals, value = word.partition("=")
        if name in WITHOUT_WORKER:
            return None
        if word == "--":  # arguments follow, up to the next step
            next((each for each in words if each == _THEN), None)
        elif name == "--device":
            devices = value if equals else next(words, devices)
        elif word[:1] == "-" and (short := word[1:].lstrip(_FLAGS))[:1] == "d":
            devices = short[1:] or next(words, devices)
        together = together or word == "--together"
    return devices, together
