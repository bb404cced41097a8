"""The documents of ``ctx show``, ``ctx run`` and ``ctx verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head, optional_error

if TYPE_CHECKING:
    from cudarun.report.context_types import (
        ContextInfo,
        ContextsReport,
        FactReport,
        ScriptReport,
        StepReport,
        VerifyReport,
    )
    from cudarun.report.schemas.contexts import (
        ContextRecord,
        ContextsDocument,
        FactRecord,
        ScriptDocument,
        StepRecord,
        VerifyDocument,
    )


def contexts_document(report: ContextsReport) -> ContextsDocument:
    """Return the document of ``ctx show``."""
    return {
        "schema": "cudarun/ctx-show/1",
        **head(report.exit_code, report.error),
        "outcomes": [
            {
                "device": outcome.device,
                "info": None if outcome.info is None else _context(outcome.info),
                "error": optional_error(outcome.error),
            }
            for outcome in report.outcomes
        ],
    }


def script_document(report: ScriptReport) -> ScriptDocument:
    """Return the document of ``ctx run``."""
    return {
        "schema": "cudarun/ctx-run/1",
        **head(report.exit_code, report.error),
        "script": report.script,
        "devices": [*report.devices],
        "steps": [_step(step) for step in report.steps],
        "output": report.output,
    }


def verify_document(report: VerifyReport) -> VerifyDocument:
    """Return the document of ``ctx verify``."""
    return {
        "schema": "cudarun/ctx-verify/1",
        **head(report.exit_code, None),
        "devices": [*report.devices],
        "facts": [_fact(fact) for fact in report.facts],
    }


def _context(info: ContextInfo) -> ContextRecord:
    return {
        "device": info.device,
        "name": info.name,
        "primary_active": info.primary_active,
        "primary_flags": [*info.primary_flags],
        "current_before": info.current_before,
        "made": info.made,
        "flags": [*info.flags],
        "api_version": info.api_version,
        "limits": info.limits,
        "cache_config": info.cache_config,
        "stream_priorities": info.stream_priorities,
        "milliseconds": info.milliseconds,
        "another_milliseconds": info.another_milliseconds,
        "another_bytes": info.another_bytes,
    }


def _step(step: StepReport) -> StepRecord:
    return {
        "number": step.number,
        "line": step.line,
        "thread": step.thread,
        "text": step.text,
        "call": step.call,
        "result": step.result,
        "code": step.code,
        "value": step.value,
        "expected": step.expected,
        "verdict": step.verdict,
        "milliseconds": step.milliseconds,
        "reason": "\n".join(step.remarks) or None,
        "stacks": [
            {
                "thread": stack.thread,
                "contexts": [
                    {"name": entry.name, "alive": entry.alive} for entry in stack.contexts
                ],
            }
            for stack in step.stacks
        ],
        "floating": [*step.floating],
    }


def _fact(fact: FactReport) -> FactRecord:
    return {
        "name": fact.name,
        "sentence": fact.sentence,
        "note": fact.note,
        "script": fact.script,
        "outcomes": [
            {
                "device": outcome.device,
                "verdict": outcome.verdict,
                "reason": outcome.reason,
                "steps": [_step(step) for step in outcome.steps],
            }
            for outcome in fact.outcomes
        ],
    }
