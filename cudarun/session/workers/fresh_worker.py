"""Workers with address spaces of their own: new interpreters, not forks.

The addresses of a fork are laid out as those of its parent; a new program gets others (address
space layout randomization, execve(2)).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cudarun.session.workers.page import SIZE, Page
from cudarun.session.workers.prefork import Preforked
from cudarun.session.workers.worker import Channel, serve

_PACKAGE = Path(__file__).resolve().parents[3]
_ANY = ""


def start_fresh() -> Preforked:
    """Start a new interpreter that waits for its first message."""
    memory = os.memfd_create("cudarun-page")
    os.ftruncate(memory, SIZE)
    stdout = os.memfd_create("cudarun-stdout")
    tasks, answers = os.pipe(), os.pipe()
    inherited = (tasks[0], answers[1], stdout, memory)
    numbers = [*map(str, inherited), str(os.getpid())]
    paths = (os.fspath(_PACKAGE), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", __name__, *numbers]
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            for descriptor in inherited:
                os.set_inheritable(descriptor, True)
            os.execve(sys.executable, command, environment)
        finally:
            os._exit(1)
    page = Page(memory)
    for descriptor in (tasks[0], answers[1], memory):
        os.close(descriptor)
    return Preforked(_ANY, pid, tasks[1], answers[0], stdout, page)


def main(arguments: list[str]) -> None:
    """Serve tasks; the arguments are descriptors and the parent's process ID."""
    tasks, answers, stdout, memory, parent = map(int, arguments)
    serve(Channel(tasks, answers, stdout, Page(memory), parent), lambda: None)


if __name__ == "__main__":
    main(sys.argv[1:])
