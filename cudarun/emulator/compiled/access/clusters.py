"""The code of the instructions for addresses in the blocks of a cluster, and of these addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.lanes.lowering import LaneFunctions, LaneType, lane_type, results_of
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, splat
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.machine.clusters import MapAddress, RankOfAddress
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.numerics.types import TYPES

OWN_RANK = "%cluster_ctarank"

_OFFSET = (1 << RANK_SHIFT) - 1
_SIGN = 1 << 63


def maps_addresses(function: FunctionCode) -> bool:
    """Return whether a function has ``mapa``: other functions hardly access other blocks."""
    return any(
        isinstance(operation, Action) and isinstance(operation.action, MapAddress)
        for operation in function.operations
    )


class ClusterAddresses(NamedTuple):
    """Addresses that may be in the shared memory of other blocks of the cluster.

    Attributes:
        within: The offsets in the shared memory of any block, or in other memory.
        ahead: How far that memory is from the own block's.
        unknown: Not 0 where there is no such block.
    """

    within: LaneVector
    ahead: LaneVector
    unknown: LaneVector


def in_cluster(
    code: CodeBuilder, entry: str, relative: LaneVector, own: LaneVector
) -> ClusterAddresses:
    """Return the addresses of an access, as ``machine/clusters.py`` reads them.

    Args:
        code: Where the code goes.
        entry: The cache entry.
        relative: The addresses, relative to those of the entry.
        own: The rank of the block.
    """
    stride = field(code, entry, layout.CLUSTER_STRIDE, "i64")
    other = code.scalar(f"icmp eq i64 {stride}, 0")
    bits = code.broadcast("i64", code.scalar(f"select i1 {other}, i64 -1, i64 {_OFFSET}"))
    within = code.binary("and", relative, bits)
    rank = code.binary("lshr", code.binary("xor", relative, within), splat("i64", RANK_SHIFT))
    blocks = code.broadcast("i64", field(code, "%ctx", layout.CLUSTER, "i64"))
    one = splat("i64", 1)
    difference = code.binary("sub", code.binary("sub", rank, one), code.cast("zext", own, "i64"))
    ahead = code.binary("mul", difference, code.broadcast("i64", stride))
    here = code.compare("eq", rank, splat("i64", 0))
    ahead = code.select(here, splat("i64", 0), ahead)
    unknown = code.binary("and", code.binary("sub", blocks, rank), splat("i64", _SIGN))
    return ClusterAddresses(within, ahead, unknown)


class ClusterOperations(LoweringRules):
    """The code of ``mapa`` and ``getctarank``.

    Args:
        code: Where it goes.
        registers: The registers.
        functions: The functions over lanes of the module.
    """

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, functions: LaneFunctions
    ) -> None:
        super().__init__(code, registers)
        self._functions = functions

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
