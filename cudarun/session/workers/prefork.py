"""The workers of a launch, begun before the command line is parsed.

A launch takes 0.4 s in all. Until click is imported and has parsed, 0.05 s of them are gone, and a
worker that begins then has to import the bindings and numpy while its driver initialises, which
takes as long. So the entry point forks them first thing: each imports, and initialises the driver
for the devices that the arguments seem to name. What they are to do they are told when that is
known; where the guess was wrong, others take their place.

Only what a fork needs is imported here.
"""

from __future__ import annotations

import mmap
import os
import signal
from functools import partial

from cudarun.session.driver.visibility import count, narrow, wake

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Sequence

    from cudarun.session.driver.selection import Selector

PAGE = 4096
"""Bytes that a worker tells its progress in."""

_COMMAND = "launch"
_ALL = "all"
_WITHOUT = {
    *("-h", "--help", "--dry-run", "--spec", "--trace", "--sanitize"),
    *("--context", "--ctx-flags"),
}
"""Options with which no worker is needed, or another kind of it."""


class Begun:
    """A process that waits to be told what for.

    Attributes:
        devices: Those that it was begun for, as they are written, joined by commas.
        pid: Its number.
        tasks: The descriptor that its tasks are written to.
        answers: The descriptor that its answers are read from.
        stdout: The descriptor of a file that its stdout can go to.
        page: Memory that it shares with this process.
    """

    def __init__(
        self, devices: str, pid: int, tasks: int, answers: int, stdout: int, page: mmap.mmap
    ) -> None:
        self.devices = devices
        self.pid = pid
        self.tasks = tasks
        self.answers = answers
        self.stdout = stdout
        self.page = page

    def end(self) -> None:
        """Kill it: it was not needed."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for descriptor in (self.tasks, self.answers, self.stdout):
            os.close(descriptor)


_begun: list[Begun] = []


def begin(arguments: Sequence[str]) -> None:
    """Fork, if the arguments are those of a launch; the children do not return."""
    given = {argument.partition("=")[0] for argument in arguments}
    if not arguments or arguments[0] != _COMMAND or given & _WITHOUT:
        return
    for devices in _groups(_device(arguments), together="--together" in given):
        _begun.append(_fork(devices))


def take(groups: Sequence[Sequence[Selector]]) -> list[Begun | None]:
    """For each group of devices the process that was begun for it, once; the others are ended."""
    begun = {each.devices: each for each in _begun}
    _begun.clear()
    taken = [begun.pop(",".join(map(str, selectors)), None) for selectors in groups]
    for each in begun.values():
        each.end()
    return taken


def _fork(devices: str) -> Begun:
    page = mmap.mmap(-1, PAGE)
    stdout = os.memfd_create("cudarun-stdout")
    tasks, answers = os.pipe(), os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and kills us
        _wake(devices.split(","))
        os.close(tasks[1])
        os.close(answers[0])
        from cudarun.session.workers.worker import wait_for_tasks

        wait_for_tasks(partial(_import, devices, page), tasks[0], answers[1], parent, stdout)
    os.close(tasks[0])
    os.close(answers[1])
    return Begun(devices, pid, tasks[1], answers[0], stdout, page)


def _wake(devices: Sequence[str]) -> None:
    """In the child: have the driver of GPUs initialise, as the session will ask of it."""
    if all(device.isdecimal() for device in devices):
        narrow(tuple(map(int, devices)))
        wake(context=len(devices) == 1)
    elif devices == [_ALL]:
        wake(context=False)


def _groups(device: str, *, together: bool) -> list[str]:
    """The devices of each worker: ``all`` are as many GPUs as there seem to be."""
    items = [item.strip() for item in device.split(",")]
    if together:
        return [",".join(dict.fromkeys(items))]
    each: list[str] = []
    for item in items:
        each += map(str, range(count() or 0)) if item == _ALL else [item]
    return list(dict.fromkeys(each))


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


def _import(devices: str, page: mmap.mmap) -> None:
    """In the child: what else can be done before it is told what for."""
    from cudarun.session.driver.drivers import choose_driver
    from cudarun.session.driver.selection import parse_devices
    from cudarun.session.launch.parent import prefetch
    from cudarun.session.workers import progress

    progress.inherited = page
    choose_driver(parse_devices(devices)[0].driver)
    prefetch()
