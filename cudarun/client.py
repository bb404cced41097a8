"""The client of ``cudarun serve``: it runs the command line of this process in a server.

The server gets the streams of this process, so that the output is what it would be here. Only
modules in C are imported: most of the time of a short launch is that of its imports.
"""

import os
import sys
from _json import encode_basestring_ascii as quoted
from _signal import SIGINT, default_int_handler, getsignal, signal
from _socket import AF_UNIX, SCM_RIGHTS, SO_PEERCRED, SOCK_STREAM, SOL_SOCKET, socket
from _struct import pack, unpack

from cudarun import __version__

_UNUSABLE_REQUEST, _WORKER_DIED, _INTERRUPTED = 2, 7, 130  # as `ExitCode` has them
_CHUNK = 1 << 16
_CREDENTIALS = "=3i"
_PLAIN = b'{"id":1,"exit_code":'

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Iterable


def run_in_server(path: str, arguments: list[str], received: list[int]) -> int:
    """Run a command line in a server, and return its exit code.

    Args:
        path: The socket of the server.
        arguments: The command line without the program.
        received: The signals that came before.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):  # the connection would get its number
        from cudarun.base.process import open_standard_streams

        open_standard_streams()
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        return _fail(
            f"--server: {path}: {error.strerror or error}",
            f"start the server: cudarun serve --socket {path}",
        )
    credentials = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, len(pack(_CREDENTIALS, 0, 0, 0)))
    if unpack(_CREDENTIALS, credentials)[1] != os.getuid():
        return _fail(f"--server: {path}: it is the server of another user")
    try:
        directory = os.getcwd()
    except OSError as error:
        return _fail(f"the working directory: {error.strerror}")
    try:
        line = _request(arguments, directory).encode() + b"\n"
        streams = SOL_SOCKET, SCM_RIGHTS, pack("=3i", 0, 1, 2)
        connection.sendall(line[connection.sendmsg([line], [streams]) :])
        if callable(getsignal(SIGINT)):  # otherwise it is ignored, as in a command with &
            signal(SIGINT, default_int_handler)
        if received:
            connection.sendall(b'{"cancel": 1}\n')
        return _exit_code(_answer(connection))
    except OSError as error:
        return _fail(f"--server: {path}: {error.strerror or error}", code=_WORKER_DIED)


def _request(arguments: list[str], directory: str) -> str:
    """Return the request; `quoted` spares the import of ``json``."""
    umask = os.umask(0o077)
    os.umask(umask)
    environment = (f"{quoted(name)}:{quoted(value)}" for name, value in os.environ.items())
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    members = (
        ("id", "1"),
        ("argv", f"[{_joined(map(quoted, arguments))}]"),
        ("directory", quoted(directory)),
        ("environment", f"{{{_joined(environment)}}}"),
        ("streams", "true"),
        ("files", "3"),
        ("encoding", quoted(encoding)),
        ("umask", str(umask)),
        ("version", quoted(__version__)),
    )
    return f"{{{_joined(f'{quoted(name)}:{value}' for name, value in members)}}}"


def _joined(texts: "Iterable[str]") -> str:
    return ",".join(texts)


def _answer(connection: socket) -> bytes:
    """Return the answer; Ctrl-C cancels the request, and once more ends this process."""
    answer = b""
    is_canceled = False
    while not answer.endswith(b"\n"):
        try:
            part = connection.recv(_CHUNK)
        except KeyboardInterrupt:
            if is_canceled:
                os._exit(_INTERRUPTED)
            is_canceled = True
            connection.sendall(b'{"cancel": 1}\n')
            continue
        if not part:
            break
        answer += part
    return answer


def _exit_code(answer: bytes) -> int:
    if not answer:
        return _fail("--server: the server has ended before it answered", code=_WORKER_DIED)
    if answer.startswith(_PLAIN) and (code := answer[len(_PLAIN) :].rstrip(b"}\n")).isdigit():
        return int(code)
    import json  # few answers have more than a code

    document = json.loads(answer)
    error = document.get("error")
    if error is not None:
        _fail(error["message"], error.get("hint"))
    return int(document["exit_code"])


def _fail(what: str, hint: str | None = None, code: int = _UNUSABLE_REQUEST) -> int:
    lines = [f"error: {what}", *([f"hint: {hint}"] if hint else [])]
    print("\n".join(lines), file=sys.stderr)
    return code
