"""The documents of ``load``, ``load --offline`` and ``link``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.devices import device_record
from cudarun.report.documents.errors import diagnostic_records, head, optional_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.report.image_types import (
        FileReport,
        KernelReport,
        LinkReport,
        LoaderReport,
        LoadOutcome,
        LoadReport,
        LoadResult,
        OfflineReport,
        RefusedKernel,
        VariableReport,
    )
    from cudarun.report.schemas.images import (
        FileRecord,
        ImageVariableRecord,
        KernelRecord,
        LinkDocument,
        LoadDocument,
        LoaderRecord,
        LoadOutcomeRecord,
        LoadResultRecord,
        OfflineDocument,
        RefusedKernelRecord,
    )


def load_document(report: LoadReport) -> LoadDocument:
    """Return the document of ``load``."""
    return {
        "schema": "cudarun/load/1",
        **head(report.exit_code, report.error),
        "outcomes": [_outcome(outcome) for outcome in report.outcomes],
    }


def offline_document(report: OfflineReport) -> OfflineDocument:
    """Return the document of ``load --offline``."""
    return {
        "schema": "cudarun/load/1",
        **head(report.exit_code, report.error),
        "files": [_file(file) for file in report.files],
    }


def link_document(report: LinkReport) -> LinkDocument:
    """Return the document of ``link``."""
    return {
        "schema": "cudarun/link/1",
        **head(report.exit_code, report.error),
        "output": report.output,
        "linker": report.linker,
        "target": report.target,
        "inputs": [
            {"name": given.name, "kind": given.kind, "size": given.size} for given in report.inputs
        ],
        "milliseconds": report.milliseconds,
        "size": report.size,
        "kind": report.kind,
        "kernels": _kernels(report.kernels),
        "variables": _variables(report.variables),
        "info_log": report.info_log,
        "diagnostics": diagnostic_records(report.diagnostics),
        "loads": [_outcome(outcome) for outcome in report.loads],
    }


def _outcome(outcome: LoadOutcome) -> LoadOutcomeRecord:
    return {
        "image": outcome.image,
        "label": outcome.label,
        "verdict": outcome.verdict,
        "device": None if outcome.device is None else device_record(outcome.device),
        "results": [_result(result) for result in outcome.results],
        "error": optional_error(outcome.error),
        "output": outcome.output,
    }


def _result(result: LoadResult) -> LoadResultRecord:
    return {
        "image": result.image,
        "ways": [_loader(loader) for loader in result.loaders],
        "kernels": _kernels(result.kernels),
        "refusals": [_refusal(kernel) for kernel in result.refusals],
        "variables": None if result.variables is None else _variables(result.variables),
        "differences": [*result.differences],
        "diagnostics": diagnostic_records(result.diagnostics),
        "fatbin": result.fatbin,
        "target": result.target,
        "verdict": result.verdict,
        "error": optional_error(result.failure),
    }


def _refusal(kernel: RefusedKernel) -> RefusedKernelRecord:
    return {"name": kernel.name, "demangled": kernel.demangled, "reasons": [*kernel.reasons]}


def _loader(loader: LoaderReport) -> LoaderRecord:
    return {
        "via": loader.via,
        "before_contexts": loader.before_contexts,
        "load_calls": loader.load_calls,
        "load_milliseconds": loader.load_milliseconds,
        "context_calls": loader.context_calls,
        "context_milliseconds": loader.context_milliseconds,
        "memory_bytes": loader.memory_bytes,
        "handles": [
            {"name": handle.name, "kernel": handle.kernel, "function": handle.function}
            for handle in loader.handles
        ],
        "info_log": loader.info_log,
        "silence": loader.silence,
        "error": optional_error(loader.error),
    }


def _kernels(kernels: Sequence[KernelReport]) -> list[KernelRecord]:
    return [_kernel(kernel) for kernel in kernels]


def _kernel(kernel: KernelReport) -> KernelRecord:
    found = kernel.occupancy
    return {
        "name": kernel.name,
        "demangled": kernel.demangled,
        "parameters": [
            {
                "index": parameter.index,
                "offset": parameter.offset,
                "size": parameter.size,
                "alignment": parameter.alignment,
                "type": parameter.type,
                "name": parameter.name,
            }
            for parameter in kernel.parameters
        ],
        "registers": kernel.registers,
        "shared_bytes": kernel.shared_bytes,
        "const_bytes": kernel.const_bytes,
        "local_bytes": kernel.local_bytes,
        "max_threads": kernel.max_threads,
        "max_dynamic_shared": kernel.max_dynamic_shared,
        "required_block": kernel.required_block,
        "required_cluster": kernel.required_cluster,
        "binary_version": kernel.binary_version,
        "ptx_version": kernel.ptx_version,
        "is_loaded": kernel.is_loaded,
        "occupancy": None
        if found is None
        else {
            "block": found.block,
            "blocks": found.blocks,
            "threads": found.threads,
            "share": found.share,
        },
        "is_estimated": kernel.is_estimated,
        "launch": kernel.launch,
    }


def _variables(variables: Sequence[VariableReport]) -> list[ImageVariableRecord]:
    return [
        {
            "name": variable.name,
            "demangled": variable.demangled,
            "space": variable.space,
            "size": variable.size,
            "managed": variable.managed,
            "type": variable.type,
            "address": variable.address,
        }
        for variable in variables
    ]


def _file(file: FileReport) -> FileRecord:
    return {
        "image": file.image,
        "kind": file.kind,
        "size": file.size,
        "targets": [*file.targets],
        "ptx_version": file.ptx_version,
        "toolkit": file.toolkit,
        "is_relocatable": file.is_relocatable,
        "kernels": _kernels(file.kernels),
        "variables": _variables(file.variables),
        "externs": [*file.externs],
        "relocations": file.relocations,
        "fatbins": file.fatbins,
        "summary": [
            {
                "target": line.target,
                "kind": line.kind,
                "parts": line.parts,
                "kernels": line.kernels,
                "size": line.size,
                "stored": line.stored,
                "unread": line.unread,
            }
            for line in file.summary
        ],
        "parts": [
            {
                "number": part.number,
                "fatbin": part.fatbin,
                "kind": part.kind,
                "target": part.target,
                "size": part.size,
                "stored": part.stored,
                "unread": part.unread,
                "kernels": _kernels(part.kernels),
            }
            for part in file.parts
        ],
        "diagnostics": diagnostic_records(file.diagnostics),
        "error": optional_error(file.error),
    }
