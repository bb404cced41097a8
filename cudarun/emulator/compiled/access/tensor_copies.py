"""The code of copies between tensors and shared memory, where one lane copies a box in the tensor.

The copy's tensor entry has the tensor map that it used last (``tensor_entries.py``). With another
map, or with a box that is partly outside of the tensor, the caller changes the entry, executes the
instruction, or raises its fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.barrier_objects import define_change
from cudarun.emulator.compiled.access.clusters import OWN_RANK
from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, pointer_to
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.tensor_boxes import CHUNK
from cudarun.emulator.machine.tensor_copies import SHARED_ALIGNMENT, TensorLoad, TensorStore
from cudarun.emulator.machine.tensor_maps import BYTES

_OBJECT_BYTES = 8
_OFFSET = (1 << RANK_SHIFT) - 1
_RANKS = (1 << 32) - 1 - _OFFSET
_CHUNK = f"<{CHUNK} x i8>"


class TensorCopies(AccessRules):
    """The code of these instructions."""

    def load(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk.tensor`` to shared memory."""
        code, action = self._code, operation.action
        assert isinstance(action, TensorLoad)
        if action.im2col:
            self._accesses.call(operation, mask)
            return
        sources = self._sources(operation)
        to, maps, *rest = sources
        coordinates, (objects, *rest) = rest[: action.rank], rest[action.rank :]
        check = self._begin()
        lane, alone = self._only_lane(mask)
        address = self._of_lane(to, lane)
        blocks = self._of_lane(rest[0], lane) if action.multicast else None
        if blocks is None:
            known = code.scalar(f"icmp ule i64 {address}, {_OFFSET}")
        else:
            address = code.scalar(f"and i64 {address}, {~_RANKS}")
            known = self._are_blocks(blocks)
        object_ = code.scalar(f"and i64 {self._of_lane(objects, lane)}, {~_RANKS}")
        object_ = self._place(object_, action.accesses[-1].offset)
        valid = self._is_object(object_)
        ready = code.scalar(f"and i1 {alone}, {code.scalar(f'and i1 {known}, {valid}')}")
        shared = self._place(address, action.offset)
        given = [self._of_lane(each, lane) for each in (maps, *coordinates)]

        def complete(copied: str, memory: str) -> None:
            owed = code.broadcast("i64", code.scalar(f"sub i64 0, {copied}"))
            place, none = code.broadcast("i64", object_), splat("i64", 0)
            arguments = f"{place.typed}, {none.typed}, {owed.typed}, i32 {mask}"
            name = define_change(code.module, drops=False)
            code.line(f"call {{ i1, {owed.type} }} @{name}(ptr {memory}, {arguments})")

        begun = check, ready
        self._copy(operation, mask, sources, begun, (shared, *given), complete, blocks)

    def store(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk.tensor`` to a tensor."""
        action = operation.action
        assert isinstance(action, TensorStore)
        if action.im2col:
            self._accesses.call(operation, mask)
            return
        sources = self._sources(operation)
        maps, *coordinates, origin = sources[: action.rank + 2]
        check = self._begin()
        lane, alone = self._only_lane(mask)
        shared = self._place(self._of_lane(origin, lane), action.offset)
        given = [self._of_lane(each, lane) for each in (maps, *coordinates)]
        self._copy(operation, mask, sources, (check, alone), (shared, *given))

    def _copy(
        self,
        operation: Action,
        mask: str,
        sources: list[LaneVector],
        begun: tuple[str, str],
        arguments: Sequence[str],
        complete: Callable[[str, str], None] | None = None,
        blocks: str | None = None,
    ) -> None:
        """Copy a box, or let the caller.

        Args:
            operation: The instruction.
            mask: The active lanes.
            sources: Its sources.
            begun: The label at which it begins, and whether compiled code may execute it.
            arguments: The place in shared memory, the address of the map, the coordinates.
            complete: Adds what follows, given the number of bytes and the shared memory.
            blocks: A mask of the blocks of the cluster that get the box; by default the own one.
        """
        code, action = self._code, operation.action
        assert isinstance(action, TensorLoad | TensorStore)
        name = _define_copy(code.module, action.rank, loads=isinstance(action, TensorLoad))
        number = self._accesses.sites.new_tensor()
        site = self._accesses.site(operation, (), tensor=number)
        ready, copied, slow, done = (
            code.fresh(stem) for stem in ("ready", "copied", "slow", "done")
        )
        check, condition = begun
        code.line(f"br i1 {condition}, label %{ready}, label %{slow}, !prof !1")
        code.label(ready)
        entries = field(code, "%ctx", layout.TENSORS, "ptr")
        entry = pointer_to(code, entries, number * layout.TENSOR_BYTES)
        shared, rest = field(code, "%ctx", layout.SHARED, "ptr"), "0"
        if blocks is not None:
            shared, rest = self._next_block(blocks, shared, ready, copied)
        given = ", ".join(f"i64 {each}" for each in arguments)
        size = code.scalar(f"call i64 @{name}(ptr %ctx, ptr {shared}, ptr {entry}, {given})")
        any_ = code.scalar(f"icmp ne i64 {size}, 0")
        code.line(f"br i1 {any_}, label %{copied}, label %{slow}, !prof !1")
        code.label(copied)
        if complete is not None:
            complete(size, shared)
        if blocks is None:
            code.line(f"br label %{done}")
        else:
            last = code.scalar(f"icmp eq i64 {rest}, 0")
            code.line(f"br i1 {last}, label %{done}, label %{copied}.next")
        code.label(slow)
        self._accesses.called(site, sources, mask, check, done)
        code.label(done)

    def _are_blocks(self, blocks: str) -> str:
        """Return whether a mask has blocks, and only those of the cluster."""
        code = self._code
        count = field(code, "%ctx", layout.CLUSTER, "i64")
        beyond = code.scalar(f"lshr i64 {blocks}, {count}")
        within = code.scalar(f"icmp eq i64 {beyond}, 0")
        return code.scalar(f"and i1 {within}, {code.scalar(f'icmp ne i64 {blocks}, 0')}")

    def _next_block(self, blocks: str, own: str, before: str, after: str) -> tuple[str, str]:
        """Begin a loop over blocks; return the shared memory of one, and the blocks that are left.

        Args:
            blocks: The mask of the blocks.
            own: The shared memory of the own block.
            before: The label before the loop.
            after: The last label in it.
        """
        code, start = self._code, f"{after}.next"
        code.line(f"br label %{start}")
        code.label(start)
        left = f"%{code.fresh('left')}"
        rest = f"{left}.rest"
        code.line(f"{left} = phi i64 [ {blocks}, %{before} ], [ {rest}, %{after} ]")
        code.line(f"{rest} = and i64 {left}, {code.scalar(f'sub i64 {left}, 1')}")
        code.module.declare("declare i64 @llvm.cttz.i64(i64, i1)")
        rank = code.scalar(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)")
        mine = self._of_lane(self._registers.block_register(OWN_RANK), "0")
        stride = field(code, "%ctx", layout.SHARED_STRIDE, "i64")
        ahead = code.scalar(f"mul i64 {code.scalar(f'sub i64 {rank}, {mine}')}, {stride}")
        return pointer_to(code, own, ahead), rest

    # --- the lane --------------------------------------------------------------------------------

    def _begin(self) -> str:
        """Begin a basic block and return its label."""
        label = self._code.fresh("check")
        self._code.line(f"br label %{label}")
        self._code.label(label)
        return label

    def _only_lane(self, mask: str) -> tuple[str, str]:
        """Return the first active lane, and whether there are no others."""
        code = self._code
        code.module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        lane = code.scalar(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")
        rest = code.scalar(f"and i32 {mask}, {code.scalar(f'add i32 {mask}, -1')}")
        return lane, code.scalar(f"icmp eq i32 {rest}, 0")

    def _of_lane(self, values: LaneVector, lane: str) -> str:
        """Return the value of a lane as a number of 64 bits."""
        code = self._code
        value = code.scalar(f"extractelement {values.typed}, i32 {lane}")
        return value if values.bits == 64 else code.scalar(f"zext {values.element} {value} to i64")

    def _place(self, address: str, offset: int) -> str:
        """Return the place of an address with an offset in the memory that is ``layout.SHARED``.

        The swizzle of places is that of addresses: this memory begins at a multiple of its lines.
        """
        code = self._code
        start = field(code, "%ctx", layout.SHARED_START, "i64")
        return code.scalar(f"sub i64 {code.scalar(f'add i64 {address}, {offset}')}, {start}")

    def _is_object(self, place: str) -> str:
        """Return whether an object can be at a place in shared memory."""
        code = self._code
        size = field(code, "%ctx", layout.SHARED_BYTES, "i64")
        low = code.scalar(f"and i64 {place}, {_OBJECT_BYTES - 1}")
        aligned = code.scalar(f"icmp eq i64 {low}, 0")
        return code.scalar(f"and i1 {aligned}, {_is_inside(code, place, _OBJECT_BYTES, size)}")


def _is_inside(code: CodeBuilder, first: str, count: int | str, size: str) -> str:
    """Return whether some bytes from an offset on are in memory of a size."""
    begins = code.scalar(f"icmp ule i64 {first}, {size}")
    room = code.scalar(f"sub i64 {size}, {first}")
    ends = code.scalar(f"icmp ule i64 {count}, {room}")
    return code.scalar(f"and i1 {begins}, {ends}")


def _define_copy(module: ModuleText, rank: int, *, loads: bool) -> str:
    """Define the copy of a box, and return its name.

    ``name(context, shared memory, entry, place in it, address of the map, coordinates…)``
    returns the number of bytes; 0 if it has not copied anything.
    """
    name = f"tensor.{'load' if loads else 'store'}.{rank}"
    if module.defines(name):
        return name
    code = CodeBuilder(module)
    code.label("entry")
    known = field(code, "%entry.of", layout.TENSOR_MAP_ADDRESS, "i64")
    code.line(f"%known = icmp eq i64 %map, {known}")
    code.line("br i1 %known, label %compare, label %other, !prof !1")
    code.label("compare")
    host = field(code, "%entry.of", layout.TENSOR_MAP_HOST, "ptr")
    words = vector_type("i64", BYTES // 8)
    now = code.scalar(f"load {words}, ptr {host}, align 1")
    changed = code.scalar(f"icmp ne {words} {now}, {field(code, '%entry.of', 0, words)}")
    changed = code.scalar(f"bitcast <{BYTES // 8} x i1> {changed} to i{BYTES // 8}")
    same = code.scalar(f"icmp eq i{BYTES // 8} {changed}, 0")
    moved, inside = _moved(code, rank)
    valid = code.scalar(f"and i1 {same}, {inside}")
    low = code.scalar(f"and i64 %at, {SHARED_ALIGNMENT - 1}")
    valid = code.scalar(f"and i1 {valid}, {code.scalar(f'icmp eq i64 {low}, 0')}")
    size = field(code, "%ctx", layout.SHARED_BYTES, "i64")
    span = field(code, "%entry.of", layout.TENSOR_SPAN, "i64")
    valid = code.scalar(f"and i1 {valid}, {_is_inside(code, '%at', span, size)}")
    host = field(code, "%entry.of", layout.TENSOR_HOST, "ptr")
    code.line(f"%tensor = getelementptr i8, ptr {host}, i64 {moved}")
    marks = field(code, "%entry.of", layout.TENSOR_UNWRITTEN, "ptr")
    code.line(f"%tracked = icmp ne ptr {marks}, null")
    code.line(f"%marks = getelementptr i8, ptr {marks}, i64 {moved}")
    code.line(f"br i1 {valid}, label %copy, label %other, !prof !1")
    _chunks(code, loads=loads)
    code.label("other")
    code.line("ret i64 0")
    coordinates = "".join(f", i64 %c{place}" for place in range(rank))
    pointers = "ptr %ctx, ptr %shared, ptr %entry.of"
    head = f"define internal i64 @{name}({pointers}, i64 %at, i64 %map{coordinates})"
    module.define(name, "\n".join([head + " noinline #0 {", *code.lines, "}"]))
    return name


def _moved(code: CodeBuilder, rank: int) -> tuple[str, str]:
    """Return how far a box is from the first element, and whether it is valid and in the tensor."""
    moved, inside = "0", "true"
    for place in range(rank):
        limit = field(code, "%entry.of", layout.TENSOR_LIMITS + 8 * place, "i64")
        step = field(code, "%entry.of", layout.TENSOR_STEPS + 8 * place, "i64")
        within = code.scalar(f"icmp ule i64 %c{place}, {limit}")
        inside = code.scalar(f"and i1 {inside}, {within}")
        ahead = code.scalar(f"mul i64 %c{place}, {step}")
        if place == 0:
            low = code.scalar(f"and i64 {ahead}, {CHUNK - 1}")
            inside = code.scalar(f"and i1 {inside}, {code.scalar(f'icmp eq i64 {low}, 0')}")
        moved = code.scalar(f"add i64 {moved}, {ahead}")
    return moved, inside


def _chunks(code: CodeBuilder, *, loads: bool) -> None:
    """Copy the chunks from and to ``%tensor``; mark those of a tensor as written."""
    code.label("copy")
    count = field(code, "%entry.of", layout.TENSOR_CHUNKS, "i64")
    places = field(code, "%entry.of", layout.TENSOR_OFFSETS, "ptr")
    swizzle = field(code, "%entry.of", layout.TENSOR_SWIZZLE, "i64")
    code.line("br label %chunk")
    code.label("chunk")
    code.line("%number = phi i64 [ 0, %copy ], [ %next, %copied ]")
    at = code.scalar(f"getelementptr i64, ptr {places}, i64 %number")
    offset = code.scalar(f"load i64, ptr {at}, align 8")
    beyond = code.scalar(f"getelementptr i64, ptr {at}, i64 {count}")
    place = code.scalar(f"add i64 %at, {code.scalar(f'load i64, ptr {beyond}, align 8')}")
    pattern = code.scalar(f"and i64 {code.scalar(f'lshr i64 {place}, 7')}, {swizzle}")
    place = code.scalar(f"xor i64 {place}, {code.scalar(f'shl i64 {pattern}, 4')}")
    tensor, here = pointer_to(code, "%tensor", offset), pointer_to(code, "%shared", place)
    origin, to = (tensor, here) if loads else (here, tensor)
    value = code.scalar(f"load {_CHUNK}, ptr {origin}, align 1")
    code.line(f"store {_CHUNK} {value}, ptr {to}, align 1")
    if not loads:
        code.line("br i1 %tracked, label %mark, label %copied, !prof !2")
        code.label("mark")
        mark = pointer_to(code, "%marks", offset)
        code.line(f"store {_CHUNK} zeroinitializer, ptr {mark}, align 1")
    code.line("br label %copied")
    code.label("copied")
    code.line("%next = add i64 %number, 1")
    code.line(f"%more = icmp ult i64 %next, {count}")
    code.line("br i1 %more, label %chunk, label %end")
    code.label("end")
    code.line(f"ret i64 {code.scalar(f'mul i64 {count}, {CHUNK}')}")
