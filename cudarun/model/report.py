"""The results of commands, which a renderer writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from cudarun.model.compare import ComparisonReport
    from cudarun.model.contexts import ContextsReport, ScriptReport, StepReport, VerifyReport
    from cudarun.model.devices import DevicesReport, DoctorReport
    from cudarun.model.exec import ExecReport
    from cudarun.model.fleet import FleetHost, FleetReport, NodeReport
    from cudarun.model.images import LinkReport, LoadReport, OfflineReport
    from cudarun.model.judge import JudgeReport
    from cudarun.model.launch import LaunchPlan, LaunchReport
    from cudarun.model.managed import ManagedReport
    from cudarun.model.record import LaunchListing, RecordReport
    from cudarun.model.spec import CaseReport, SpecListing, SpecReport

    Report: TypeAlias = (
        LaunchReport
        | LaunchPlan
        | SpecReport
        | SpecListing
        | LoadReport
        | OfflineReport
        | LinkReport
        | ManagedReport
        | ContextsReport
        | ScriptReport
        | VerifyReport
        | DevicesReport
        | DoctorReport
        | LaunchListing
        | RecordReport
        | ExecReport
        | JudgeReport
        | ComparisonReport
        | FleetReport
        | NodeReport
    )
    """The result of a command; ``tag`` says which."""

    Part: TypeAlias = CaseReport | StepReport | FleetHost
    """A result that is known before its report is complete; ``tag`` says which."""
