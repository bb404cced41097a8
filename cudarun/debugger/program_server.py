"""``python -m cudarun.debugger.program_server ADDRESS``: servers whose launches are debugged."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from cudarun.debugger.debugged_launch import DebuggedLaunch
from cudarun.session.driver.drivers import serve_program
from cudarun.session.workers.snapshots import ParentConnection

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import Controller, DebugObserver


def main(address: str) -> None:
    """Serve the processes of a program as ``cudarun exec`` does."""

    def control(
        start: Callable[[Controller], DebugObserver],
        lock: AbstractContextManager[object],
        isolate: Callable[[], None],
    ) -> Callable[..., None]:
        def execute(*given: Any, printf: Callable[[bytes], None], **options: Any) -> None:
            last = "release", ()  # without the debugger, the program goes on
            connection = ParentConnection(address, None, guard=lock, isolate=isolate, last=last)
            launch = DebuggedLaunch(connection, start, printf)
            try:
                launch.observer.execute(*given, printf=printf, **options)
            finally:
                launch.finished(None)
                connection.close()

        return execute

    serve_program(control)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
