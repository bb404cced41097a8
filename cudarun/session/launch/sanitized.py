"""The worker under compute-sanitizer: ``python -m cudarun.session.launch.sanitized FOLDER``.

It does what a forked worker does with its one task, and leaves the answer in the folder.
`sanitizer` starts it.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.errors import CudarunError, WorkerDied
from cudarun.session.launch.sanitizer import leave_answer, read_request
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.fleet import make_session
from cudarun.session.workers.worker import die_with

if TYPE_CHECKING:
    from cudarun.report.types import LaunchResult
    from cudarun.session.driver.target import Target
    from cudarun.session.launch.request import LaunchRequest

_Answer = tuple[str, "LaunchResult | None", CudarunError | None]


def main(folder: Path) -> None:
    """Launch what the folder asks for, and leave what came of it there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C
    die_with(os.getppid())
    target, request = read_request(folder)
    leave_answer(folder, [_launch(target, request)])


def _launch(target: Target, request: LaunchRequest) -> _Answer:
    label = str(target.devices[0])
    try:
        session = make_session(target.devices, target)
        [device] = session.devices
        label = device.label
        from cudarun.session.launch.worker import run_on

        # With the lines of the source, where the PTX has them: findings are to say where they are.
        library = session.load(request.image, JitOptions(line_info=True))
        session.enter(device)
        result = run_on(session, library, request, device)
        session.release()  # the sanitizer is to see an orderly end
        return label, result, None
    except CudarunError as error:
        return label, None, error.at(device=label)
    except Exception as error:  # a bug of ours: the parent shows the traceback, exit code 7
        import traceback

        name = type(error).__name__
        text = traceback.format_exc()
        return label, None, WorkerDied(f"internal error: {name}: {error}", log=text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
