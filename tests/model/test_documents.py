"""JSON documents: what cannot be seen in a command's output without a GPU, and the schemas."""

from __future__ import annotations

import json
from dataclasses import field, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cudarun.base.decoding import InvalidDocument, decode
from cudarun.base.errors import CudarunError, DeviceFailed, ExitCode
from cudarun.base.records import FIRST, LEFT_OUT, beside, dataclass, named
from cudarun.diagnostics.entries import FindingLocation, SanitizerFinding
from cudarun.model.checks import CheckResult, Mismatch, ReferenceResult
from cudarun.model.detectors import SanitizerReport
from cudarun.model.devices import DeviceInfo
from cudarun.model.documents import document, error_document, plain
from cudarun.model.launch import DeviceOutcome, LaunchReport, LaunchResult, Printed
from cudarun.model.runs import TimingResult
from cudarun.ptx.errors import PtxDiagnostic, PtxError
from cudarun.ptx.tree import Position
from cudarun.report.json import error_text
from tests.support.json_documents import validate
from tools import generate_json_schemas

DEVICE = DeviceInfo(
    label="0", index=0, name="NVIDIA H200", uuid="GPU-0", pci_bus_id="0000:01:00.0",
    compute_capability=(9, 0), multiprocessors=132, memory_free=None, memory_total=1 << 37,
    driver_version=(13, 0), ptx_version=None, peers=(1,),
)  # fmt: skip
CHECK = CheckResult(
    "y == x", False, 2, 2, float("inf"), None, 0.0, 1e-6, (Mismatch((1,), "1", "2"),)
)
TIMING = TimingResult(
    clock="CUDA events", samples=(1.0, float("nan")), warmup=10, flushed_bytes=1 << 20,
    minimum=1.0, median=1.0, mean=float("nan"), deviation=float("nan"),
    percentiles={"95": float("-inf")}, noisy=True, throttled=("power",),
    gigabytes_per_second=float("inf"), gigaflops_per_second=None,
)  # fmt: skip
RESULT = LaunchResult(
    device=DEVICE, kernel="k", demangled="k", grid=(1, 1, 1), block=(32, 1, 1), threads=None,
    shared_bytes=0,
    cluster=(2, 1, 1), cooperative=False, parameters=(), memory=(), buffers=(), checks=(CHECK,),
    reference=ReferenceResult("1", (CHECK,)), prints=(Printed("x", "[nan, 1]", [float("nan"), 1]),),
    figures=(), saved=(), milliseconds=1.0, timing=TIMING, errors=(DeviceFailed("x"),),
)  # fmt: skip
FOUND = SanitizerFinding(
    "Invalid __global__ write", "error", "Invalid __global__ write of size 4 bytes", "k",
    (FindingLocation("Write access", "k", 16, None, None),), (0, 0, 0), (1, 0, 0), 1 << 47,
    ("a", "b"),
)  # fmt: skip


def written(report: LaunchReport) -> Any:
    """The document of a report as it is read by others, which is as its schema says."""
    read = json.loads(json.dumps(document(report), allow_nan=False))
    validate(read)
    return read


def test_a_launch_on_a_gpu() -> None:
    outcome = DeviceOutcome("0", RESULT, None, None, SanitizerReport("memcheck", (FOUND,), 3))
    read = written(LaunchReport("x.cubin", 1, (outcome,)))
    assert (read["exit_code"], read["error"]) == (1, None)
    [outcome] = read["outcomes"]
    assert outcome["sanitizer"]["findings"][0]["places"][0]["offset"] == 16
    assert outcome["sanitizer"]["total"] == 3
    result = outcome["result"]
    assert result["errors"] == [{"kind": "DeviceFailed", "exit_code": 5, "message": "x"}]
    assert result["checks"][0]["max_abs_error"] == "Infinity"
    assert result["checks"][0]["first"][0]["index"] == [1]
    assert result["reference"]["comparisons"] == result["checks"]
    assert result["prints"][0]["value"] == ["NaN", 1]
    timing = result["timing"]
    assert (timing["samples"], timing["percentiles"]) == ([1.0, "NaN"], {"95": "-Infinity"})
    assert (timing["gigabytes_per_second"], timing["gigaflops_per_second"]) == ("Infinity", None)


