"""``python -m cudarun`` and the entry point ``cudarun``."""

from __future__ import annotations

import os
import signal
import sys

from cudarun.process import end_in_order, open_standard_streams
from cudarun.session.workers import prefork

# As `ExitCode` has them, whose module is not imported yet.
_INTERRUPTED = 130
_UNUSABLE_REQUEST = 2


def main() -> None:
    """Run the command line and leave with its exit code.

    It leaves without taking the interpreter down piece by piece, which takes longer than `--help`.
    """
    open_standard_streams()
    ended_by = end_in_order()
    try:
        prefork.begin(sys.argv[1:], _prefetch)
        from cudarun.cli import main as run

        code = run()  # which has flushed stdout
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except OSError as error:  # not even a module of ours could be read
        print(f"error: operating system: {error.strerror}: {error.filename}", file=sys.stderr)
        code = _UNUSABLE_REQUEST
    if ended_by:
        signal.signal(ended_by[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended_by[0])  # whoever waits for us is to see what ended us
    sys.stderr.flush()
    os._exit(code)


def _prefetch() -> None:
    import cudarun.session.launch.worker  # noqa: F401


if __name__ == "__main__":
    main()
