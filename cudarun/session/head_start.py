"""The worker of a launch, begun before the command line is parsed.

A launch takes 0.4 s in all. Until click is imported and has parsed, 0.05 s of them are gone, and a
worker that begins then has to import the bindings and numpy while its driver initialises, which
takes as long. So the entry point forks one first thing: it imports, and initialises the driver for
the device that the arguments seem to name. What it is to do it is told when that is known; where
the guess was wrong, another takes its place.

Only what a fork needs is imported here.
"""

from __future__ import annotations

import mmap
import os
import signal
from functools import partial

from cudarun.session.visibility import narrow, wake

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Sequence

    from cudarun.session.selection import Selector

PAGE = 4096
"""Bytes that a worker tells its progress in."""

_COMMAND = "launch"
_WITHOUT = {
    *("-h", "--help", "--dry-run", "--spec", "--trace", "--together", "--sanitize"),
    *("--context", "--ctx-flags"),
}
"""Options with which no worker is needed, or another kind of it."""


class Begun:
    """A process that waits to be told what for.

    Attributes:
        device: The text of ``--device`` that it was begun for.
        pid: Its number.
        tasks: The descriptor that its tasks are written to.
        answers: The descriptor that its answers are read from.
        stdout: The descriptor of a file that its stdout can go to.
        page: Memory that it shares with this process.
    """

    def __init__(
        self, device: str, pid: int, tasks: int, answers: int, stdout: int, page: mmap.mmap
    ) -> None:
        self.device = device
        self.pid = pid
        self.tasks = tasks
        self.answers = answers
        self.stdout = stdout
        self.page = page

    def end(self) -> None:
        """Kill it: it was not needed."""
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        for descriptor in (self.tasks, self.answers, self.stdout):
            os.close(descriptor)


_begun: Begun | None = None


def begin(arguments: Sequence[str]) -> None:
    """Fork, if the arguments are those of a launch; the child does not return."""
    global _begun
    if not arguments or arguments[0] != _COMMAND:
        return
    if any(argument.partition("=")[0] in _WITHOUT for argument in arguments):
        return
    device = _device(arguments)
    page = mmap.mmap(-1, PAGE)
    stdout = os.memfd_create("cudarun-stdout")
    tasks, answers = os.pipe(), os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        if device.isdecimal():
            narrow((int(device),))
            wake(context=True)
        os.close(tasks[1])
        os.close(answers[0])
        from cudarun.session.serving import wait_for_tasks

        wait_for_tasks(partial(_import, device, page), tasks[0], answers[1], parent, stdout)
    os.close(tasks[0])
    os.close(answers[1])
    _begun = Begun(device, pid, tasks[1], answers[0], stdout, page)


def take(selectors: Sequence[Selector]) -> Begun | None:
    """The process that was begun, if it was for these devices; it is handed out once."""
    global _begun
    begun, _begun = _begun, None
    if begun is not None and begun.device != ",".join(map(str, selectors)):
        begun.end()
        return None
    return begun


def _device(arguments: Sequence[str]) -> str:
    """What ``--device`` seems to be."""
    device = os.environ.get("CUDARUN_DEVICE") or "0"
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument in ("-d", "--device"):
            device = following
        elif argument.startswith("--device="):
            device = argument.removeprefix("--device=")
        elif argument.startswith("-d") and not argument.startswith("--"):
            device = argument.removeprefix("-d")
    return device


def _import(device: str, page: mmap.mmap) -> None:
    """In the child: what else can be done before it is told what for."""
    from cudarun.session import progress
    from cudarun.session.drivers import choose_driver
    from cudarun.session.launching import prefetch
    from cudarun.session.selection import parse_devices

    progress.inherited = page
    choose_driver(parse_devices(device)[0].driver)
    prefetch()