def test_a_report_of_no_device_but_an_error() -> None:
    error = DeviceFailed("cuX: fault", cuda=("CUDA_ERROR_X", 9), log="l", hint="h", step="2: pop")
    read = written(LaunchReport("x", None, (DeviceOutcome("0", None, error, ""),)))
    assert read["error"] == {
        "kind": "DeviceFailed", "exit_code": 5, "message": "cuX: fault", "hint": "h", "log": "l",
        "cuda": {"name": "CUDA_ERROR_X", "number": 9}, "step": "2: pop",
    }  # fmt: skip


def test_an_error_of_our_own_ptx_parser() -> None:
    error = PtxError([PtxDiagnostic(Position(3, 7), "Parsing error", "fatal")], file="x.ptx")
    read = json.loads(error_text("load", error))
    validate(read)
    assert (read["schema"], read["error"]["kind"]) == ("cudarun/load/1", "PtxError")
    [diagnostic] = read["error"]["diagnostics"]
    assert diagnostic == {"line": 3, "column": 7, "severity": "fatal", "message": "Parsing error"}


def test_only_scalars_and_sequences_of_them_are_values() -> None:
    assert plain([(True, None), ("x", float("-inf"))]) == [[True, None], ["x", "-Infinity"]]
    with pytest.raises(TypeError, match="set cannot be converted"):
        plain(set())


@dataclass(frozen=True, slots=True)
class Example:
    """A record of whose fields documents have some, under other names."""

    count: int
    words: tuple[str, ...] = field(default=(), metadata=named("list"))
    color: str | None = field(default=None, metadata=beside("color"))
    cache: int = field(default=0, metadata=LEFT_OUT)
    title: str = field(default="", metadata=FIRST)


def test_metadata_of_fields_holds_for_writing_and_reading() -> None:
    written = plain(Example(1, ("a",), cache=5, title="t"))
    assert [*written.items()] == [("title", "t"), ("count", 1), ("list", ["a"])]
    assert decode(Example, written) == Example(1, ("a",), title="t")
    assert plain(Example(1, color="red"))["color"] == "red"
    for more in ({"words": ["b"]}, {"cache": 7}):
        with pytest.raises(InvalidDocument, match="unknown key"):
            decode(Example, written | more, others=False)


@pytest.mark.parametrize("name", generate_json_schemas.DOCUMENTS)
def test_a_schema(name: str) -> None:
    schema = json.loads(generate_json_schemas.text(name))
    Draft202012Validator.check_schema(schema)
    # In every one an error alone is a document, and nothing may be missing or added.
    # The devices are those that other tests have initialized in this process.
    read: Any = json.loads(json.dumps(error_document(name, DeviceFailed("x"))))
    validate(read)
    for wrong in ({**read, "more": 1}, {**read, "error": None}, {**read, "exit_code": "5"}):
        with pytest.raises(AssertionError):
            validate(wrong)


def test_an_unknown_field_deep_inside_is_refused() -> None:
    read = written(LaunchReport("x", None, (DeviceOutcome("0", RESULT, None, None),)))
    read["outcomes"][0]["result"]["device"]["peer"] = []
    with pytest.raises(AssertionError):
        validate(read)


def test_every_kind_of_error_is_in_the_schema() -> None:
    kinds = {each.kind for each in _subclasses(CudarunError)}
    schema = generate_json_schemas.schema("cudarun")
    assert kinds == {*schema["$defs"]["Error"]["properties"]["kind"]["enum"]}


def _subclasses(base: type[CudarunError]) -> list[type[CudarunError]]:
    return [base, *(each for sub in base.__subclasses__() for each in _subclasses(sub))]


def test_an_exit_code_is_a_number() -> None:
    passed = replace(RESULT, checks=(), reference=None)
    read = written(LaunchReport("x", None, (DeviceOutcome("0", passed, None, None),)))
    assert (read["exit_code"], type(read["exit_code"])) == (ExitCode.OK, int)
