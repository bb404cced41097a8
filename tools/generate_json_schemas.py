"""Write ``docs/reference/schemas``: the JSON Schemas of the dataclasses of reports.

The descriptions are their docstrings and the comments on their fields. `cudarun.base.records` has
the metadata of fields that documents do not have, or have under another name.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import operator
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cudarun.base.errors import CudarunError, ErrorKind, ExitCode
from cudarun.base.fault_place import FaultPlace
from cudarun.base.machine import Machine
from cudarun.base.records import document_fields
from cudarun.diagnostics.entries import Diagnostic
from cudarun.model.compare import ComparisonReport
from cudarun.model.contexts import ContextsReport, ScriptReport, VerifyReport
from cudarun.model.detectors import DetectorReport, LaunchFinding, LaunchStatistics, SanitizerReport
from cudarun.model.devices import DeviceInfo, DevicesReport, DoctorReport
from cudarun.model.errors import DescribedError
from cudarun.model.exec import ExecReport
from cudarun.model.fleet import FleetReport, NodeReport
from cudarun.model.images import LinkReport, LoadReport, OfflineReport
from cudarun.model.judge import JudgeReport
from cudarun.model.launch import Figure, KernelEngine, LaunchPlan, LaunchReport
from cudarun.model.managed import ManagedReport
from cudarun.model.occupancy import Prediction
from cudarun.model.record import LaunchListing, RecordReport
from cudarun.model.spec import CandidateReport, CaseReport, SpecListing, SpecReport

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas"

DOCUMENTS: dict[str, tuple[type, ...]] = {
    "compare": (ComparisonReport,),
    "ctx": (),
    "ctx-run": (ScriptReport,),
    "ctx-show": (ContextsReport,),
    "ctx-verify": (VerifyReport,),
    "cudarun": (),
    "devices": (DevicesReport,),
    "devices-doctor": (DoctorReport,),
    "exec": (ExecReport,),
    "judge": (JudgeReport,),
    "fleet": (FleetReport,),
    "fleet-node": (NodeReport,),
    "launch": (LaunchReport, LaunchPlan),
    "launch-candidate": (CandidateReport,),
    "launch-case": (CaseReport,),
    "launch-spec": (SpecReport,),
    "launch-spec-list": (SpecListing,),
    "link": (LinkReport,),
    "load": (LoadReport, OfflineReport),
    "managed": (ManagedReport,),
    "record": (RecordReport,),
    "record-list": (LaunchListing,),
}
"""By the name of a schema, the reports that it describes beside an error alone."""

_LINES = {
    CandidateReport: "A line of launch --spec --format jsonl: a candidate.",
    CaseReport: "A line of launch --spec --format jsonl: a case on a device.",
}
"""The documents in lines, which have no head."""

_NAMES = {
    "LaunchPlan": "PlanDocument",
    "LaunchListing": "LaunchListingDocument",
    "SpecListing": "ListingDocument",
    "ContextInfo": "Context",
    "CudaResult": "CudaResult",
    "DescribedError": "Error",
    "DetectorReport": "Watched",
    "DeviceIdentity": "Identity",
    "DeviceInfo": "Device",
    "DeviceOutcome": "LaunchOutcome",
    "FactOnDevice": "FactOutcome",
    "FindingLocation": "Instruction",
    "InputReport": "LinkInput",
    "LaunchFinding": "DetectorFinding",
    "LaunchResult": "LaunchResult",
    "LaunchStatistics": "Statistics",
    "LaunchTraffic": "MemoryTraffic",
    "LayoutRow": "ParameterRow",
    "LoadResult": "LoadResult",
    "LocatedPtxDiagnostic": "PtxDiagnostic",
    "ObservedValue": "ReadValue",
    "PartReport": "ImagePart",
    "StepResult": "ProgramStep",
    "VariableReport": "ImageVariable",
}
"""The public names of records, where they are not those of the classes without their ending."""

_HEAD = {
    "exit_code": "The exit code of the process.",
    "error": "The error that the exit code is of; null where nothing but a check failed.",
    "machine": "The machine and its devices.",
}

_SCHEMA_OF_ERRORS = "The schema of the command's documents."

_PUBLISHED: dict[tuple[str, str], Any] = {
    ("FaultPlace", "block"): tuple[int, int, int],  # places without one are not reported
    ("FaultPlace", "thread"): tuple[int, int, int],
    ("LoadOutcome", "verdict"): str,
    ("LoadResult", "verdict"): str | None,
}
"""By class and field, the types that schemas have in place of the fields'."""

