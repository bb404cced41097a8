"""A strict reader of a node's document: the output of a remote command is not trusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cudarun import __version__
from cudarun.base.decoding import InvalidDocument, decode, parse
from cudarun.model.fleet import VERDICTS, NodeGpu

MAX_DOCUMENT = 64 << 20
"""The most bytes of a node's document."""
MAX_GPUS = 1024
"""The most GPUs of a node."""

_SCHEMA = "cudarun/fleet-node/1"


def read_node_document(data: bytes) -> tuple[NodeGpu, ...]:
    """Return the GPUs of a node's document.

    Raises:
        InvalidDocument: It is no document, an error, of another version, or invalid.
    """
    if not data.strip():
        raise InvalidDocument("no output")
    try:
        document = parse(data)
    except InvalidDocument:
        raise InvalidDocument(f"the output is not a JSON document: {_start(data)}") from None
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise InvalidDocument(f"the output is not a document {_SCHEMA}: {_start(data)}")
    if isinstance(error := document.get("error"), dict):
        raise InvalidDocument(decode(str, error.get("message"), "error.message"))
    version = decode(str, document.get("version"), "version")
    if version != __version__:
        raise InvalidDocument(f"cudarun {version} on the node, {__version__} here")
    return _gpus(document.get("gpus"))


def _gpus(value: Any) -> tuple[NodeGpu, ...]:
    """Return the GPUs of a document, each of which is named once.

    Raises:
        InvalidDocument: One is invalid, or is in the document twice.
    """
    if isinstance(value, list) and len(value) > MAX_GPUS:
        raise InvalidDocument(f"the document has more than {MAX_GPUS} GPUs")
    gpus = decode(tuple[NodeGpu, ...], value, "gpus")
    for what in ("uuid", "label"):
        _refuse_twice((getattr(gpu.identity, what) for gpu in gpus), f"the {what} of two GPUs")
    for gpu in gpus:
        _refuse_twice((case.name for case in gpu.cases), "the name of two cases")
        for case in gpu.cases:
            if case.exit_code not in VERDICTS or (case.milliseconds or 0.0) < 0.0 or case.runs < 0:
                raise InvalidDocument(f"the result of case {case.name!r} is impossible")
            _refuse_twice((each.buffer for each in case.changes), "the buffer of two changes")
    return gpus


def _refuse_twice(values: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise InvalidDocument(f"{value!r} is {what}")
        seen.add(value)


def _start(data: bytes) -> str:
    """Return the first line of an output, for a message."""
    line = data.strip().split(b"\n", 1)[0][:80]
    return repr(line.decode(errors="replace"))
