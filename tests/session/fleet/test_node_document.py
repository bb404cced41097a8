"""The reader of what a remote command printed, which is not trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun import __version__
from cudarun.base.decoding import InvalidDocument
from cudarun.base.errors import ExitCode
from cudarun.base.machine import DeviceIdentity
from cudarun.model.documents import document
from cudarun.model.fleet import Change, FleetCase, FleetGpu, NodeGpu, NodeReport
from cudarun.session.fleet.parent import read_node_document

GPU = NodeGpu(
    DeviceIdentity("0", 0, "GPU-5af", "0000:01:00.0", "H200", "165", (13, 0)),
    (
        FleetCase("a", "passed", None, ExitCode.OK, 3, 1.5, {"y": "12"}),
        FleetCase(
            "b", "failed", "no", ExitCode.CHECK_FAILED, 3, None, {"y": "12"},
            (Change("y", 2, ("12", "13")),),
        ),
    ),
)  # fmt: skip
DOCUMENT: dict[str, Any] = json.loads(json.dumps(document(NodeReport(__version__, 1.0, (GPU,)))))


def places(value: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The paths of a value and of all values in it."""
    found = [path]
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(each, (*path, key))
    return found


PLACES = places(DOCUMENT["gpus"], ("gpus",))


def changed(path: tuple[Any, ...], value: Any) -> bytes:
    copy = json.loads(json.dumps(DOCUMENT))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return json.dumps(copy).encode()


def test_a_document_is_read_as_it_was_written() -> None:
    assert read_node_document(json.dumps(DOCUMENT).encode()) == (GPU,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no output"),
        (b" \n", "no output"),
        (b"Welcome\xff\n", "the output is not a JSON document: 'Welcome\ufffd'"),
        (json.dumps(DOCUMENT).encode()[:-40], "the output is not a JSON document"),
        (b"[" * 100_000, "the output is not a JSON document"),
        (b"[]", "the output is not a document cudarun/fleet-node/1"),
        (changed(("schema",), "cudarun/launch/1"), "the output is not a document"),
        (changed(("error",), {"message": "no CUDA driver"}), "no CUDA driver"),
        (changed(("error",), {}), "the document is invalid at error.message"),
        (changed(("version",), "0.0.1"), f"cudarun 0.0.1 on the node, {__version__} here"),
        (changed(("gpus", 0, "cases", 0, "exit_code"), 99), "gpus[0].cases[0].exit_code"),
        (changed(("gpus", 0, "cases", 0, "exit_code"), 130), "the result of case 'a'"),
        (changed(("gpus", 0, "cases", 0, "milliseconds"), float("nan")), "milliseconds"),
        (changed(("gpus", 0, "cases", 0, "milliseconds"), 10**400), "milliseconds"),
        (changed(("gpus", 0, "cases", 0, "milliseconds"), -1.0), "the result of case 'a'"),
        (changed(("gpus", 0, "cases", 0, "runs"), 10**30), "gpus[0].cases[0].runs"),
        (
            changed(("gpus", 0, "cases", 0, "runs"), 7).replace(b"7", b"7" * 5001),
            "the output is not a JSON document",
        ),
        (changed(("gpus",), DOCUMENT["gpus"] * 2), "'GPU-5af' is the uuid of two GPUs"),
        (changed(("gpus", 0, "cases"), DOCUMENT["gpus"][0]["cases"] * 2), "the name of two cases"),
        (
            changed(
                ("gpus", 0, "cases", 1, "changes"), 2 * DOCUMENT["gpus"][0]["cases"][1]["changes"]
            ),
            "'y' is the buffer of two changes",
        ),
    ],
)
def test_what_is_no_result(data: bytes, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_node_document(data)
    assert message in str(caught.value)


@given(st.sampled_from(PLACES), st.sampled_from([None, [], {}, True, -1, 0.5, "x", [1, 2, 3]]))
def test_any_value_in_any_place_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    try:
        found = read_node_document(changed(path, value))
    except InvalidDocument:
        return
    for each in found:
        assert isinstance(each.exit_code, ExitCode)
        assert isinstance(FleetGpu(each.identity, each.cases).reason, str | None)
