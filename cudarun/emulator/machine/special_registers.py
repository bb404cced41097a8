"""Special registers (PTX manual chapter 10): their types and the extent of one value."""

from __future__ import annotations

import time
from enum import Enum, auto

from cudarun.base.records import dataclass
from cudarun.emulator.numerics.arrays import Arrays


class Extent(Enum):
    """The threads for which a special register has one value."""

    LAUNCH = auto()
    BLOCK = auto()
    LANE = auto()
    MOMENT = auto()


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """One special register."""

    type: str
    extent: Extent


_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid",
            "cluster_nctaid")  # fmt: skip
_RESERVED = ("begin", "end", "cap", "0", "1")


def _registers() -> dict[str, SpecialRegister]:
    def rows(extent: Extent, ptx_type: str, names: str) -> dict[str, SpecialRegister]:
        return {f"%{name}": SpecialRegister(ptx_type, extent) for name in names.split()}

    def of(names: str) -> str:
        return " ".join(f"{name}.{axis}" for name in names.split() for axis in "xyz")

    launch, block, lane = Extent.LAUNCH, Extent.BLOCK, Extent.LANE
    return {
        **rows(lane, "u32", of("tid")),
        **rows(launch, "u32", of("ntid nctaid")),
        **rows(block, "u32", of("ctaid")),
        **rows(lane, "u32", "laneid warpid"),
        **rows(launch, "u32", "nwarpid nsmid"),
        **rows(block, "u32", "smid"),
        **rows(launch, "u64", "gridid"),
        **rows(lane, "u32", "lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt"),
        **rows(launch, "u32", "dynamic_smem_size total_smem_size aggr_smem_size"),
        **rows(launch, "pred", "is_explicit_cluster"),
        **rows(block, "u32", of("clusterid cluster_ctaid")),
        **rows(launch, "u32", of("nclusterid cluster_nctaid")),
        **rows(block, "u32", "cluster_ctarank"),
        **rows(launch, "u32", "cluster_nctarank"),
        **rows(launch, "u64", "current_graph_exec"),
        **rows(launch, "u32", " ".join(f"{name}.w" for name in _VECTORS)),
        **rows(launch, "u32", " ".join(f"reserved_smem_offset_{part}" for part in _RESERVED)),
        **rows(launch, "u32", " ".join(f"pm{number}" for number in range(8))),
        **rows(launch, "u64", " ".join(f"pm{number}_64" for number in range(8))),
        **rows(launch, "u32", " ".join(f"envreg{number}" for number in range(32))),
        **rows(Extent.MOMENT, "u32", "clock clock_hi globaltimer_lo globaltimer_hi"),
        **rows(Extent.MOMENT, "u64", "clock64 globaltimer"),
    }


SPECIAL_REGISTERS = _registers()


def components_of(name: str) -> tuple[str, ...]:
    """Return the components of a special register that is a vector of four, as ``%tid``."""
    if name[1:] not in _VECTORS:
        return ()
    return tuple(f"{name}.{axis}" for axis in "xyzw")


class ReadMoment:
    """A read of a register that changes while a kernel runs.

    The emulated device's clock ticks once per nanosecond.
    """

    def __init__(self, name: str) -> None:
        self.is_global = "globaltimer" in name  # whether it reads the time of day
        self.is_high = name.endswith("_hi")  # whether it reads the upper 32 of 64 bits

    def __call__(self, active: object, sources: Arrays, destinations: Arrays) -> None:
        """Write the time to the register, the same for all lanes."""
        now = time.time_ns() if self.is_global else time.perf_counter_ns()
        if self.is_high:
            now >>= 32
        (destination,) = destinations
        destination[...] = now & ((1 << 8 * destination.itemsize) - 1)
