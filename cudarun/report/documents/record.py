"""The documents of ``record``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head

if TYPE_CHECKING:
    from cudarun.report.record_types import (
        LaunchListing,
        ListedLaunches,
        RecordedFile,
        RecordReport,
    )
    from cudarun.report.schemas.record import (
        LaunchListingDocument,
        ListedLaunchesRecord,
        RecordDocument,
        RecordedFileRecord,
    )


def launch_listing_document(report: LaunchListing) -> LaunchListingDocument:
    """Return the document of ``record --list``."""
    return {
        "schema": "cudarun/record-list/1",
        **head(report.exit_code, None),
        "program_status": report.program_status,
        "launches": [_listed(each) for each in report.rows],
        "notes": [*report.notes],
    }


def record_document(report: RecordReport) -> RecordDocument:
    """Return the document of ``record``."""
    return {
        "schema": "cudarun/record/1",
        **head(report.exit_code, report.error),
        "program_status": report.program_status,
        "files": [_file(each) for each in report.files],
        "notes": [*report.notes],
    }


def _listed(each: ListedLaunches) -> ListedLaunchesRecord:
    return {
        "kernel": each.kernel,
        "demangled": each.demangled,
        "grid": [*each.grid],
        "block": [*each.block],
        "shared_bytes": each.shared_bytes,
        "launches": each.launches,
        "measured": each.measured,
        "milliseconds": each.milliseconds,
        "in_graph": each.in_graph,
    }


def _file(each: RecordedFile) -> RecordedFileRecord:
    return {
        "path": each.path,
        "kernel": each.kernel,
        "demangled": each.demangled,
        "ordinal": each.ordinal,
        "grid": [*each.grid],
        "block": [*each.block],
        "ranges": each.ranges,
        "memory_bytes": each.memory_bytes,
        "file_bytes": each.file_bytes,
        "has_ptx": each.has_ptx,
        "status": each.status,
    }
