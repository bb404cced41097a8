"""``python -m cudarun`` and the entry point ``cudarun``."""

import os  # which Python has imported, unlike __future__
import sys

# As `ExitCode` has them, whose module is not imported yet.
_INTERRUPTED = 130
_UNUSABLE_REQUEST = 2

_FEWEST_FILES = 12  # with fewer descriptors not even our imports succeed

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
    if (served := _server_of(sys.argv[1:])) is not None:
        from cudarun.client import run_in_server

        code = run_in_server(*served, _received)
        sys.stderr.flush()
        os._exit(code)
    import errno
    import gc
    import resource

    from cudarun.base.process import EndingSignals, open_standard_streams

    gc.disable()  # nothing that is imported is garbage
    signals = EndingSignals(_received)
    open_standard_streams()
    try:
        if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < _FEWEST_FILES:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        from cudarun.session.workers import prefork

        prefork.begin(sys.argv[1:], _prefetch, _share)
        if sys.argv[1:2] == ["exec"]:
            from cudarun.session.exec import server_process

            server_process.begin(sys.argv[1:])
        from cudarun.cli import main as run

        gc.freeze()
        gc.enable()
        code = run(begin=signals.admit)  # which has flushed stdout
        signals.leave()
    except KeyboardInterrupt:  # after the command, or while an earlier one was handled
        code = _INTERRUPTED
        signals.leave()
    except OSError as error:  # not even a module of ours could be read
        where = f": {error.filename}" if error.filename else ""
        print(f"error: operating system: {error.strerror}{where}", file=sys.stderr)
        if error.errno == errno.EMFILE:
            print("hint: raise the limit of open files: ulimit -n 1024", file=sys.stderr)
        code = _UNUSABLE_REQUEST
    sys.stderr.flush()
    os._exit(code)


def _server_of(arguments: list[str]) -> tuple[str, list[str]] | None:
    """Return the socket of the server that a command line is for, and the rest of the line.

    Args:
        arguments: The command line without the program.

    Returns:
        ``None`` if it is for this process.
    """
    first = arguments[0] if arguments else ""
    if first == "--server" and len(arguments) > 1:
        return arguments[1], arguments[2:]
    if first.startswith("--server="):
        return first.partition("=")[2], arguments[1:]
    path = os.environ.get("CUDARUN_SERVER", "")
    return (path, arguments) if path and first != "serve" else None


def _prefetch() -> None:
    import cudarun.session.launch.worker  # noqa: F401


def _share() -> None:
    """Import what both a worker and its parent need: once is enough before a fork."""
    from importlib import import_module

    for name in ("datetime", "pickle", "platform", "textwrap", "threading"):  # of click and numpy
        import_module(name)
    if any(each.endswith(".cudarun") for each in sys.argv):
        import_module("cudarun.session.recording.archive")
    import cudarun.arguments.expressions.statements
    import cudarun.arguments.frameworks
    import cudarun.images.reader
    import cudarun.session.image.image
    import cudarun.session.image.kernels
    import cudarun.session.launch.assertions
    import cudarun.session.launch.detection
    import cudarun.session.launch.outputs
    import cudarun.session.launch.parent
    import cudarun.session.launch.request
    import cudarun.session.workers.worker  # noqa: F401


if __name__ == "__main__":
    main()
