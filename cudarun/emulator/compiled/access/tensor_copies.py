"""The code of copies between tensors and shared memory, where one lane copies a box in the tensor.

The copy's tensor entry has the tensor map that it used last (``tensor_entries.py``). With another
map, or with a box that is partly outside of the tensor, the caller changes the entry, executes the
instruction, or raises its fault. ``native/copies.c`` copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.lanes.vectors import LaneVector
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.machine.tensor_maps.copies import TensorLoad, TensorStore


class TensorCopies(AccessRules):
    """The code of these instructions."""

    def load(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk.tensor`` to shared memory."""
        action = operation.action
        assert isinstance(action, TensorLoad)
        sources = self._sources(operation)
        to, map_, *rest = sources
        coordinates, (object_, *rest) = rest[: action.rank], rest[action.rank :]

        def copied(lane: str) -> tuple[str, str]:
            address, place = self._of_lane(to, lane), self._of_lane(object_, lane)
            blocks = self._of_lane(rest[0], lane) if action.multicast else "0"
            shared = f"i64 {address}, i64 {action.offset}"
            objects = f"i64 {place}, i64 {action.accesses[-1].offset}"
            several = f"i32 {int(action.multicast)}, i64 {blocks}"
            return "load_box", f"{shared}, {objects}, {several}"

        self._copy(operation, mask, sources, (map_, coordinates), copied)

    def store(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk.tensor`` to a tensor."""
        action = operation.action
        assert isinstance(action, TensorStore)
        sources = self._sources(operation)
        map_, *coordinates, origin = sources[: action.rank + 2]

        def copied(lane: str) -> tuple[str, str]:
            return "store_box", f"i64 {self._of_lane(origin, lane)}, i64 {action.offset}"

        self._copy(operation, mask, sources, (map_, coordinates), copied)

    def _copy(
        self,
        operation: Action,
        mask: str,
        sources: list[LaneVector],
        box: tuple[LaneVector, Sequence[LaneVector]],
        function: Callable[[str], tuple[str, str]],
    ) -> None:
        """Copy a box, or let the caller.

        Args:
            mask: The active lanes.
            box: The address of the tensor map, and the coordinates.
            function: Returns the function that copies, and its other arguments, of the lane.
        """
        code, action = self._code, operation.action
        assert isinstance(action, TensorLoad | TensorStore)
        if action.im2col:
            self._accesses.call(operation, mask)
            return
        number = self._accesses.sites.tensors
        self._accesses.sites.tensors += 1
        site = self._accesses.site(operation, (), tensor=number)
        check, slow, done = (code.fresh(stem) for stem in ("check", "slow", "done"))
        code.line(f"br label %{check}")
        code.label(check)
        rest = code.scalar(f"and i32 {mask}, {code.scalar(f'add i32 {mask}, -1')}")
        alone = code.scalar(f"icmp eq i32 {rest}, 0")
        code.leave_unless(alone, slow, "ready", ", !prof !1")
        code.module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        lane = code.scalar(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")
        map_, coordinates = box
        scratch = field(code, "%ctx", layout.SCRATCH, "ptr")
        for dimension in range(layout.TENSOR_RANK):
            beyond = dimension >= len(coordinates)
            value = "0" if beyond else self._of_lane(coordinates[dimension], lane)
            store_field(code, scratch, 8 * dimension, "i64", value)
        entries = field(code, "%ctx", layout.TENSORS, "ptr")
        entry = pointer_to(code, entries, number * layout.TENSOR_BYTES)
        name, arguments = function(lane)
        given = f"ptr %ctx, ptr {entry}, i32 %warp, i32 {lane}"
        given += f", i64 {self._of_lane(map_, lane)}, {arguments}"
        copied = code.scalar(f"icmp ne i32 {call(code, 'i32', name, given)}, 0")
        code.line(f"br i1 {copied}, label %{done}, label %{slow}, !prof !1")
        code.label(slow)
        self._accesses.called(site, sources, mask, check, done)
        code.label(done)

    def _of_lane(self, values: LaneVector, lane: str) -> str:
        """Return the value of a lane as a number of 64 bits."""
        code = self._code
        value = code.scalar(f"extractelement {values.typed}, i32 {lane}")
        return value if values.bits == 64 else code.scalar(f"zext {values.element} {value} to i64")
