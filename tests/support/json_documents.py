"""The check that a JSON document is as its schema says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"


def validate(document: Any) -> None:
    """Demand that a document is valid under the published schema that it names."""
    error = best_match(_validator(document["schema"]).iter_errors(document))
    if error is not None:
        raise AssertionError(f"{document['schema']} at {error.json_path}: {error.message}")


@cache
def _validator(schema: str) -> Draft202012Validator:
    path = SCHEMAS / f"{schema.replace('/', '-')}.schema.json"
    return Draft202012Validator(json.loads(path.read_text()))
