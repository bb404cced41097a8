"""``python -m cudarun.debugger.program_server OPTIONS``: servers whose launches are debugged."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from cudarun.debugger.debugged_launch import DebuggedLaunch
from cudarun.session.driver.drivers import serve_program
from cudarun.session.workers.snapshots import ParentConnection

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import Controller, DebugObserver


def main(arguments: list[str]) -> None:
    """Serve the processes of a program as ``cudarun exec`` does."""
    address: str = json.loads(arguments[0])["debugger"]

    def control(
        start: Callable[[Controller], DebugObserver],
        lock: AbstractContextManager[object],
        isolate: Callable[[], None],
    ) -> Callable[..., None]:
        def connect() -> ParentConnection:
            # Without the debugger, the program goes on.
            last = "release", ()
            return ParentConnection(address, None, guard=lock, isolate=isolate, last=last)

        return partial(_execute, connect, start)

    serve_program(arguments, control)


def _execute(
    connect: Callable[[], ParentConnection],
    start: Callable[[Controller], DebugObserver],
    *arguments: Any,
    printf: Callable[[bytes], None],
    **options: Any,
) -> None:
    """Execute a launch that the debugger controls."""
    connection = connect()
    launch = DebuggedLaunch(connection, start, printf)
    try:
        launch.observer.execute(*arguments, printf=printf, **options)
    finally:
        launch.finished(None)
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1:])
