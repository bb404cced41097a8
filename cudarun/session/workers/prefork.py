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
from functools import partial

from cudarun.session.driver.visibility import count, narrow, preinitialize

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Callable, Iterable, Sequence

    from cudarun.session.workers.connection import Connection

_COMMAND = "launch"
_ALL = "all"
_EMULATED = "cpu"


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
    if not arguments or arguments[0] != _COMMAND:
        return
    from cudarun.session.workers.command_line import read

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
        _preinitialize(devices.split(","))
        from cudarun.session.workers.worker import serve

        serve(parent, partial(_import, devices, prefetch))

    return fork_worker(begin_worker)


def _preinitialize(devices: Sequence[str]) -> None:
    """Start the initialization of GPU drivers in the child, as the session will request it."""
    if all(device.isdecimal() for device in devices):
        narrow(tuple(map(int, devices)))
        preinitialize(context=len(devices) == 1)
    elif devices == [_ALL]:
        preinitialize(context=False)


def _groups(device: str, *, together: bool) -> list[str]:
    """Return the devices of each worker: ``all`` is the estimated number of GPUs."""
    items = [item.strip() for item in device.split(",")]
    if together:
        return [",".join(dict.fromkeys(items))]
    each: list[str] = []
    for item in items:
        each += map(str, range(count() or 0)) if item == _ALL else [item]
    return list(dict.fromkeys(each))


def _import(devices: str, prefetch: Callable[[], object]) -> None:
    """Import the modules in the child that can be imported before the first message."""
    from cudarun.session.driver.drivers import choose_driver
    from cudarun.session.driver.selection import parse_devices

    choose_driver(parse_devices(devices)[0].driver)
    prefetch()
