"""The documents of ``launch`` and ``launch --dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.devices import device_record
from cudarun.report.documents.engines import engine_records
from cudarun.report.documents.errors import diagnostic_records, error_record, head, optional_error
from cudarun.report.documents.values import number, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.report.check_types import CheckResult, Mismatch, ReferenceResult
    from cudarun.report.figure_types import (
        Figure,
    )
    from cudarun.report.run_types import (
        BaselineResult,
        SeededRun,
        SpeedResult,
        StateResult,
        TimingResult,
    )
    from cudarun.report.schemas.checks import CheckRecord, MismatchRecord
    from cudarun.report.schemas.launch import (
        BaselineRecord,
        BufferRecord,
        FigureRecord,
        KernelLaunchRecord,
        LaunchDocument,
        LaunchOutcomeRecord,
        LaunchResultRecord,
        MemoryRowRecord,
        ParameterRowRecord,
        PlanDocument,
        PlannedStepRecord,
        ProgramStepRecord,
        ReferenceRecord,
        SeededRunRecord,
        SpeedRecord,
        StateRecord,
        TimingRecord,
    )
    from cudarun.report.types import (
        BufferResult,
        DeviceOutcome,
        KernelLaunch,
        LaunchPlan,
        LaunchReport,
        LaunchResult,
        LayoutRow,
        MemoryRow,
        StepResult,
    )


def launch_document(report: LaunchReport) -> LaunchDocument:
    """Return the document of ``launch``."""
    return {
        "schema": "cudarun/launch/1",
        **head(report.exit_code, report.error),
        "image": report.image,
        "seed": report.seed,
        "outcomes": [_outcome(outcome) for outcome in report.outcomes],
    }


def plan_document(plan: LaunchPlan) -> PlanDocument:
    """Return the document of ``launch --dry-run``."""
    return {
        "schema": "cudarun/launch/1",
        **head(plan.exit_code, None),
        "image": plan.image,
        **_kernel_launch(plan),
        "parameter_bytes": plan.parameter_bytes,
        "diagnostics": diagnostic_records(plan.diagnostics),
        "steps": [_planned_step(step) for step in plan.steps],
    }


def _kernel_launch(launch: KernelLaunch) -> KernelLaunchRecord:
    return {
        "kernel": launch.kernel,
        "demangled": launch.demangled,
        "grid": launch.grid,
        "block": launch.block,
        "threads": launch.threads,
        "shared_bytes": launch.shared_bytes,
        "cluster": launch.cluster,
        "cooperative": launch.cooperative,
        "parameters": _parameters(launch.parameters),
        "memory": _memory(launch.memory),
    }


def _planned_step(step: LaunchPlan) -> PlannedStepRecord:
    return {
        "image": step.image,
        **_kernel_launch(step),
        "parameter_bytes": step.parameter_bytes,
    }


def result_record(result: LaunchResult) -> LaunchResultRecord:
    """Return a launch that came back."""
    record: LaunchResultRecord = {
        "device": device_record(result.device),
        **_kernel_launch(result),
        "buffers": [_buffer(buffer) for buffer in result.buffers],
        "checks": [_check(check) for check in result.checks],
        "reference": None if result.reference is None else _reference(result.reference),
        "prints": [
            {
                "expression": printed.expression,
                "text": printed.text,
                "value": plain(printed.value),
                "step": printed.step,
            }
            for printed in result.prints
        ],
        "figures": [_figure(figure) for figure in result.figures],
        "saved": [
            {"name": saved.name, "path": saved.path, "nbytes": saved.nbytes}
            for saved in result.saved
        ],
        "milliseconds": number(result.milliseconds),
        "timing": None if result.timing is None else _timing(result.timing),
        "diagnostics": diagnostic_records(result.diagnostics),
        "watched": None,
        "weaknesses": [*result.weaknesses],
        "errors": [error_record(error) for error in result.errors],
        "steps": [_step(step) for step in result.steps],
        "runs": _runs(result.runs),
        "input_sets": _runs(result.input_sets),
        "state": None if result.state is None else _state(result.state),
        "baseline": None if result.baseline is None else _baseline(result.baseline),
        "engines": engine_records(result.engines),
    }
    if result.watched is not None:
        from cudarun.report.documents.detectors import watched_record  # few launches have it

        record["watched"] = watched_record(result.watched)
    return record


def _step(step: StepResult) -> ProgramStepRecord:
    return {
        "image": step.image,
        **_kernel_launch(step),
        "times": step.times,
        "milliseconds": None if step.milliseconds is None else number(step.milliseconds),
        "timing": None if step.timing is None else _timing(step.timing),
    }


def _outcome(outcome: DeviceOutcome) -> LaunchOutcomeRecord:
    record: LaunchOutcomeRecord = {
        "device": outcome.device,
        "result": None if outcome.result is None else result_record(outcome.result),
        "error": optional_error(outcome.error),
        "output": outcome.output,
        "sanitizer": None,
    }
    if outcome.sanitizer is not None:
        from cudarun.report.documents.detectors import sanitizer_record  # few launches have it

        record["sanitizer"] = sanitizer_record(outcome.sanitizer)
    return record


def _parameters(rows: Sequence[LayoutRow]) -> list[ParameterRowRecord]:
    return [
        {
            "name": row.name,
            "type": row.type,
            "offset": row.offset,
            "size": row.size,
            "alignment": row.alignment,
            "padding_before": row.padding_before,
            "value": row.value,
        }
        for row in rows
    ]


def _memory(rows: Sequence[MemoryRow]) -> list[MemoryRowRecord]:
    return [
        {
            "name": row.name,
            "symbol": row.symbol,
            "space": row.space,
            "type": row.type,
            "nbytes": row.nbytes,
            "value": row.value,
        }
        for row in rows
    ]


def _buffer(buffer: BufferResult) -> BufferRecord:
    return {
        "name": buffer.name,
        "type": buffer.type,
        "shape": [*buffer.shape],
        "nbytes": buffer.nbytes,
        "never_written": buffer.never_written,
        "guard_damage": buffer.guard_damage,
    }


def _check(check: CheckResult) -> CheckRecord:
    return {
        "expression": check.expression,
        "passed": check.passed,
        "elements": check.elements,
        "mismatches": check.mismatches,
        "max_abs_error": number(check.max_abs_error),
        "max_rel_error": number(check.max_rel_error),
        "rtol": number(check.rtol),
        "atol": number(check.atol),
        "first": [_mismatch(mismatch) for mismatch in check.first],
        "worst": None if check.worst is None else _mismatch(check.worst),
        "location": check.location,
        "both_nan": check.both_nan,
        "long_sum": check.long_sum,
        "is_empty": check.is_empty,
        "evaluated": check.evaluated,
        "step": check.step,
    }


def _mismatch(mismatch: Mismatch) -> MismatchRecord:
    return {
        "index": [*mismatch.index],
        "got": mismatch.got,
        "expected": mismatch.expected,
        "operator": mismatch.operator,
    }


def _reference(reference: ReferenceResult) -> ReferenceRecord:
    return {
        "device": reference.device,
        "comparisons": [_check(comparison) for comparison in reference.comparisons],
        "is_itself": reference.is_itself,
    }


def _runs(runs: Sequence[SeededRun]) -> list[SeededRunRecord]:
    return [{"seed": run.seed, "failures": [*run.failures]} for run in runs]


def _state(state: StateResult) -> StateRecord:
    return {
        "comparisons": [_check(comparison) for comparison in state.comparisons],
        "changed": [*state.changed],
    }


def _baseline(baseline: BaselineResult) -> BaselineRecord:
    return {
        "kernel": baseline.kernel,
        "comparisons": [_check(comparison) for comparison in baseline.comparisons],
        "timing": None if baseline.timing is None else _timing(baseline.timing),
        "speed": None if baseline.speed is None else _speed(baseline.speed),
    }


def _speed(speed: SpeedResult) -> SpeedRecord:
    return {
        "ratio": number(speed.ratio),
        "low": number(speed.low),
        "high": number(speed.high),
        "confidence": speed.confidence,
        "p_value": number(speed.p_value),
        "is_significant": speed.is_significant,
    }


def _figure(figure: Figure) -> FigureRecord:
    record: FigureRecord = {
        "name": figure.name,
        "kind": figure.kind,
        "minimum": figure.minimum,
        "maximum": figure.maximum,
        "not_finite": figure.not_finite,
        "series": [],
    }
    match figure.kind:
        case "hist":
            record["series"] = [*figure.series]
        case "plot":
            record["series"] = [*figure.series]
        case "image":
            record["series"] = [[*row] for row in figure.series]
    return record


def _timing(timing: TimingResult) -> TimingRecord:
    return {
        "clock": timing.clock,
        "samples": [number(sample) for sample in timing.samples],
        "warmup": timing.warmup,
        "flushed_bytes": timing.flushed_bytes,
        "minimum": number(timing.minimum),
        "median": number(timing.median),
        "mean": number(timing.mean),
        "deviation": number(timing.deviation),
        "percentiles": {percent: number(value) for percent, value in timing.percentiles.items()},
        "noisy": timing.noisy,
        "throttled": None if timing.throttled is None else [*timing.throttled],
        "gigabytes_per_second": number(timing.gigabytes_per_second),
        "gigaflops_per_second": number(timing.gigaflops_per_second),
        "rates_left_out": timing.rates_left_out,
    }
