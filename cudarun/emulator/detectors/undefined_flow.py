"""The registers of a function that undefined values can reach, found before a launch.

Values are undefined in registers that may be read before they are written, and in the results of
shuffles, whose source lanes need not take part.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action, FunctionCode, Operation, RegisterUse, Site
from cudarun.emulator.decode.analysis import unwritten_registers
from cudarun.emulator.detectors.findings import AccessSite, Kind
from cudarun.emulator.machine.access import MemoryAction
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore
from cudarun.emulator.machine.warps import Shuffle


@dataclass(slots=True)
class Origin:
    """The source of undefined values."""

    kind: Kind  # the kind of findings
    slot: int | None = None  # the register; ``None`` for a shuffle
    # The first read of the register, or the first shuffle from a wrong lane.
    place: AccessSite | None = None


@dataclass(slots=True)
class UndefinedFlow:
    """The flow of undefined values in a function."""

    # By slot, a bit for each of the origins whose values the register may have.
    reach: dict[int, int] = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)
    # The number of the origin of each shuffle.
    shuffles: dict[Site, int] = field(default_factory=dict)

    @classmethod
    def of(cls, function: FunctionCode, detect: Collection[str]) -> UndefinedFlow:
        """Return the flow in a function from the origins of some detectors."""
        flow = cls()
        for slot in unwritten_registers(function) if "uninit" in detect else ():
            flow.reach[slot] = 1 << len(flow.origins)
            flow.origins.append(Origin("uninit", slot))
        operations = function.operations
        for operation in operations if "sync" in detect else ():
            if _is_shuffle(operation):
                flow.shuffles[operation.site] = len(flow.origins)
                flow.origins.append(Origin("sync"))
        flow._spread(operations)
        return flow

    def _spread(self, operations: list[Operation]) -> None:
        in_memory, before = 0, None
        while self.origins and before != (now := (in_memory, sum(self.reach.values()))):
            before = now
            for operation in operations:
                found = 0
                for use in operation.sources:
                    if isinstance(use, RegisterUse):
                        found |= self.reach.get(use.slot, 0)
                action = operation.action if isinstance(operation, Action) else None
                if isinstance(action, MemoryAction):
                    if isinstance(action, MemoryStore):
                        in_memory |= found
                    found = in_memory if isinstance(action, MemoryLoad) else 0
                elif _is_shuffle(operation) and operation.site in self.shuffles:
                    found |= 1 << self.shuffles[operation.site]
                for use in operation.destinations if found else ():
                    if isinstance(use, RegisterUse):
                        self.reach[use.slot] = self.reach.get(use.slot, 0) | found


def _is_shuffle(operation: Operation) -> bool:
    action = operation.action if isinstance(operation, Action) else None
    return isinstance(action, Shuffle) and bool(action.waits_for)
