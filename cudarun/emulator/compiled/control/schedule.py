"""The code that selects the lanes of a warp that run next.

Lanes wait in masks, one per basic block, and the lowest block in the text with waiting lanes runs
next. In a loop, lanes **yield** after some jumps back, soon if it may wait for other threads: the
warp lets other warps run, and then its waiting lanes run in turn, so that lanes in a loop do not
starve those that could end it. With a schedule that draws the order of warps they can yield at the
end of any block.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudarun.base.records import dataclass
from cudarun.emulator.compiled.control.snapshot import Snapshot
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.native.functions import call, two_words
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import FIRST, SECOND, FrameLayout, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field

_BUDGET = 4096  # of the costs of jumps back in loops that may wait: then other lanes run

_Lanes = dict[int, str]  # masks of lanes, by the block that they run next


@dataclass(slots=True)
class LaneSchedule:
    """The masks of the lanes of a warp that can run, in the code of ``step``.

    The code has labels that others define: ``enter.N`` of the block ``N``, ``leave`` where no lane
    can run, ``idle`` where none can in the frame of a call, ``save`` where lanes have yielded,
    ``fault``.
    """

    code: CodeBuilder
    state: WarpState  # the layout of the warp's state
    # The cost of a jump back to each loop that may wait for other threads, by its block.
    loops: dict[int, int]
    frames: FrameLayout | None  # the layout of the frames of calls; ``None`` if there are none
    snapshot: Snapshot  # the registers of lanes that yield, or wait for others
    # Whether lanes yield in a loop. In the frame of a call they cannot: its registers are not
    # saved.
    yields: bool
    interleaves: bool  # whether a schedule draws when lanes yield
    inline: bool  # whether functions are in line where blocks end: not in large kernels

    # --- the start -------------------------------------------------------------------------------

    def declare(self) -> None:
        """Reserve the variables."""
        code = self.code
        for name in ("MASK", "PENDING", "BUDGET"):
            code.line(f"%{name} = alloca i32")
        code.line(f"%HIDDEN = getelementptr i8, ptr %state, i64 {self.state.HIDDEN}")
        code.line("store i32 0, ptr %MASK")
        code.line(f"store i32 {_BUDGET}, ptr %BUDGET")
        self.snapshot.declare()

    def enter(self, blocks: Iterable[int]) -> None:
        """Find the lanes that can run, which wait to run some blocks, or which have yielded."""
        code, state = self.code, self.state
        pending = "0"
        for block in blocks:
            mask = field(code, "%state", state.pending(block), "i32")
            pending = code.scalar(f"or i32 {pending}, {mask}")
        if self.yields:
            code.line(f"%yielded.at = getelementptr i8, ptr %state, i64 {state.YIELDED}")
            code.line("%yielded = load i32, ptr %yielded.at, align 4")
            pending = code.scalar(f"or i32 {pending}, %yielded")
        code.line(f"store i32 {pending}, ptr %PENDING")

    def begin(self) -> None:
        """Run the first lanes: of a warp that has yielded, those whose turn it is."""
        code = self.code
        if not self.yields:
            code.line("br label %dispatch")
            return
        first = code.scalar("icmp eq i32 %yielded, 0")
        code.line(f"br i1 {first}, label %dispatch, label %resume")
        code.label("resume")
        code.line("store i32 0, ptr %yielded.at, align 4")
        self.snapshot.restore("%yielded")
        code.line("store i32 1, ptr %RESUMES")
        code.line("br label %restore.lanes")

    # --- dispatching -----------------------------------------------------------------------------

    def dispatch(self) -> None:
        """Run the lowest block with waiting lanes."""
        code, state, count = self.code, self.state, self.state.blocks
        code.label("dispatch")
        if self.yields:
            self._show()
        self.snapshot.define(yields=self.yields)
        code.label("select")
        left = code.scalar("load i32, ptr %PENDING")
        none = code.scalar(f"icmp eq i32 {left}, 0")
        start = "0"
        if self.frames is None:
            masks = pointer_to(code, "%state", state.pending(0))
        else:
            masks, start = code.scalar("load ptr, ptr %MASKS"), code.scalar("load i32, ptr %START")
        idle = "leave" if self.frames is None else "idle"
        code.line(f"br i1 {none}, label %{idle}, label %search")
        code.label("search")
        entered = self._take("take_lanes", f"ptr {masks}, i32 {start}, i32 {left}", left, "PENDING")
        if self.yields:
            code.line("br label %entered")
            code.label("turn")
            pending = code.scalar("load i32, ptr %PENDING")
            block = self._take("take_turn", "ptr %state, i32 %yielded", pending, "HIDDEN")
            code.line("store i32 0, ptr %PENDING")
            code.line("br label %entered")
            # Save the lanes that can run, but for hidden ones, which are saved, and leave.
            code.label("yield")
            pending, hidden = (code.scalar(f"load i32, ptr {n}") for n in ("%PENDING", "%HIDDEN"))
            both = code.scalar(f"or i32 {pending}, {hidden}")
            store_field(code, "%state", self.state.YIELDED, "i32", both)
            code.line("store i32 0, ptr %HIDDEN")
            self.snapshot.save(pending, leaves=True)
            code.label("leaving")
            code.line("br label %save")
            code.label("entered")
            entered = code.scalar(f"phi i32 [ {entered}, %search ], [ {block}, %turn ]")
        cases = " ".join(f"i32 {number}, label %enter.{number}" for number in range(1, count))
        code.line(f"switch i32 {entered}, label %enter.0 [ {cases} ]")

    def _take(self, name: str, arguments: str, pending: str, others: str) -> str:
        """Activate the lanes that a function takes, and store the others; return their block.

        Out of order, the others are hidden until the active ones wait or yield.
        """
        code = self.code
        block, lanes = two_words(code, call(code, "i64", name, arguments, inline=True))
        code.line(f"store i32 {lanes}, ptr %MASK")
        code.line(f"store i32 {code.scalar(f'xor i32 {pending}, {lanes}')}, ptr %{others}")
        return block

    def _show(self) -> None:
        """Let hidden lanes be dispatched again if no others can run."""
        code = self.code
        none = code.scalar(f"icmp eq i32 {code.scalar('load i32, ptr %PENDING')}, 0")
        code.line(f"br i1 {none}, label %show, label %shown")
        code.label("show")
        hidden = code.scalar("load i32, ptr %HIDDEN")
        code.line(f"store i32 {hidden}, ptr %PENDING")
        code.line("store i32 0, ptr %HIDDEN")
        self.snapshot.restore(hidden)
        code.line("br label %shown")
        code.label("shown")

    # --- the ends of blocks ----------------------------------------------------------------------

    def wait(self, block: int, mask: str) -> None:
        """Let lanes wait to run a block."""
        given = f"ptr {self._masks(block)}, ptr %PENDING, i32 {block}, i32 {mask}"
        call(self.code, "void", "park", given, inline=self.inline)

    def _masks(self, block: int) -> str:
        """Return the pointer to the masks of the lanes that can run blocks of a function."""
        if self.frames is None or block < self.frames.first:
            return pointer_to(self.code, "%state", self.state.pending(0))
        return self.code.scalar("load ptr, ptr %MASKS")

    def release(self, lanes: str) -> None:
        """Let lanes be dispatched whose masks have been changed."""
        self.code.combine("or", "PENDING", lanes)

    def add(self, offset: int, mask: str) -> None:
        """Add lanes to a mask of the state."""
        before = field(self.code, "%state", offset, "i32")
        both = self.code.scalar(f"or i32 {before}, {mask}")
        store_field(self.code, "%state", offset, "i32", both)

    def advance(self, targets: tuple[int, int], mask: str, taken: str) -> None:
        """Continue the active lanes with one of two blocks; they wait if not all have the same."""
        a, b = targets
        given = f"ptr {self._masks(a)}, ptr %PENDING, i32 {mask}, i32 {taken}, i32 {a}, i32 {b}"
        next_ = call(self.code, "i32", "advance", given, inline=self.inline)
        cases = f"i32 {FIRST}, label %enter.{a} i32 {SECOND}, label %enter.{b}"
        self.code.line(f"switch i32 {next_}, label %dispatch [ {cases} ]")

    def proceed(self, target: int, origin: int, mask: str) -> None:
        """Continue the active lanes with a block; they wait if others wait, too."""
        code = self.code
        if self.can_end_turn((target,), origin):
            self.tick(origin, mask, {target: mask})
        if self.polls((target,), origin):
            stays = self._poll(target)
            self._yield_to(origin, {target: mask})
            code.label(stays)
        pending = code.scalar("load i32, ptr %PENDING")
        alone = code.scalar(f"icmp eq i32 {pending}, 0")
        code.leave_if(alone, f"enter.{target}", "waits")
        self.wait(target, mask)
        code.line("br label %dispatch")

    def diverge(self, targets: _Lanes, origin: int, mask: str) -> None:
        """Let the active lanes wait to run several blocks, and run the lowest one."""
        code = self.code
        if self.can_end_turn(targets, origin):
            self.tick(origin, mask, targets)
        polled = [each for each in targets if each <= origin and each in self.loops]
        if polled:
            stays = self._poll(polled[0])
            self._yield_to(origin, targets)
            code.label(stays)
        for target, lanes in targets.items():
            self.wait(target, lanes)
        code.line("br label %dispatch")

    def _yield_to(self, origin: int, targets: _Lanes) -> None:
        """Let the active lanes yield, and wait to run some blocks."""
        polled = next((each for each in targets if each <= origin), self.state.blocks)
        store_field(self.code, "%state", self.state.POLLED, "i32", str(polled))
        for target, lanes in targets.items():
            self.wait(target, lanes)
        self.snapshot.drop(origin, targets)
        self.code.line("br label %yield")

    def can_end_turn(self, targets: Iterable[int], origin: int) -> bool:
        """Return whether `tick` precedes a jump to some blocks."""
        return self.interleaves or min(targets) <= origin

    def polls(self, targets: Iterable[int], origin: int) -> bool:
        """Return whether a jump to one of some blocks is one back in a loop that may wait."""
        return any(target <= origin and target in self.loops for target in targets)

    def tick(self, origin: int, mask: str, targets: _Lanes) -> None:
        """Call back after many jumps, for time limits and interruptions, and to yield.

        Args:
            origin: The block that the active lanes leave.
            mask: These lanes.
            targets: The blocks that they run next; none in a call, where they do not yield.
        """
        code = self.code
        given = f"ptr %ctx, i32 %warp, i32 {layout.TICK_SITE - origin}, i32 {mask}"
        answer, on = call(code, "i32", "tick", given, inline=self.inline), code.fresh("on")
        cases = [f"i32 {layout.FAULT}, label %fault"]
        yields = code.fresh("preempted")
        is_called = self.frames is not None and origin >= self.frames.first
        if targets and not is_called:
            cases.append(f"i32 {layout.PREEMPT}, label %{yields}")
        code.line(f"switch i32 {answer}, label %{on} [ {' '.join(cases)} ]")
        if targets and not is_called:
            code.label(yields)
            self._yield_to(origin, targets)
        code.label(on)

    def _poll(self, target: int) -> str:
        """Count a jump back to a loop; return the label for lanes that need not yield."""
        code = self.code
        left = code.scalar(f"sub i32 {code.scalar('load i32, ptr %BUDGET')}, {self.loops[target]}")
        code.line(f"store i32 {left}, ptr %BUDGET")
        empty, stays = code.scalar(f"icmp sle i32 {left}, 0"), code.fresh("stays")
        code.leave_unless(empty, stays, "yields", ", !prof !2")
        return stays
