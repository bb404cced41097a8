"""``python -m cudarun`` and the entry point ``cudarun``."""

import os  # which Python has imported, unlike __future__

# As `ExitCode` has them, whose module is not imported yet.
_INTERRUPTED = 130
_UNUSABLE_REQUEST = 2

_received: list[int] = []  # Ctrl-C during the first imports

try:
    import _signal  # of `signal`, whose import takes a while

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, lambda number, _: _received.append(number))
except KeyboardInterrupt:
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command line and leave with its exit code.

    It leaves without taking the interpreter down piece by piece, which takes longer than `--help`.
    Every import is made here, where Ctrl-C has a handler already.
    """
    import sys

    from cudarun.process import EndingSignals, open_standard_streams

    signals = EndingSignals(_received)
    open_standard_streams()
    try:
        from cudarun.session.workers import prefork

        prefork.begin(sys.argv[1:], _prefetch)
        from cudarun.cli import main as run

        code = run(begin=signals.admit)  # which has flushed stdout
        signals.leave()
    except KeyboardInterrupt:  # after the command, or while an earlier one was handled
        code = _INTERRUPTED
        signals.leave()
    except OSError as error:  # not even a module of ours could be read
        print(f"error: operating system: {error.strerror}: {error.filename}", file=sys.stderr)
        code = _UNUSABLE_REQUEST
    sys.stderr.flush()
    os._exit(code)


def _prefetch() -> None:
    import cudarun.session.launch.worker  # noqa: F401


if __name__ == "__main__":
    main()
