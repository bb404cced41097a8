"""The code of calls of outlined functions: the frames of a warp.

The lanes that call a function get a **frame**, in which they run until all have returned. The other
lanes of the warp come later in the interpreter's order: they wait meanwhile. So all lanes of a
frame have the same callers, and need one place to return to, one stack, and one copy of the
registers that the function may change. Lanes of a function never wait for other warps: between two
calls of ``step``, no frame is in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.code import BlockCode, FunctionCode, Terminator
from cudarun.emulator.compiled.control.calls import (
    OutlinedCall,
    OutlinedReturn,
    first_outlined_block,
    outlined_calls,
)
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.control.waits import Rule
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import FrameLayout
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters


def room_of(registers: WarpRegisters, slot: int) -> int:
    """Return the bytes that a frame has for a register."""
    return -(-registers.bytes_of(slot) // 64) * 64


def frame_layout(function: FunctionCode, registers: WarpRegisters) -> FrameLayout | None:
    """Return the layout of the frames of a function; ``None`` if it calls nothing outlined."""
    calls = outlined_calls(function).values()
    if not calls:
        return None
    saved = max(sum(room_of(registers, slot) for slot in call.saved) for call in calls)
    least = min(call.callee.function.frame_bytes for call in calls)
    return FrameLayout(first_outlined_block(function), len(function.blocks), least, saved)


class CallFrames(LoweringRules):
    """The code of calls, of returns, and of the end of frames."""

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        function: FunctionCode,
        frames: FrameLayout,
        schedule: LaneSchedule,
    ) -> None:
        super().__init__(code, registers)
        self._calls = outlined_calls(function)
        self._frames = frames
        self._schedule = schedule  # selects the lanes that run next
        self._others = {"PENDING": FrameLayout.PENDING}  # the lanes that wait meanwhile
        if schedule.yields:
            self._others["HIDDEN"] = FrameLayout.HIDDEN
        self.rules: dict[type[Terminator], Rule] = {
            OutlinedCall: self._call,
            OutlinedReturn: self._return,
        }

    def declare(self) -> None:
        """Reserve the variables: no function has been called."""
        code = self._code
        for name, kind in (("FRAME", "ptr"), ("MASKS", "ptr"), ("START", "i32"), ("STACK", "i64")):
            code.line(f"%{name} = alloca {kind}")
        code.line(f"%frames.at = getelementptr i8, ptr %ctx, i64 {layout.FRAMES}")
        code.line("%frames = load ptr, ptr %frames.at, align 8")
        self._use("%frames", is_called=False)
        code.line("store i64 0, ptr %STACK")
        code.line("store i32 0, ptr %START")

    def _use(self, frame: str, *, is_called: bool) -> None:
        """Let lanes run in a frame; the first frame is of no call."""
        code = self._code
        store_field(code, "%frames", FrameLayout.TOP, "ptr", frame)
        code.line(f"store ptr {frame}, ptr %FRAME")
        masks = self._frames.pending(0) if is_called else self._schedule.state.pending(0)
        pointer = pointer_to(code, frame if is_called else "%state", masks)
        code.line(f"store ptr {pointer}, ptr %MASKS")

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, block: BlockCode, mask: str) -> None:
        code, call = self._code, self._calls[block.index]
        self._schedule.tick(block.index, mask, {})
        frame = pointer_to(code, code.scalar("load ptr, ptr %FRAME"), self._frames.size)
        store_field(code, frame, FrameLayout.CALL, "i32", str(block.index))
        store_field(code, frame, FrameLayout.RETURNED, "i32", "0")
        for name, offset in self._others.items():
            store_field(code, frame, offset, "i32", code.scalar(f"load i32, ptr %{name}"))
            code.line(f"store i32 0, ptr %{name}")
        for slot, offset in self._saved(call):
            self._registers.save(slot, pointer_to(code, frame, offset))
        self._grow(call.stack_bytes)
        self._use(frame, is_called=True)
        code.line(f"store i32 {call.callee.start}, ptr %START")
        code.line(f"br label %enter.{call.callee.start}")

    def _return(self, block: BlockCode, mask: str) -> None:
        code = self._code
        frame = code.scalar("load ptr, ptr %FRAME")
        returned = field(code, frame, FrameLayout.RETURNED, "i32")
        both = code.scalar(f"or i32 {returned}, {mask}")
        store_field(code, frame, FrameLayout.RETURNED, "i32", both)
        code.line("br label %dispatch")

    def end(self) -> None:
        """End the frame in which no lanes can run; leave ``step`` if it is of no call."""
        code = self._code
        code.label("idle")
        frame = code.scalar("load ptr, ptr %FRAME")
        first = code.scalar(f"icmp eq ptr {frame}, %frames")
        code.leave_if(first, "leave", "return")
        called = field(code, frame, FrameLayout.CALL, "i32")
        cases = " ".join(f"i32 {number}, label %return.{number}" for number in self._calls)
        code.line(f"switch i32 {called}, label %impossible [ {cases} ]")
        code.label("impossible")
        code.line("unreachable")
        for number, call in self._calls.items():
            code.label(f"return.{number}")  # continue: all lanes have returned, or exited
            start = call.caller.start
            for slot, offset in self._saved(call):
                self._registers.restore(slot, pointer_to(code, frame, offset))
            for name, offset in self._others.items():
                code.line(f"store i32 {field(code, frame, offset, 'i32')}, ptr %{name}")
            self._grow(-call.stack_bytes)
            # the kernel begins with block 0 and has no frame
            self._use(pointer_to(code, frame, -self._frames.size), is_called=start > 0)
            code.line(f"store i32 {start}, ptr %START")
            returned = field(code, frame, FrameLayout.RETURNED, "i32")
            code.line(f"store i32 {returned}, ptr %MASK")
            code.leave_if(code.scalar(f"icmp eq i32 {returned}, 0"), "dispatch", "some")
            self._schedule.proceed(call.after, call.after - 1, returned)

    def _grow(self, size: int) -> None:
        stack = self._code.scalar("load i64, ptr %STACK")
        self._code.line(f"store i64 {self._code.scalar(f'add i64 {stack}, {size}')}, ptr %STACK")

    def _saved(self, call: OutlinedCall) -> Iterator[tuple[int, int]]:
        """Yield the registers that a call saves, and their offsets in the frame."""
        offset = self._frames.saved
        for slot in call.saved:
            yield slot, offset
            offset += room_of(self._registers, slot)
