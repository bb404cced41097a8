"""A strict reader of a node's document: the output of a remote command is not trusted."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from cudarun import __version__
from cudarun.errors import ExitCode
from cudarun.machine import DeviceIdentity
from cudarun.report.fleet_types import Change, FleetCase, FleetGpu

MAX_DOCUMENT = 64 << 20
"""The most bytes of a node's document."""

_SCHEMA = "cudarun/fleet-node/1"
_VERDICTS = ("passed", "failed", "skipped")
_LONGEST_TEXT = 4000
"""The characters of a text of a node that are kept."""


class UnreadableDocument(Exception):
    """The output of a node is no result; its text says why."""


def read_node_document(data: bytes) -> tuple[FleetGpu, ...]:
    """Return the GPUs of a node's document.

    Raises:
        UnreadableDocument: It is no document, an error, of another version, or invalid.
    """
    if not data.strip():
        raise UnreadableDocument("no output")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableDocument(f"the output is not a JSON document: {_start(data)}") from None
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise UnreadableDocument(f"the output is not a document {_SCHEMA}: {_start(data)}")
    if isinstance(error := document.get("error"), dict):
        raise UnreadableDocument(_text(error.get("message"), "error.message"))
    version = _text(document.get("version"), "version")
    if version != __version__:
        raise UnreadableDocument(f"cudarun {version} on the node, {__version__} here")
    return tuple(
        _gpu(each, f"gpus[{index}]")
        for index, each in enumerate(_list(document.get("gpus"), "gpus"))
    )


def _gpu(record: Any, place: str) -> FleetGpu:
    fields = _fields(record, place)
    cases = enumerate(_list(fields.get("cases"), f"{place}.cases"))
    return FleetGpu(
        _identity(fields.get("identity"), f"{place}.identity"),
        tuple(_case(each, f"{place}.cases[{index}]") for index, each in cases),
    )


def _identity(record: Any, place: str) -> DeviceIdentity:
    fields = _fields(record, place)
    serial = fields.get("serial")
    version = _list(fields.get("driver_version"), f"{place}.driver_version")
    if len(version) != 2:
        _refuse(f"{place}.driver_version")
    return DeviceIdentity(
        label=_text(fields.get("label"), f"{place}.label"),
        index=_number(fields.get("index"), f"{place}.index"),
        uuid=_text(fields.get("uuid"), f"{place}.uuid"),
        pci_bus_id=_text(fields.get("pci_bus_id"), f"{place}.pci_bus_id"),
        name=_text(fields.get("name"), f"{place}.name"),
        serial=None if serial is None else _text(serial, f"{place}.serial"),
        driver_version=(_number(version[0], place), _number(version[1], place)),
    )


def _case(record: Any, place: str) -> FleetCase:
    fields = _fields(record, place)
    verdict = fields.get("verdict")
    if verdict not in _VERDICTS:
        _refuse(f"{place}.verdict")
    code = _number(fields.get("exit_code"), f"{place}.exit_code")
    if code not in {*ExitCode}:
        _refuse(f"{place}.exit_code")
    reason, milliseconds = fields.get("reason"), fields.get("milliseconds")
    digests = _fields(fields.get("digests"), f"{place}.digests")
    changes = enumerate(_list(fields.get("changes"), f"{place}.changes"))
    return FleetCase(
        name=_text(fields.get("name"), f"{place}.name"),
        verdict=verdict,
        reason=None if reason is None else _text(reason, f"{place}.reason"),
        exit_code=ExitCode(code),
        runs=_number(fields.get("runs"), f"{place}.runs"),
        milliseconds=None if milliseconds is None else _time(milliseconds, place),
        digests={key: _text(digest, f"{place}.digests") for key, digest in digests.items()},
        changes=tuple(_change(each, f"{place}.changes[{index}]") for index, each in changes),
    )


def _change(record: Any, place: str) -> Change:
    fields = _fields(record, place)
    digests = [_text(each, place) for each in _list(fields.get("digests"), f"{place}.digests")]
    if len(digests) != 2:
        _refuse(f"{place}.digests")
    return Change(
        _text(fields.get("buffer"), f"{place}.buffer"),
        _number(fields.get("run"), f"{place}.run"),
        (digests[0], digests[1]),
    )


def _fields(value: Any, place: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse(place)


def _list(value: Any, place: str) -> list[Any]:
    return value if isinstance(value, list) else _refuse(place)


def _text(value: Any, place: str) -> str:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else _refuse(place)


def _number(value: Any, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        _refuse(place)
    return value


def _time(value: Any, place: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        _refuse(f"{place}.milliseconds")
    return float(value)


def _refuse(place: str) -> NoReturn:
    raise UnreadableDocument(f"the document is invalid at {place}")


def _start(data: bytes) -> str:
    """Return the first line of an output, for a message."""
    line = data.strip().split(b"\n", 1)[0][:80]
    return repr(line.decode(errors="replace"))
