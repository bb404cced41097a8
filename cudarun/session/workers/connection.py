"""The connection of a worker with its parent, made by a fork.

Only the imports that a fork needs are made here.
"""

from __future__ import annotations

import os

from cudarun.session.workers.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Callable


class Connection:
    """One end of a connection.

    Args:
        process: The process at the other end.
        tasks: The descriptor of a pipe, for tasks.
        answers: The descriptor of a pipe, for answers.
        stdout: The descriptor of a file that the worker's stdout can go to.
        page: The page that both processes share.
    """

    __slots__ = ("answers", "page", "process", "stdout", "tasks")

    def __init__(self, process: int, tasks: int, answers: int, stdout: int, page: Page) -> None:
        self.process = process
        self.tasks = tasks
        self.answers = answers
        self.stdout = stdout
        self.page = page

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (self.tasks, self.answers, self.stdout):
            os.close(descriptor)


def fork_worker(serve: Callable[[Connection], object], page: Page | None = None) -> Connection:
    """Fork a process and return the parent's end of the connection with it.

    Args:
        serve: Called in the process with its end; it does not return.
        page: The page to share.

    Raises:
        OSError: The operating system refuses a process or descriptors.
    """
    page = page or Page()
    opened: list[int] = []
    try:
        opened.append(os.memfd_create("cudarun-stdout"))
        opened += os.pipe()
        opened += os.pipe()
        parent = os.getpid()
        pid = os.fork()
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    stdout, received_tasks, tasks, answers, sent_answers = opened
    if pid == 0:
        try:
            os.close(tasks)
            os.close(answers)
            serve(Connection(parent, received_tasks, sent_answers, stdout, page))
        finally:
            os._exit(1)
    os.close(received_tasks)
    os.close(sent_answers)
    return Connection(pid, tasks, answers, stdout, page)
