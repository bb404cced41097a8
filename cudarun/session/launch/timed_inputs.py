"""The inputs of timed runs: one set, or several of ``--input-sets`` that take turns.

All runs use the same buffers. Before each, in stream order, a copy of its inputs is written to
them, and the variables of the image get the values that they had before the first run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cudarun.base.records import dataclass
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.launch.buffers import Buffers, Values
from cudarun.session.launch.image_state import ImageState
from cudarun.session.launch.steps import Libraries
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cudarun.session.driver.protocol import Handle


@dataclass(frozen=True, slots=True)
class InputSet:
    """The inputs of a run.

    Attributes:
        seed: Their seed.
        before: The arrays of ``old(…)``.
        originals: The copies of all buffers with an initializer.
        state: The variables of the image.
    """

    seed: int
    before: Values
    originals: dict[str, DeviceBuffer]
    state: ImageState


class TimedInputs:
    """The inputs of timed runs, which take turns.

    Args:
        session: The session.
        buffers: The buffers, filled with the inputs of the first seed.
        libraries: The images.
        seeds: The seed of each set.
        before: The arrays of ``old(…)`` of the first set.
        fill: Fills the buffers with the inputs of a seed; returns its arrays of ``old(…)``.

    Raises:
        DeviceFailed: There is no memory for the copies.
    """

    def __init__(
        self,
        session: Session,
        buffers: Buffers,
        libraries: Libraries,
        seeds: range,
        before: Values,
        fill: Callable[[int], Values],
    ) -> None:
        self._buffers = buffers
        self._turn = 0
        self.sets: list[InputSet] = []
        for seed in seeds:
            if self.sets:
                before = fill(seed)
            originals = buffers.copy_inputs()
            self.sets.append(InputSet(seed, before, originals, ImageState(session, libraries)))

    def select(self, number: int) -> None:
        """Make a set the next one."""
        self._turn = number

    def restore(self, stream: Handle) -> None:
        """Write the inputs of the next run, in stream order."""
        chosen = self.sets[self._turn % len(self.sets)]
        self._turn += 1
        self._buffers.restore(chosen.originals, stream)
        chosen.state.restore(stream)
