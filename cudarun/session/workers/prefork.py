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

    from cudarun.session.workers.page import Page

_COMMAND = "launch"
_ALL = "all"


class Preforked:
    """A process that waits for its first message.

    Attributes:
        devices: The devices that it was forked for, as written, joined by commas.
        pid: Its process ID.
        tasks: The descriptor that its tasks are written to.
        answers: The descriptor that its answers are read from.
        stdout: The descriptor of a file that its stdout can go to.
        page: The page that it shares with this process.
    """

    def __init__(
        self, devices: str, pid: int, tasks: int, answers: int, stdout: int, page: Page
    ) -> None:
        self.devices = devices
        self.pid = pid
        self.tasks = tasks
        self.answers = answers
        self.stdout = stdout
        self.page = page

    def end(self) -> None:
        """Kill the process, which is not needed."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for descriptor in (self.tasks, self.answers, self.stdout):
            os.close(descriptor)


_waiting: list[Preforked] = []


def begin(arguments: Sequence[str], prefetch: Callable[[], object]) -> None:
    """Fork, if the arguments are those of a launch; the children do not return.

    Args:
        arguments: The command line without the program.
        prefetch: Imports what a launch needs, in each child.
    """
    if not arguments or arguments[0] != _COMMAND:
        return
    from cudarun.session.workers.command_line import read

    start = read(arguments, os.environ)
    if start is not None:
        # Without it the workers start later, and report what the operating system refuses.
        with suppress(OSError):
            for devices in _groups(start.devices, together=start.together):
                _waiting.append(_fork(devices, prefetch))


def take(devices: Iterable[str]) -> list[Preforked | None]:
    """For each group of devices return the process forked for it, once; end the others."""
    waiting = {process.devices: process for process in _waiting}
    _waiting.clear()
    taken = [waiting.pop(group, None) for group in devices]
    for process in waiting.values():
        process.end()
    return taken


def _fork(devices: str, prefetch: Callable[[], object]) -> Preforked:
    from cudarun.session.workers.page import Page

    page = Page()
    opened: list[int] = []
    try:
        opened.append(os.memfd_create("cudarun-stdout"))
        for _ in ("tasks", "answers"):
            opened += os.pipe()
        parent = os.getpid()
        pid = os.fork()
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    stdout, *ends = opened
    tasks, answers = ends[:2], ends[2:]
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills it
        _preinitialize(devices.split(","))
        os.close(tasks[1])
        os.close(answers[0])
        from cudarun.session.workers.worker import Channel, serve

        channel = Channel(tasks[0], answers[1], stdout, page, parent)
        serve(channel, partial(_import, devices, prefetch))
    os.close(tasks[0])
    os.close(answers[1])
    return Preforked(devices, pid, tasks[1], answers[0], stdout, page)


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
