"""The worker under compute-sanitizer: ``python -m cudarun.session.launch.sanitizer_worker``.

It runs the same task as a forked worker and writes the answer to a shared file. `sanitizer` starts
it with the paths of the request, the answer and the shared page.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, InternalError
from cudarun.session.launch.steps import load_libraries
from cudarun.session.load.request import JitOptions
from cudarun.session.workers import connection
from cudarun.session.workers.connection import Page
from cudarun.session.workers.job import SessionStart
from cudarun.session.workers.progress import Progress
from cudarun.session.workers.worker import Answer, die_with, receive, send

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchResult
    from cudarun.session.driver.contexts import Target
    from cudarun.session.launch.request import Program


def main(question: str, answer: str, memory: str) -> None:
    """Run the requested launch and write the answer.

    Args:
        question: The path of the request.
        answer: The path of the answer.
        memory: The path of the shared page.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    die_with(os.getppid())
    with open(question, "rb") as file:
        target, program = receive(file)
    with open(memory, "r+b") as file:
        connection.own_page = Page(file.fileno())
    progress = Progress(connection.own_page)
    result = _launch(target, program, progress)
    with open(answer, "wb") as file:
        send(file.fileno(), result)


def _launch(target: Target, program: Program, progress: Progress) -> Answer[LaunchResult]:
    label = str(target.devices[0])
    try:
        session = SessionStart(target.devices, target)(progress)
        [device] = session.devices
        label = device.label
        from cudarun.session.launch.worker import run_on

        progress.start_phase()
        # With the source lines of the PTX, if it has them: findings report them.
        libraries = load_libraries(session, program, JitOptions(line_info=True))
        session.enter(device)
        progress.start_phase()
        result = run_on(session, libraries, program, device)
        session.release()  # the sanitizer expects an orderly end
        return Answer(result, device=label)
    except CudarunError as error:
        return Answer(error=error.at(device=label), device=label)
    except Exception as error:
        return Answer(error=InternalError(error), device=label)


if __name__ == "__main__":
    main(*sys.argv[1:])
