"""Reports as JSON documents: the conversions to the shapes of `cudarun.report.schemas`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cudarun.report.renderer import Report


def document(report: Report) -> Mapping[str, object]:
    """Return the document of a report. Only the modules that it needs are imported."""
    match report.tag:
        case "launch":
            from cudarun.report.documents.launch import launch_document

            return launch_document(report)
        case "launch-plan":
            from cudarun.report.documents.launch import plan_document

            return plan_document(report)
        case "launch-spec":
            from cudarun.report.documents.spec import spec_document

            return spec_document(report)
        case "launch-spec-list":
            from cudarun.report.documents.spec import listing_document

            return listing_document(report)
        case "load":
            from cudarun.report.documents.images import load_document

            return load_document(report)
        case "load-offline":
            from cudarun.report.documents.images import offline_document

            return offline_document(report)
        case "link":
            from cudarun.report.documents.images import link_document

            return link_document(report)
        case "managed":
            from cudarun.report.documents.managed import managed_document

            return managed_document(report)
        case "ctx-show":
            from cudarun.report.documents.contexts import contexts_document

            return contexts_document(report)
        case "ctx-run":
            from cudarun.report.documents.contexts import script_document

            return script_document(report)
        case "ctx-verify":
            from cudarun.report.documents.contexts import verify_document

            return verify_document(report)
        case "devices":
            from cudarun.report.documents.devices import devices_document

            return devices_document(report)
        case "compare":
            from cudarun.report.documents.compare import comparison_document

            return comparison_document(report)
        case "fleet":
            from cudarun.report.documents.fleet import fleet_document

            return fleet_document(report)
        case "fleet-node":
            from cudarun.report.documents.fleet import node_document

            return node_document(report)
        case "devices-doctor":
            from cudarun.report.documents.devices import doctor_document

            return doctor_document(report)
        case "record-list":
            from cudarun.report.documents.record import launch_listing_document

            return launch_listing_document(report)
        case "record":
            from cudarun.report.documents.record import record_document

            return record_document(report)
