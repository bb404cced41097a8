"""Send SIGINT at many moments of one command, each to a process of its own.

``python interrupted_command.py EVENTS MOMENTS REPORT ARGUMENT…`` runs ``cudarun ARGUMENT…``. From
the first instruction of `cudarun.__main__` on it counts audit events of imports (``imports``) or
calls of Python functions (``calls``), and forks at the given numbers: the child gets the signal and
goes on. REPORT gets a line for each child, the ``repr`` of a tuple, and last the number of events.

A command that starts no process fits best. It imports nothing that a shell's command would not
import before that instruction.
"""

import os
import sys


class _Moments:
    """The events so far, and those at which a signal is sent."""

    def __init__(self, events: str, moments: set[int], report: int) -> None:
        self.events = events
        self.moments = moments
        self.report = report
        self.pid = os.getpid()
        self.count = -1

    def write(self, line: object) -> None:
        os.write(self.report, f"{line!r}\n".encode())

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.count < 0:
            name = getattr(arguments[0], "co_filename", "") if event == "exec" else ""
            if not name.endswith("cudarun/__main__.py"):
                return
            self.count = 0
            if self.events == "calls":
                sys.setprofile(self.profile)
        if self.events == "imports" and event in ("import", "exec", "open", "compile"):
            self.next(f"{event} {str(arguments[0])[:100]}")

    def profile(self, frame: object, event: str, _: object) -> None:
        code = getattr(frame, "f_code", None)
        if getattr(code, "co_qualname", "") == "EndingSignals.leave":  # the command has ended
            sys.setprofile(None)
        elif event == "call":
            self.next(code)

    def next(self, where: object) -> None:
        if os.getpid() != self.pid:
            return
        self.count += 1
        if self.count not in self.moments:
            return
        streams = [os.memfd_create("stdout"), os.memfd_create("stderr")]
        pid = os.fork()
        if pid == 0:
            for number, stream in enumerate(streams, 1):
                os.dup2(stream, number)
            sys.setprofile(None)
            os.kill(os.getpid(), 2)
            return
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out, err = (os.pread(stream, 1 << 16, 0) for stream in streams)
        self.write((self.count, str(where), status, out, err))
        for stream in streams:
            os.close(stream)


def _main() -> None:
    events, moments, report, *arguments = sys.argv[1:]
    numbers = set(map(int, moments.split(",")))
    found = _Moments(events, numbers, os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    leave = os._exit

    def note_the_end(code: int) -> None:
        if os.getpid() == found.pid:
            found.write(found.count)
        leave(code)

    os._exit = note_the_end  # type: ignore[assignment]
    sys.argv = ["cudarun", *arguments]
    sys.addaudithook(found.audit)

    from cudarun.__main__ import main

    main()


if __name__ == "__main__":
    _main()
