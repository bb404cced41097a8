"""``cudarun exec --debug``: the kernels of a program under the debugger, in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError
from cudarun.commands.debug import Terminal, pausing
from cudarun.debugger import program_server
from cudarun.debugger.debugger import Debugger
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
        request: The program.
        prepare: Called while the servers start.
        commands: Files and texts of commands.
        form: The form of results: ``text`` or ``json``.
    """
    terminal = Terminal(commands, form)
    errors: list[CudarunError] = []
    has_ended = False
    with Copies() as copies:

        def run(is_running: Callable[[], bool]) -> bool:
            """Debug the program; return false to kill it."""
            nonlocal has_ended
            history = ProgramHistory(copies, is_running)
            try:
                with pausing(history):
                    debugger = Debugger(history)
                    terminal.talk(debugger)
            except CudarunError as error:
                errors.append(error)
                return False
            finally:
                history.close()
            has_ended = debugger.last.reason == "ended"
            return has_ended

        servers = ProgramDebugger(program_server.__name__, copies.address, run)
        report = execute(request, prepare, servers)
    if errors:
        raise errors[0]
    return report if has_ended else None
