"""The findings of the race detector: where the accesses are, and what is missing between them."""

from __future__ import annotations

from cudarun.emulator.code import Site
from cudarun.emulator.detectors.agents import FIRST_AGENT, Agents
from cudarun.emulator.detectors.findings import (
    AccessSite,
    FindingTable,
    accessed_bytes,
    shared_bytes,
)
from cudarun.emulator.detectors.grid_history import GridHistory
from cudarun.emulator.detectors.vector_clocks import THREAD_BITS, THREAD_MASK
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Region
from cudarun.emulator.machine.threads import place_of_thread
from cudarun.emulator.numerics.arrays import Array

WAITS = {
    "cp.async": "cp.async.wait_group of the copying thread",
    "bulk read": "cp.async.bulk.wait_group.read of the copying thread",
    "bulk write": "cp.async.bulk.wait_group of the copying thread",
    "mbarrier": "wait on the mbarrier",
    "st.async": "wait on the mbarrier",
    "wgmma": "wgmma.wait_group",
    "tcgen05": "wait for tcgen05.commit",
    "tcgen05.ld": "tcgen05.wait::ld",
    "tcgen05.st": "tcgen05.wait::st",
}


class RaceReporter:
    """Adds races to the findings of a launch."""

    def __init__(
        self, launch: Launch, findings: FindingTable, history: GridHistory, agents: Agents
    ) -> None:
        self._launch = launch
        self._findings = findings
        self._history = history  # the accesses of this and other grids
        self._clock = history.order.clock
        self._agents = agents  # the asynchronous operations
        history.add(launch, agents)

    def pairs(
        self,
        earlier: Array,
        later: Array,
        at: tuple[Site, Access],
        memory: tuple[Region, Array, int],
        problem: str = "",
    ) -> None:
        """Report races.

        Args:
            earlier: The earlier accesses: the timestamp and the thread of each.
            later: The later ones.
            at: The instruction of the later ones.
            memory: The region, the first byte of each pair in it, and the number of bytes.
            problem: What is missing; by default it depends on the accesses.
        """
        site, access = at
        for first_site, first_access, those in self._clock.by_site(earlier):
            one, other = int(earlier[those[0]]), int(later[those[0]])
            missing = problem or self._missing((first_access, one), (access, other))
            places = self._place(first_access, first_site, one), self._place(access, site, other)
            region, offsets, size = memory
            bytes_ = accessed_bytes(self._launch, region, int(offsets[those[0]]), size)
            self._findings.add(self._launch, "race", bytes_, places, len(those), missing)

    def lifetimes(self, words: Array, problem: str, offsets: Array) -> None:
        """Report accesses to shared memory of blocks that may not be there.

        Args:
            words: The accesses: the timestamp and the thread of each.
            problem: What is missing.
            offsets: The first byte of each in the section of shared memory.
        """
        for site, access, those in self._clock.by_site(words):
            place = self._place(access, site, int(words[those[0]]))
            memory = shared_bytes(self._launch, int(offsets[those[0]]), access.bytes)
            self._findings.add(self._launch, "race", memory, (place,), len(those), problem)

    def _place(self, access: Access, site: Site, word: int) -> AccessSite:
        launch, agents = self._history.at(word >> THREAD_BITS)
        thread = agents.issuer(word & THREAD_MASK)
        what = f"asynchronous {access.kind.value}" if access.agent else access.kind.value
        return AccessSite(what, site, *place_of_thread(launch, thread))

    def _missing(self, earlier: tuple[Access, int], later: tuple[Access, int]) -> str:
        """Return what would have ordered an asynchronous operation and another access, or grids."""
        if self._history.at(earlier[1] >> THREAD_BITS)[0] is not self._launch:
            return self._history.missing(self._launch, earlier[1] >> THREAD_BITS, later[0])
        agent, is_agent = earlier[1] & THREAD_MASK, later[1] & THREAD_MASK >= FIRST_AGENT
        if agent < FIRST_AGENT:
            return "no barrier between the first and the issue of the second" * is_agent
        wait = WAITS[earlier[0].agent]
        if earlier[0].agent in ("mbarrier", "st.async"):
            wait += f" at {self._agents.object_of(agent):#x}"
        return f"no {wait} before the {'issue of the second' if is_agent else later[0].kind.value}"
