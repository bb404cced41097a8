"""Requests of the clients of ``cudarun serve`` as calls of commands."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from typing import Any

from cudarun.api.functions import named_values, option_values
from cudarun.api.messages import ApiAnswer, ApiCall
from cudarun.api.values import ArrayFiles
from cudarun.base.errors import RequestError
from cudarun.cli import COMMANDS, keywords_of
from cudarun.session.serve.messages import ServerRequest

_IMAGES = {"image", "images"}
"""The arguments that can be contents in place of a path."""


def call_of(request: ServerRequest, directory: str, environment: Mapping[str, str]) -> ApiCall:
    """Return the call of a request that has no command line.

    Args:
        directory: The working directory of the server.
        environment: That of the server.

    Raises:
        RequestError: The parameters are not those of the command.
    """
    if request.call is not None:
        try:
            call = pickle.loads(base64.b64decode(request.call))
        except Exception:  # `pickle` names no complete list
            call = None
        if not isinstance(call, ApiCall):
            raise RequestError("the client has another version of cudarun")
        return call
    command, given = request.command or "", dict(request.parameters or {})
    if command not in COMMANDS:
        raise RequestError(f"unknown command '{command}'")
    known = keywords_of(command)
    arguments = given.pop("args", ())
    is_named = isinstance(arguments, dict)
    try:
        values = option_values(given, known, command)
        with ArrayFiles() as files:
            named = named_values(files, given)
            if not is_named and not isinstance(arguments, list | tuple):
                raise TypeError("args is an object with arguments by name, or a list of them")
            pairs = arguments.items() if is_named else ((None, each) for each in arguments)
            found = [(name, files.value(name or "args", value)) for name, value in pairs]
    except TypeError as error:
        raise RequestError(str(error)) from None
    if found:
        named["arguments"] = found
    for keyword in _IMAGES & values.keys():
        values[keyword] = _images(values[keyword])
    folder = request.directory or directory
    return ApiCall(command, values, named, folder, dict(request.environment or environment))


def _images(value: object) -> Any:
    """Return the path or the contents of an image, or those of several."""
    if isinstance(value, list):
        return [_images(each) for each in value]
    return value.encode() if isinstance(value, str) and "\n" in value else value


def members_of(answer: ApiAnswer, request: ServerRequest) -> dict[str, Any]:
    """Return the members of the answer to a request that has no command line."""
    if request.call is not None:
        text = base64.b64encode(pickle.dumps(answer)).decode()
        return {"exit_code": answer.code, "answer": text}
    return {"exit_code": answer.code, "report": answer.report, "document": answer.document}