_Number = type("_Number", (), {})
"""The type of numbers that can be NaN or infinite, which the fields' types call ``Number``."""

_IMPORTED = {
    each.__name__: each
    for each in (
        *(DetectorReport, DeviceInfo, Diagnostic, FaultPlace, KernelEngine, LaunchFinding),
        *(LaunchStatistics, Prediction, SanitizerReport),
    )
}
_TYPES = {**_IMPORTED, "ErrorKind": ErrorKind, "Figure": Figure, "Number": _Number}
"""The names in types that modules import only for a type checker, and that of numbers."""

_SHARED: dict[str, dict[str, Any]] = {
    "Number": {
        "description": "A number. JSON has no NaN and no infinities: they are strings.",
        "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
    },
    "Value": {
        "description": "A scalar, or an array of values for each dimension.",
        "anyOf": [
            {"type": ["null", "boolean", "string"]},
            {"$ref": "#/$defs/Number"},
            {"type": "array", "items": {"$ref": "#/$defs/Value"}},
        ],
    },
}
_PLAIN = {
    bool: "boolean", int: "integer", ExitCode: "integer", float: "number", str: "string",
    type(None): "null",
}  # fmt: skip
_COMMENTED = re.compile(r"^ {4}(?P<name>\w+): .+?(?:  # (?P<beside>.+))?$")
_FIELD = re.compile(r"^ {4}(\w+): ((?:.|\n {8})+)$", re.MULTILINE)


def file_name(name: str) -> str:
    """The file of a schema."""
    return f"cudarun-{name}-1.schema.json"


def text(name: str) -> str:
    """The text of a schema's file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the documents ``cudarun/<name>/1``."""
    definitions: dict[str, Any] = {}
    const = {"const": f"cudarun/{name}/1"}
    choices = []
    for report in DOCUMENTS[name]:
        title = _NAMES.get(report.__name__) or _name(report, "Document")
        definitions[title] = _document(report, const, definitions)
        choices.append({"$ref": f"#/$defs/{title}"})
    head = _head(definitions)
    head["error"] = {"description": "The error.", "$ref": "#/$defs/Error"}
    definitions["ErrorDocument"] = _object(
        "The document of a command that ended in an error before there was a report.",
        head | {"schema": {"description": _SCHEMA_OF_ERRORS, "type": "string"} | const},
        is_whole=True,
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"cudarun/{name}/1",
        "oneOf": [*choices, {"$ref": "#/$defs/ErrorDocument"}],
        "$defs": dict(sorted(definitions.items())),
    }


def _name(record: type, ending: str = "") -> str:
    """The public name of a record."""
    stem = re.sub(r"(Report|Result)$", "", record.__name__)
    return f"{stem}{ending}" if ending else _NAMES.get(record.__name__, stem)


