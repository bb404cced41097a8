"""``cudarun exec --debug``: the kernels of a program under the debugger, in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cudarun.commands.debug import FrontEndSession, Terminal
from cudarun.debugger import program_server
from cudarun.debugger.program_history import ProgramHistory
from cudarun.session.exec.parent import ProgramDebugger, execute
from cudarun.session.workers.snapshots import Copies

if TYPE_CHECKING:
    from cudarun.model.exec import ExecReport
    from cudarun.session.exec.request import ExecRequest


def execute_debugged(
    request: ExecRequest, prepare: Callable[[], None], commands: Sequence[str], form: str
) -> ExecReport | None:
    """Run a program whose kernels are debugged; return its report if it has ended.

    Args:
        prepare: Called while the servers start.
        commands: Files and texts of commands.
        form: The form of results: ``text`` or ``json``.
    """
    session = FrontEndSession(Terminal(commands, form).talk)
    has_ended = False
    with Copies() as copies:

        def run(is_running: Callable[[], bool], kill: Callable[[], None]) -> None:
            """Debug the program."""
            nonlocal has_ended
            history = ProgramHistory(copies, is_running, kill)
            session.run(history)
            has_ended = history.has_ended

        servers = ProgramDebugger(program_server.__name__, copies.address, run)
        report = execute(request, prepare, servers)
    if session.error is not None:
        raise session.error
    return report if has_ended else None
