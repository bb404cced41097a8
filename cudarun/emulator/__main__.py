"""``python -m cudarun.emulator PROGRAM [ARG…]``: run a cuda-python program on the emulated device.

The program needs no change: ``cuda.bindings.driver`` and ``cuda.bindings.runtime`` are the emulated
modules (see `cudarun.emulator.substitution`). The exit code is the program's. If a kernel faulted,
the report of the fault is on stderr when the program has ended.
"""

from __future__ import annotations

import sys

from cudarun.emulator.host.process import process
from cudarun.emulator.script import UnreadableProgram, run_file, run_module
from cudarun.emulator.substitution import substitute

_USAGE = """\
usage: python -m cudarun.emulator PROGRAM [ARG...]
       python -m cudarun.emulator -m MODULE [ARG...]

Run a cuda-python program on the emulated device. See docs/how-to/run-cuda-python-programs.md.
"""
_UNUSABLE = 2


def main(arguments: list[str]) -> int:
    """Run the program; return the exit code of a command line without one."""
    match arguments:
        case ["-h" | "--help", *_]:
            print(_USAGE, end="")
            return 0
        case ["-m", _, *_]:
            return _run(arguments)
        case [path, *_] if not path.startswith("-"):
            return _run(arguments)
    print(_USAGE, end="", file=sys.stderr)
    return _UNUSABLE


def _run(arguments: list[str]) -> int:
    substitute()
    try:
        if arguments[0] == "-m":
            run_module(arguments[1], arguments[2:])
        else:
            run_file(arguments[0], arguments[1:])
    except UnreadableProgram as error:
        print(f"error: {error}", file=sys.stderr)
        return _UNUSABLE
    finally:
        if process.fault is not None:
            print(f"cudarun: {process.fault.report}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
