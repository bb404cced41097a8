"""The document of ``managed``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import diagnostic_records, head
from cudarun.report.documents.values import plain

if TYPE_CHECKING:
    from cudarun.report.managed_types import (
        ManagedReport,
        ManagedVariable,
        Observation,
        ObservedValue,
    )
    from cudarun.report.schemas.managed import (
        ManagedDocument,
        ManagedVariableRecord,
        ObservationRecord,
        ReadValueRecord,
    )


def managed_document(report: ManagedReport) -> ManagedDocument:
    """Return the document of ``managed``."""
    return {
        "schema": "cudarun/managed/1",
        **head(report.exit_code, report.error),
        "image": report.image,
        "places": [{"device": place.device, "context": place.context} for place in report.places],
        "variables": [_variable(variable) for variable in report.variables],
        "output": report.output,
        "diagnostics": diagnostic_records(report.diagnostics),
    }


def _variable(variable: ManagedVariable) -> ManagedVariableRecord:
    return {
        "name": variable.name,
        "demangled": variable.demangled,
        "managed": variable.managed,
        "type": variable.type,
        "size": variable.size,
        "addresses": [*variable.addresses],
        "observations": [_observation(observation) for observation in variable.observations],
    }


def _observation(observation: Observation) -> ObservationRecord:
    return {
        "moment": observation.moment,
        "host": None if observation.host is None else _value(observation.host),
        "places": [_value(seen) for seen in observation.places],
    }


def _value(seen: ObservedValue) -> ReadValueRecord:
    return {"text": seen.text, "value": plain(seen.value)}
