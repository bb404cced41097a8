"""The worker under compute-sanitizer: ``python -m cudarun.session.launch.sanitizer_worker``.

It runs the same task as a forked worker and writes the answer to a shared file. `sanitizer` starts
it with the paths of the request, the answer and the shared page.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from cudarun.session.launch.parent import LaunchJob
from cudarun.session.load.request import JitOptions
from cudarun.session.workers import connection
from cudarun.session.workers.connection import Page
from cudarun.session.workers.job import JobTask, SessionStart
from cudarun.session.workers.progress import Progress
from cudarun.session.workers.worker import Answer, attempt, die_with, receive, send

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
        target, program = receive(file.read)
    with open(memory, "r+b") as file:
        connection.own_page = Page(file.fileno())
    launch = partial(_launch, target, program, Progress(connection.own_page))
    with open(answer, "wb") as file:
        send(file.fileno(), attempt(launch))


def _launch(target: Target, program: Program, progress: Progress) -> list[Answer[LaunchResult]]:
    session = SessionStart(target.devices, target)(progress)
    progress.start_phase()
    # With the source lines of the PTX, if it has them: findings report them.
    job = LaunchJob(program, jit=JitOptions(line_info=True))
    return JobTask(job, reuse=True)(session)  # released, as the sanitizer expects an orderly end


if __name__ == "__main__":
    main(*sys.argv[1:])
