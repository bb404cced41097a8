"""The detector of uninitialized reads of shared, local and global memory, byte by byte.

Uninitialized bytes of global memory are kept across launches (`Allocation.unwritten`); shared
memory is new with every block, local memory with every call. Variables of a module have initial
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.detectors.findings import (
    AccessedBytes,
    AccessSite,
    DetectorFinding,
    FindingTable,
    shared_bytes,
)
from cudarun.emulator.detectors.footprints import Footprint, footprints
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine.access import Access, Section, mark_written, unwritten_units
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.lanes import Lanes
    from cudarun.emulator.machine.launch import Launch


class UninitializedReadDetector(Detector):
    """A detector of uninitialized reads in one launch."""

    def __init__(self, launch: Launch, findings: FindingTable) -> None:
        self._launch = launch
        self._findings = findings
        self._unwritten: dict[Section, Array] = {}  # as in an allocation

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Mark shared memory of new blocks as uninitialized."""
        for name in ("shared", "local"):
            section = batch.section(name)
            if section in self._unwritten:
                self._unwritten[section] = self._new(section)

    def _new(self, section: Section) -> Array:
        """Return marks of memory that is uninitialized, except where the system reserves it."""
        unwritten = np.ones(len(section.bytes), dtype=np.uint8)
        if section.name == "shared":
            blocks = unwritten.reshape(-1, self._launch.shared_stride)
            blocks[:, : self._launch.reserved_bytes] = 0
        return unwritten

    def stack_grows(self, batch: Batch, lanes: Lanes, start: Array, size: Array | int) -> None:
        """Mark allocated local memory as uninitialized."""
        section = batch.section("local")
        unwritten = self._unwritten.get(section)
        if unwritten is None:  # no access to it has been observed
            return
        assert section.starts is not None
        first = section.starts[lanes] + start.astype(np.int64)
        sizes = np.broadcast_to(size, first.shape)
        for bytes_of_each in np.unique(sizes):
            same = first[sizes == bytes_of_each]
            unwritten[same[:, None] + np.arange(int(bytes_of_each))] = 1

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """See `Detector`."""
        for part in footprints(access, active, addresses):
            unwritten = self._unwritten_in(part)
            if unwritten is None:
                continue
            if access.reads:
                self._check(access, site, active, part, unwritten)
            if access.writes:
                mark_written(unwritten, part.offsets, access.bytes)

    def _unwritten_in(self, part: Footprint) -> Array | None:
        if not isinstance(part.region, Section):
            return part.region.unwritten
        if part.space == "param":
            return None
        if part.region not in self._unwritten:
            self._unwritten[part.region] = self._new(part.region)
        return self._unwritten[part.region]

    def _check(
        self, access: Access, site: Site, active: Active, part: Footprint, unwritten: Array
    ) -> None:
        bad = np.flatnonzero(_any_unwritten(unwritten, part.offsets, access.bytes))
        if not len(bad) or self._findings.known("uninit", (site,), len(bad)):
            return
        first = int(bad[0])
        offset = int(part.offsets[first])
        inside = np.flatnonzero(unwritten[offset : offset + access.bytes])
        lane = active.lane(first if part.positions is None else int(part.positions[first]))
        place = AccessSite(access.kind.value, site, *active.batch.threads.coordinates(lane))
        memory = self._memory(part, lane, offset + int(inside[0]), len(inside))
        name = self._launch.kernel.name
        self._findings.add(DetectorFinding("uninit", name, memory, (place,), len(bad)))

    def _memory(self, part: Footprint, lane: int, offset: int, size: int) -> AccessedBytes:
        region = part.region
        if not isinstance(region, Section):
            return AccessedBytes("global", region.base + offset, size, region.label, offset)
        if region.name == "local":
            offset -= lane * self._launch.local_stride
            return AccessedBytes("local", offset, size, "", offset)
        return shared_bytes(self._launch, offset, size)


def _any_unwritten(unwritten: Array, offsets: Array, size: int) -> Array:
    units, places = unwritten_units(unwritten, offsets, size)
    bad: Array = units[places[0]] != 0
    for place in places[1:]:
        bad |= units[place] != 0
    return bad
