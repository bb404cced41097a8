"""Accesses to registers of ``wgmma`` products and ``tcgen05.ld`` that are not complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cudarun.emulator.code import BlockCode, Site
from cudarun.emulator.detectors.findings import AccessSite, FindingTable, register_bytes
from cudarun.emulator.detectors.instrumentation import Detector, entries_of
from cudarun.emulator.detectors.race_reports import WAITS
from cudarun.emulator.detectors.races import RaceDetector
from cudarun.emulator.detectors.synchronization import Removal
from cudarun.emulator.detectors.vector_clocks import THREAD_MASK
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.frame import Code, Entry, Frame
from cudarun.emulator.machine.lanes import distinct
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.schedules.pending_products import EarlyUse, PendingProducts
from cudarun.emulator.machine.spaces import Footprint


class ProductRegisterDetector(Detector):
    """A detector of accesses to registers before the wait for their products or loads."""

    def __init__(
        self, launch: Launch, findings: FindingTable, races: RaceDetector, removal: Removal | None
    ) -> None:
        self._launch = launch
        self._findings = findings
        self._races = races  # the detector of races, which is notified first
        self._removal = removal  # the synchronizing instruction that is removed
        self._pending: dict[str, PendingProducts] = {}
        self._issued: dict[Site, dict[int, int]] = {}  # by agent, its last access

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """Return code that also checks accesses to registers that may be pending."""
        function = frame.function
        if function.name not in self._pending:
            left = self._removal.function(function) if self._removal else function
            self._pending[function.name] = PendingProducts.of(left)
        entries, place = [*code.entries], len(code.entries)
        for operation in reversed(block.operations):
            place -= entries_of(operation)
            for use in self._pending[function.name].uses.get(block.index, ()):
                if use.operation is operation:
                    entries[place] = self._checked, (frame, use, entries[place])
        return replace(code, entries=entries)

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        if access.agent in ("wgmma", "tcgen05.ld"):
            issued = self._issued.setdefault(site, {})
            for word in distinct(self._races.words_of_agents(access.agent, active)):
                issued[word & THREAD_MASK] = word

    def _checked(self, frame: Frame, use: EarlyUse, entry: Entry) -> None:
        active = frame.batch.active
        assert active is not None
        loads = self._pending[frame.function.name].loads
        for site in use.products:
            kind = "tcgen05.ld" if site in loads else "wgmma"
            agents = (self._races.words_of_agents(kind, active) & THREAD_MASK).tolist()
            issued = self._issued.get(site, {})
            words = np.array([issued.get(agent, 0) for agent in agents])
            wrong = self._races.unordered(active, words)
            if len(wrong):
                memory = register_bytes(frame.function.slots[use.slot])
                thread = active.batch.threads.coordinates(active.lane(int(wrong[0])))
                places = (
                    AccessSite("asynchronous use", site, *thread),
                    AccessSite("use", use.operation.site, *thread),
                )
                problem = f"no {WAITS[kind]} before the {use.verb}"
                self._findings.add(self._launch, "race", memory, places, len(wrong), problem)
        function, arguments = entry
        function(*arguments)