def _document(report: type, const: dict[str, str], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a document: its head, and the fields of the report."""
    inherited, own = _fields(report, definitions)
    field = {"schema": {"description": "The schema of this document."} | const}
    if report in _LINES:
        return _object(_LINES[report], inherited | own | field)
    own.pop("error", None)  # which is in the head
    return _object(_summary(report), _head(definitions) | inherited | field | own, is_whole=True)


def _head(definitions: dict[str, Any]) -> dict[str, Any]:
    """The fields that every document has."""
    shapes = {
        "exit_code": _schema_of(int, definitions),
        "error": _schema_of(CudarunError | None, definitions),
        "machine": _schema_of(Machine, definitions),
    }
    return {name: {"description": _HEAD[name]} | shape for name, shape in shapes.items()}


def _schema_of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; the records in it are added to ``definitions``."""
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if annotation in (object, _Number):
        definitions |= _SHARED if annotation is object else {"Number": _SHARED["Number"]}
        return {"$ref": f"#/$defs/{'Value' if annotation is object else 'Number'}"}
    if annotation is CudarunError:
        annotation = DescribedError
    if dataclasses.is_dataclass(annotation):
        record: Any = annotation
        name = _name(record)
        if name not in definitions:
            definitions[name] = {}  # it may hold itself
            inherited, own = _fields(record, definitions)
            definitions[name] |= _object(_summary(record), inherited | own)
        return {"$ref": f"#/$defs/{name}"}
    arguments = get_args(annotation)
    match get_origin(annotation):
        case origin if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": [*arguments]}
        case origin if origin in (Union, types.UnionType):
            return _union([_schema_of(member, definitions) for member in arguments])
        case origin if origin is tuple and arguments[1:] == (...,):
            return {"type": "array", "items": _schema_of(arguments[0], definitions)}
        case origin if origin is tuple:
            [item] = {*arguments}
            count = len(arguments)
            items = _schema_of(item, definitions)
            return {"type": "array", "items": items, "minItems": count, "maxItems": count}
        case origin if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    raise TypeError(f"{annotation} has no schema")


def _union(members: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a union: the shared definitions, the other records, then the plain types."""
    shared = [{"$ref": f"#/$defs/{name}"} for name in ("Value", "Number")]
    names = [member["type"] for member in members if {*member} == {"type"}]
    others = [member for member in members if {*member} != {"type"}]
    choices = sorted(others, key=lambda member: member not in shared)
    choices += [{"type": names[0] if len(names) == 1 else names}] if names else []
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _object(summary: str, fields: dict[str, Any], *, is_whole: bool = False) -> dict[str, Any]:
    """The schema of an object with exactly these fields, except those that can be omitted."""
    return {
        "description": summary,
        "type": "object",
        "properties": {
            name: {key: value for key, value in field.items() if key != "omitted"}
            for name, field in fields.items()
        },
        "required": [
            name
            for name, field in fields.items()
            if not ("omitted" in field if is_whole else _is_optional(field))
        ],
        "additionalProperties": False,
    }


def _is_optional(field: Mapping[str, Any]) -> bool:
    """Whether short documents omit a field: a detail, or one that can be null or empty."""
    kinds = [each.get("type") for each in (field, *field.get("anyOf", ()))]
    names = {name for kind in kinds for name in (kind if isinstance(kind, list) else [kind])}
    is_list = "array" in names and "minItems" not in field
    return "omitted" in field or is_list or bool(names & {"null", "object"})


def _fields(record: Any, definitions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schemas of the fields of a record: of its base classes, and its own."""
    hints = get_type_hints(record, localns=_TYPES)
    described = _descriptions(record)
    inherited: dict[str, Any] = {}
    own: dict[str, Any] = {}
    # A schema has the fields of base classes first, as it has no order.
    places = {field.name: place for place, field in enumerate(dataclasses.fields(record))}
    for name, field in sorted(document_fields(record), key=lambda each: places[each[1].name]):
        annotation = _PUBLISHED.get((record.__name__, field.name), hints[field.name])
        found = {"description": described[field.name]}
        if "detail" in field.metadata:
            found["omitted"] = True
        if beside := field.metadata.get("beside"):
            found["omitted"] = beside
            if beside == field.name and field.name != "lanes":
                annotation = _without_none(annotation)
        is_own = field.name in inspect.get_annotations(record)
        (own if is_own else inherited)[name] = found | _schema_of(annotation, definitions)
    return inherited, own


def _without_none(annotation: Any) -> Any:
    members = [member for member in get_args(annotation) if member is not type(None)]
    is_union = get_origin(annotation) in (Union, types.UnionType)
    return functools.reduce(operator.or_, members) if is_union else annotation


def _summary(record: type) -> str:
    """The first line of a record's docstring."""
    return _plain(inspect.cleandoc(record.__doc__ or "")).partition("\n")[0]


def _descriptions(record: type) -> dict[str, str]:
    """The text of each field of a record and its base classes: its comment, or in the docstring."""
    found: dict[str, str] = {}
    for each in reversed(record.__mro__[:-1]):
        described = _FIELD.findall(inspect.cleandoc(each.__doc__ or ""))
        for name, text in [*described, *_comments(inspect.getsource(each))]:
            found[name] = _plain(" ".join(text.split()))
    return found


def _comments(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each field with a comment beside or above it, which becomes a sentence."""
    above: list[str] = []
    for line in source.splitlines():
        field = _COMMENTED.match(line)
        if field and (text := field["beside"] or " ".join(above)):
            yield field["name"], f"{text[0].upper()}{text[1:].removesuffix('.')}."
        comment = line.partition("    # ")
        above = [] if comment[0] or not comment[2] else [*above, comment[2]]


def _plain(words: str) -> str:
    return words.replace("``None``", "null").replace("``", "")


def main() -> int:
    """Write the schemas, and say which of them changed."""
    TARGET.mkdir(exist_ok=True)
    for name in DOCUMENTS:
        path = TARGET / file_name(name)
        if not path.exists() or path.read_text() != text(name):
            path.write_text(text(name))
            print(f"wrote docs/reference/schemas/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
