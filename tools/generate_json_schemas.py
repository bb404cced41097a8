"""Write ``docs/reference/schemas``: the JSON Schemas of `cudarun.report.schemas`."""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
from pathlib import Path
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from cudarun.report.schemas.compare import ComparisonDocument
from cudarun.report.schemas.contexts import ContextsDocument, ScriptDocument, VerifyDocument
from cudarun.report.schemas.devices import DevicesDocument, DoctorDocument
from cudarun.report.schemas.errors import ErrorDocument, Head
from cudarun.report.schemas.fleet import FleetDocument, NodeDocument
from cudarun.report.schemas.images import LinkDocument, LoadDocument, OfflineDocument
from cudarun.report.schemas.launch import KernelLaunchRecord, LaunchDocument, PlanDocument
from cudarun.report.schemas.managed import ManagedDocument
from cudarun.report.schemas.record import LaunchListingDocument, RecordDocument
from cudarun.report.schemas.spec import (
    CandidateDocument,
    CandidateRecord,
    CaseDocument,
    CaseRecord,
    ListingDocument,
    SpecDocument,
)
from cudarun.report.schemas.values import Number, Value

_BASES = (KernelLaunchRecord, Head, CaseRecord, CandidateRecord)
"""Records with fields of several others; at run time a record does not know its bases."""
TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas"

DOCUMENTS: dict[str, tuple[type, ...]] = {
    "compare": (ComparisonDocument,),
    "ctx": (),
    "ctx-run": (ScriptDocument,),
    "ctx-show": (ContextsDocument,),
    "ctx-verify": (VerifyDocument,),
    "cudarun": (),
    "devices": (DevicesDocument,),
    "devices-doctor": (DoctorDocument,),
    "fleet": (FleetDocument,),
    "fleet-node": (NodeDocument,),
    "launch": (LaunchDocument, PlanDocument),
    "launch-candidate": (CandidateDocument,),
    "launch-case": (CaseDocument,),
    "launch-spec": (SpecDocument,),
    "launch-spec-list": (ListingDocument,),
    "link": (LinkDocument,),
    "load": (LoadDocument, OfflineDocument),
    "managed": (ManagedDocument,),
    "record": (RecordDocument,),
    "record-list": (LaunchListingDocument,),
}
"""By the name of a schema, the documents that it describes beside that of an error alone."""

_ALIASES = {"Number": Number, "Value": Value}
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
_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
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
    documents = [*DOCUMENTS[name], ErrorDocument]
    choices = [_schema_of(document, definitions) for document in documents]
    definitions["ErrorDocument"]["properties"]["schema"]["const"] = f"cudarun/{name}/1"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"cudarun/{name}/1",
        "oneOf": choices,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema_of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; the records in it are added to ``definitions``."""
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if is_typeddict(annotation):
        name = annotation.__name__.removesuffix("Record")
        if name not in definitions:
            definitions[name] = {}  # it may hold itself
            definitions[name] |= _object(annotation, definitions)
        return {"$ref": f"#/$defs/{name}"}
    arguments = get_args(annotation)
    match get_origin(annotation):
        case origin if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": [*arguments]}
        case origin if origin in (Union, types.UnionType):
            return _union(arguments, definitions)
        case origin if origin is list:
            return {"type": "array", "items": _schema_of(arguments[0], definitions)}
        case origin if origin is tuple:
            [item] = set(arguments)
            count = len(arguments)
            items = _schema_of(item, definitions)
            return {"type": "array", "items": items, "minItems": count, "maxItems": count}
        case origin if origin is dict:
            return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    raise TypeError(f"{annotation} has no schema")


def _union(members: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a union, whose aliases are recognized by their members."""
    left, choices = [*members], []
    for name in ("Value", "Number"):
        alias = get_args(_ALIASES[name])
        if set(alias) <= set(left):
            left = [member for member in left if member not in alias]
            choices.append({"$ref": f"#/$defs/{name}"})
            definitions |= _SHARED if name == "Value" else {"Number": _SHARED["Number"]}
    found = [_schema_of(member, definitions) for member in left]
    names = [choice["type"] for choice in found if set(choice) == {"type"}]
    others = [choice for choice in found if set(choice) != {"type"}]
    simple = [{"type": names[0] if len(names) == 1 else names}] if names else []
    choices += [*others, *simple]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _object(record: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a record, with the texts of its docstring."""
    summary, fields = _texts(record)
    hints = get_type_hints(record, include_extras=True)
    for base in _BASES:
        if set(base.__annotations__) < set(hints):
            fields = _texts(base)[1] | fields
    if set(hints) != set(fields):
        raise ValueError(f"{record.__name__}: {set(hints) ^ set(fields)} described or there alone")
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    return {
        "description": summary,
        "type": "object",
        "properties": {
            name: {"description": fields[name]}
            | _schema_of(get_args(hints[name])[0] if name in optional else hints[name], definitions)
            for name in fields
        },
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def _texts(record: type) -> tuple[str, dict[str, str]]:
    """The first line of a record's docstring, and the text of each field."""
    text = inspect.cleandoc(record.__doc__ or "").replace("``", "")
    fields = {name: " ".join(words.split()) for name, words in _FIELD.findall(text)}
    return text.partition("\n")[0], fields


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
