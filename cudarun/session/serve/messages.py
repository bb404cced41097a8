"""The requests of the clients of ``cudarun serve``: lines with JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from cudarun import __version__
from cudarun.base.decoding import InvalidDocument, decode, parse
from cudarun.base.errors import CudarunError, RequestError
from cudarun.base.records import dataclass
from cudarun.model.documents import plain

LONGEST_LINE = 64 << 20
"""The most bytes of a request; larger contents belong into files."""

_Text = Annotated[str, lambda text: "\0" not in text]
"""A text of any length."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A command to run: that of a command line, of parameters, or a call of the Python API."""

    # The words of a command line without the program; with ``command`` those after it.
    argv: tuple[_Text, ...] = ()
    command: _Text | None = None  # the command
    # The values of its parameters by the keywords of the Python API, in place of ``argv``.
    parameters: dict[str, Any] | None = None
    call: _Text | None = None  # a call of the Python API, as this version writes it
    directory: _Text | None = None  # the working directory; ``None`` for that of the server
    # All variables; ``None`` for those of the server.
    environment: Mapping[str, _Text] | None = None
    stdin: _Text = ""  # the text that the command reads from stdin
    progress: bool = False  # whether messages report the progress
    # Whether the descriptors of the message are stdin, stdout and stderr of the command.
    streams: bool = False
    files: Annotated[int, range(10_000)] = 0  # the number of descriptors that come with the message
    encoding: str = "utf-8"  # the encoding of the streams
    umask: Annotated[int, range(0o1000)] | None = None  # the mask of the modes of new files
    # The version of a client that is cudarun itself; it must be that of the server.
    version: str | None = None

    @property
    def words(self) -> list[str]:
        """Return the command line without the program."""
        return [*filter(None, (self.command,)), *self.argv]


RequestId = int | str


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message of a client: a request, or that a request is to be canceled."""

    # The name of the request among those of its connection that are not answered; ``None`` of a
    # line without a name.
    id: RequestId | None
    request: ServerRequest | None = None  # the request
    # The reason for which it cannot be run. Without request and error it is canceled.
    error: RequestError | None = None


def message_of(line: bytes) -> ClientMessage:
    """Return the message in a line."""
    name: RequestId | None = None
    try:
        document = parse(line)
        if not isinstance(document, dict):
            raise InvalidDocument("expected an object")
        if set(document) == {"cancel"}:
            return ClientMessage(_id(document["cancel"]))
        name = _id(document.pop("id", None))
        request = decode(ServerRequest, document, others=False)
    except InvalidDocument as error:
        hint = 'a request is a line such as {"id": 1, "argv": ["devices"]}'
        return ClientMessage(name, error=RequestError(f"invalid request: {error}", hint=hint))
    return ClientMessage(name, request, _problem(request))


def _id(value: object) -> RequestId:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidDocument("expected a number or a text as id")
    return value


def members_of_error(error: CudarunError) -> dict[str, object]:
    """Return the members of the answer to a request that no command can be run for."""
    return {"exit_code": int(error.exit_code), "error": plain(error)}


def _problem(request: ServerRequest) -> RequestError | None:
    """Return the reason for which no command can be run; ``None`` if one can."""
    ways = [bool(request.argv), request.parameters is not None, request.call is not None]
    if sum(ways) > 1 or not any((*ways, request.command, request.streams)):
        return RequestError("expected 'argv', or 'command' with 'parameters'")
    if request.parameters is not None and request.command is None:
        return RequestError("'parameters' need a 'command'")
    if request.version not in (None, __version__):
        return RequestError(
            f"the server runs cudarun {__version__}, the client is {request.version}",
            hint="end the server, and start it again",
        )
    if request.streams and request.files != len(("stdin", "stdout", "stderr")):
        return RequestError("'streams' need the descriptors of stdin, stdout and stderr")
    if request.words[:1] == ["serve"]:
        return RequestError("a server does not run serve")
    return None
