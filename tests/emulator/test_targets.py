"""Which targets permit an instruction, as recorded from ptxas 13.0 by ``tools.record_targets``."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from typing import Any

import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.golden.isa.kernel import HEAD
from tests.golden.tensor_memory import HEAD as TENSOR_HEAD
from tests.golden.tensor_memory import LINES
from tools.record_targets import (
    NEWER,
    NEWER_HEAD,
    RECORD,
    TARGETS,
    TENSOR_RECORD,
    TENSOR_TARGETS,
    VERSION,
    batches,
)

_RECORDED = json.loads(lzma.decompress(RECORD.read_bytes()))
NOT_IMPLEMENTED = (
    *("tcgen05", "multimem", "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w"),
)
_LINES = {name: line for batch in batches() for name, line in batch.items()}


def complaints(lines: dict[str, str], target: str, head: str) -> dict[str, str]:
    """Return the first complaint of the emulated device about each line, by its name."""
    head = head.format(version=VERSION, target=target).rstrip("\n")
    text = "\n".join((head, *lines.values(), "ret;", "}", ""))
    names, first = [*lines], head.count("\n") + 2
    found: dict[str, str] = {}
    try:
        compile_module(parse(text))
    except PtxError as error:
        for each in error.diagnostics:
            found.setdefault(names[each.position.line - first], each.message)
    return found


def test_the_record_has_every_form() -> None:
    assert sorted(_LINES) == _RECORDED["forms"], "run python -m tools.record_targets"
    assert list(TARGETS) == _RECORDED["targets"]
    assert list(_RECORDED["newer"]) == NEWER


@pytest.mark.parametrize("target", TARGETS)
def test_forms(target: str) -> None:
    """On each target another of the forms of an opcode that the same targets refuse."""
    place, kinds = TARGETS.index(target), defaultdict[Any, list[str]](list)
    for name in _LINES:
        refusing = _RECORDED["refused"].get(name, ())
        kinds[name.partition(".")[0], *refusing].append(name)
    names = {kind[(place + step) % len(kind)] for kind in kinds.values() for step in range(2)}
    chosen = {name: _LINES[name] for name in names}
    refused = {name for name in chosen if target in _RECORDED["refused"].get(name, ())}
    assert complaints(chosen, target, HEAD).keys() == refused


@pytest.mark.parametrize("target", TARGETS)
def test_later_instructions(target: str) -> None:
    """Accepted or not implemented where ptxas permits them, else refused with ptxas's reason."""
    found = complaints({each: each for each in NEWER}, target, NEWER_HEAD)
    for each, targets in _RECORDED["newer"].items():
        reason = found.get(each, "")
        if "is not implemented by the emulated device" in reason:
            assert each.startswith(NOT_IMPLEMENTED), each
        elif target in targets:
            assert not reason, each
        else:
            assert f"on .target '{target}'" in reason or "requires .target sm_" in reason, each


_PERMITTED = json.loads(lzma.decompress(TENSOR_RECORD.read_bytes()))


@pytest.mark.parametrize("target", [*TENSOR_TARGETS, "sm_100", "sm_90a", "sm_120a"])
def test_tensor_memory(target: str) -> None:
    """Other lines on each target, those that are no forms included."""
    assert list(_PERMITTED) == list(LINES), "run python -m tools.record_targets"
    place = TARGETS.index(target)
    chosen = {line: line for line in LINES[place :: len(TARGETS)]}
    refused = {line for line in chosen if target not in _PERMITTED[line]}
    assert complaints(chosen, target, TENSOR_HEAD).keys() == refused
