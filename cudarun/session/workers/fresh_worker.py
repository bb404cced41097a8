"""Workers with address spaces of their own: new interpreters, not forks.

The addresses of a fork are laid out as those of its parent; a new program gets others (address
space layout randomization, execve(2)).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cudarun.session.workers.connection import SIZE, Connection, Page, fork_worker
from cudarun.session.workers.free_addresses import keep_free
from cudarun.session.workers.worker import serve

_PACKAGE = Path(__file__).resolve().parents[3]
_NUMBERS = 5  # of the arguments before the addresses


def start_fresh(free: Sequence[tuple[int, int]] = ()) -> Connection:
    """Start a new interpreter that waits for its first message.

    Args:
        free: Addresses and sizes that its driver must not use for itself.
    """
    memory = os.memfd_create("cudarun-page")
    os.ftruncate(memory, SIZE)
    paths = (os.fspath(_PACKAGE), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    places = [f"{address:x}:{size:x}" for address, size in free]
    sys.stdout.flush()
    sys.stderr.flush()

    def execute(parent: Connection) -> None:
        inherited = (parent.tasks, parent.answers, parent.stdout, memory)
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        numbers = map(str, (*inherited, parent.process))
        command = [sys.executable, "-m", __name__, *numbers, *places]
        os.execve(sys.executable, command, environment)

    try:
        return fork_worker(execute, Page(memory))
    finally:
        os.close(memory)


def main(arguments: list[str]) -> None:
    """Serve tasks.

    Args:
        arguments: Descriptors, the parent's process ID, and addresses to hold.
    """
    tasks, answers, stdout, memory, parent = map(int, arguments[:_NUMBERS])
    places = (place.split(":") for place in arguments[_NUMBERS:])
    keep_free([(int(address, 16), int(size, 16)) for address, size in places])
    serve(Connection(parent, tasks, answers, stdout, Page(memory)), lambda: None)


if __name__ == "__main__":
    main(sys.argv[1:])
