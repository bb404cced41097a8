"""Replays of a recording without parts of its memory, in the worker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudarun.arguments.contents import ArrayContents
from cudarun.arguments.dtypes import Array
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.session.driver.devices import Device
from cudarun.session.driver.memory import DeviceBuffer, FixedMemory
from cudarun.session.driver.transfers import Transfers
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.program import DeviceProgram
from cudarun.session.launch.recorded.memory import RecordedInitial
from cudarun.session.launch.request import Program
from cudarun.session.launch.steps import Libraries, all_buffers, bind_steps
from cudarun.session.launch.variables import ImageVariable
from cudarun.session.record.page_search import Block, RecordedPages
from cudarun.session.workers.deadline import stopped_after_timeout
from cudarun.session.workers.session import Session

PATTERNS = (0x00, 0xFF)
"""The bytes in place of unneeded memory: null pointers and zeros, invalid addresses and NaN."""


@dataclass(frozen=True, slots=True)
class _Area:
    """A range, a variable or an array, with its recorded contents."""

    memory: DeviceBuffer
    before: Array
    after: Array


class Replays:
    """A launch of a recording that is repeated, in the current context, with other memory."""

    def __init__(
        self, session: Session, libraries: Libraries, request: Program, device: Device
    ) -> None:
        recording = request.last.image.recording
        assert recording is not None, "only recordings are replayed without parts"
        self._session = session
        self.pages = RecordedPages(recording.manifest)
        [step] = (step.located() for step in bind_steps(session, libraries, request, device))
        specs = all_buffers([step])
        variables = step.variables
        everything = [*specs, *variables.read]
        buffers = Buffers(session, device, everything, variables.written, bare=True)
        self._transfers = Transfers(session.driver)
        session.add_release(self._transfers.free)
        self._program = DeviceProgram(
            session, device, request.options, [step], buffers, {step.number: step.handles(buffers)}
        )
        moved = buffers.moved
        self._areas: list[_Area] = []  # in the order of the recording, then the variables
        with recording.contents() as contents:
            for spec in (*specs, *variables.written):
                if not isinstance(spec.initial, RecordedInitial):
                    continue
                recorded = spec.initial.range
                before = contents.read(recorded)
                after = contents.read(recorded, after=True) if recorded.after else before
                moved.apply(before, recorded.address)
                if after is not before:
                    moved.apply(after, recorded.address)
                memory = (
                    FixedMemory(session.driver, spec.address, spec.nbytes)
                    if isinstance(spec, ImageVariable)
                    else buffers.memory(spec.name)
                )
                self._areas.append(_Area(memory, before, after))

    def check(self) -> None:
        """Replay with all contents; `RequestError` if the results differ from the recorded ones."""
        if not self._passes((), PATTERNS[0]):
            raise RequestError(
                "the replay has other results than the recorded launch, so that no memory can be "
                "left out",
                hint="compare them with cudarun launch: the order of a sum can change",
            )

    def pass_without(self, blocks: Sequence[Block]) -> bool:
        """Return whether the results are the recorded ones without the contents of pages."""
        return all(self._passes(blocks, pattern) for pattern in PATTERNS)

    def _passes(self, blocks: Sequence[Block], pattern: int) -> bool:
        self._session.progress.start_phase()  # the time limit is that of one replay
        spans = [[*self.pages.spans(number, blocks)] for number in range(len(self.pages.ranges))]
        spans += [[] for _ in range(len(self._areas) - len(spans))]
        for area, holes in zip(self._areas, spans, strict=True):
            data = area.before.copy() if holes else area.before
            for low, high in holes:
                data[low:high] = pattern
            self._transfers.upload(area.memory.address, ArrayContents(data))
            area.memory.store()
        with stopped_after_timeout(self._session.driver, self._session.progress):
            self._program.try_once()
        return all(map(self._is_equal, self._areas, spans, [pattern] * len(spans)))

    def _is_equal(self, area: _Area, holes: Sequence[tuple[int, int]], pattern: int) -> bool:
        """Return whether an area has its recorded results, and the pattern where it was put."""
        got = np.empty(area.before.size, np.uint8)
        area.memory.load()
        self._transfers.download(area.memory.address, got.dtype, got.size, into=got)
        for low, high in holes:
            if (got[low:high] != pattern).any():
                return False
            got[low:high] = area.after[low:high]
        return np.array_equal(got, area.after)
