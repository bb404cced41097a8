"""Signals at any call of a Python function of a launch, each case in a process of its own.

`tests.support.interrupted_command` sends Ctrl-C while a command starts.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

from tests.support.forked_processes import become
from tests.support.processes import PATIENCE, ROOT, of_session, wait_until
from tools.fuzz.fuzzer import Fuzzer, Unexpected

_CALLS = 60_000
"""More than a launch makes; a signal after its end is none."""

_NUMBERS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP}
_LAUNCH = (
    "launch", str(ROOT / "samples" / "saxpy.ptx"), "-d", "cpu", "--threads", "64",
    "a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:64", "--check", "y == 2*x + 1",
    "--save", "y=y.npy",
)  # fmt: skip
_TIME_TO_END = 60.0  # seconds after which a worker is one that the launch has left behind
_FULL = 64 * 4 + 128  # bytes of y.npy


class Signals(Fuzzer[tuple[str, ...]]):
    """A launch and up to two signals; a case is pairs of a signal's name and the call's number."""

    name = "signals"
    is_process = True

    def case(self, chance: random.Random) -> tuple[str, ...]:
        """Return one or two signals."""
        words: list[str] = []
        at = 0
        for _ in range(chance.choice((1, 1, 1, 2))):
            at += int(_CALLS ** chance.random())
            words.append(f"{chance.choice(('INT', 'INT', 'TERM', 'HUP'))} {at}")
        return tuple(words)

    def exit_code(self, case: tuple[str, ...]) -> int:
        """Run the launch; what it leaves must be whole, and its workers gone."""
        process = multiprocessing.get_context("forkserver").Process(
            target=_launch, args=(case, self.folder)
        )
        process.start()
        assert process.pid is not None
        session = process.pid
        process.join(PATIENCE)
        code = process.exitcode
        process.kill()
        err = (self.folder / "stderr").read_text()
        left = {
            path.name: path.stat().st_size
            for path in self.folder.iterdir()
            if path.name not in ("stdin", "stdout", "stderr")
        }
        for name in left:
            (self.folder / name).unlink()
        endings = {0, 130} | {-_NUMBERS[word.split()[0]] for word in case}
        if code not in endings:
            raise Unexpected(f"{err}\nexit code {code}")
        if "Traceback" in err or "Exception ignored" in err:
            raise Unexpected(err[-3000:])
        if left.get("y.npy", _FULL) != _FULL or left.keys() - {"y.npy"}:
            raise Unexpected(f"left {left}")
        with suppress(TimeoutError):
            wait_until(lambda: not of_session(session), "end of the workers", _TIME_TO_END)
        if workers := of_session(session):
            raise Unexpected(f"left processes {workers}")
        return 0


def _launch(case: tuple[str, ...], folder: Path) -> None:
    """In the new process, which leads a session: send the signals at calls, counted from here."""
    os.setsid()
    moments = [(int(at), _NUMBERS[name]) for name, at in map(str.split, case)]
    streams = [folder / name for name in ("stdin", "stdout", "stderr")]
    for stream in streams:
        stream.write_bytes(b"")
    pid, count = os.getpid(), 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event != "call" or os.getpid() != pid:
            return
        count += 1
        while moments and moments[0][0] <= count:
            os.kill(pid, moments.pop(0)[1])

    become(("cudarun", *_LAUNCH), folder, dict(os.environ), streams)
    from cudarun.__main__ import main

    sys.setprofile(profile)
    main()
