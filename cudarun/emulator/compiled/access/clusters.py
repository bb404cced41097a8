"""The code of the instructions for addresses in the blocks of a cluster."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.lanes.lowering import LaneFunctions, LaneType, lane_type, results_of
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.machine.clusters import MapAddress, RankOfAddress
from cudarun.emulator.numerics.types import TYPES

OWN_RANK = "%cluster_ctarank"


def maps_addresses(function: FunctionCode) -> bool:
    """Return whether a function has ``mapa``: other functions hardly access other blocks."""
    return any(
        isinstance(operation, Action) and isinstance(operation.action, MapAddress)
        for operation in function.operations
    )


class ClusterOperations(LoweringRules):
    """The code of ``mapa`` and ``getctarank``."""

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, functions: LaneFunctions
    ) -> None:
        super().__init__(code, registers)
        self._functions = functions  # the functions over lanes of the module

    def map_address(self, operation: Action, mask: str) -> None:
        """Compile ``mapa``."""
        action = operation.action
        assert isinstance(action, MapAddress)
        self._call(operation, action.map)

    def rank_of_address(self, operation: Action, mask: str) -> None:
        """Compile ``getctarank``."""
        action = operation.action
        assert isinstance(action, RankOfAddress)
        self._call(operation, action.rank, self._registers.block_register(OWN_RANK))

    def _call(self, operation: Action, function: Callable[..., object], *more: LaneVector) -> None:
        """Write what a function over lanes returns, of the sources and more words."""
        words = (LaneType(TYPES["u32"].dtype),) * len(more)
        sources = (*map(lane_type, operation.sources), *words)
        kinds = tuple(map(lane_type, operation.destinations))
        name = self._functions.name(function, sources, kinds)
        given = [*self._sources(operation), *more]
        self._finish(operation, results_of(self._code, name, given, kinds))
