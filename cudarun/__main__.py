"""``python -m cudarun`` and the entry point ``cudarun``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    It leaves without taking the interpreter down piece by piece, which takes longer than `--help`.
    """
    from cudarun.cli import main as run

    code = run()  # which has flushed stdout
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
