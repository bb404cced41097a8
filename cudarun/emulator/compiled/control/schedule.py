"""The code that selects the lanes of a warp that run next.

Lanes wait in masks, one per basic block, and the lowest block in the text with waiting lanes runs
next. In a loop, lanes **yield** after some jumps back, soon if it may wait for other threads: the
warp lets other warps run, and then its waiting lanes run in turn, so that lanes in a loop do not
starve those that could end it.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudarun.emulator.compiled.control.snapshot import Snapshot
from cudarun.emulator.compiled.control.transitions import Transitions
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import FrameLayout, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.sites import call_back

_BUDGET = 4096  # of the costs of jumps back in loops that may wait: then other lanes run

_Lanes = dict[int, str]
"""Masks of lanes, by the block that they run next."""


class LaneSchedule:
    """The masks of the lanes of a warp that can run, in the code of ``step``.

    The code has labels that others define: ``enter.N`` of the block ``N``, ``leave`` where no lane
    can run, ``idle`` where none can in the frame of a call, ``save`` where lanes have yielded,
    ``fault``.

    Args:
        code: The code.
        state: The layout of the warp's state.
        loops: The cost of a jump back to each loop that may wait for other threads, by its block.
        frames: The layout of the frames of calls; ``None`` if there are none.
        transitions: The functions for the ends of blocks, if they are not in line.
        snapshot: The registers of lanes that yield, or wait for others; ``None`` if there are none.
        yields: Whether lanes yield in a loop. In the frame of a call they cannot: its registers are
            not saved.
    """

    def __init__(
        self,
        code: CodeBuilder,
        state: WarpState,
        loops: dict[int, int],
        frames: FrameLayout | None,
        transitions: Transitions | None,
        snapshot: Snapshot | None,
        *,
        yields: bool,
    ) -> None:
        self._code = code
        self._state = state
        self._loops = loops
        self._frames = frames
        self.transitions = transitions
        self._snapshot = snapshot
        self.yields = yields

    # --- the start -------------------------------------------------------------------------------

    def declare(self) -> None:
        """Reserve the variables."""
        code = self._code
        for name in ("MASK", "PENDING", "BUDGET"):
            code.line(f"%{name} = alloca i32")
        code.line(f"%HIDDEN = getelementptr i8, ptr %state, i64 {self._state.HIDDEN}")
        code.line("store i32 0, ptr %MASK")
        code.line(f"store i32 {_BUDGET}, ptr %BUDGET")
        if self._snapshot is not None:
            self._snapshot.declare()

    def enter(self, blocks: Iterable[int]) -> None:
        """Find the lanes that can run, which wait to run some blocks, or which have yielded."""
        code, state = self._code, self._state
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
        code = self._code
        if self._snapshot is None or not self.yields:
            code.line("br label %dispatch")
            return
        first = code.scalar("icmp eq i32 %yielded, 0")
        code.line(f"br i1 {first}, label %dispatch, label %resume")
        code.label("resume")
        code.line("store i32 0, ptr %yielded.at, align 4")
        self._snapshot.restore("%yielded")
        code.line("store i32 1, ptr %RESUMES")
        code.line("br label %restore.lanes")

    # --- dispatching -----------------------------------------------------------------------------

    def dispatch(self) -> None:
        """Run the lowest block with waiting lanes."""
        code, state, count = self._code, self._state, self._state.blocks
        code.label("dispatch")
        if self._snapshot is None:
            code.line("br label %select")
        else:
            if self.yields:
                self._show()
            self._snapshot.define(yields=self.yields)
        code.label("select")
        left = code.scalar("load i32, ptr %PENDING")
        none = code.scalar(f"icmp eq i32 {left}, 0")
        start = "0"
        if self._frames is None:
            masks = pointer_to(code, "%state", state.pending(0))
        else:
            masks, start = code.scalar("load ptr, ptr %MASKS"), code.scalar("load i32, ptr %START")
        idle = "leave" if self._frames is None else "idle"
        code.line(f"br i1 {none}, label %{idle}, label %search")
        code.label("search")
        code.line(f"%block = phi i32 [ {start}, %select ], [ %block.next, %search.next ]")
        wide = code.scalar("zext i32 %block to i64")
        code.line(f"%masks.at = getelementptr i32, ptr {masks}, i64 {wide}")
        code.line("%waiting = load i32, ptr %masks.at, align 4")
        code.line(f"%chosen = and i32 %waiting, {left}")
        code.line("%empty = icmp eq i32 %chosen, 0")
        code.line("br i1 %empty, label %search.next, label %found")
        code.label("search.next")
        code.line("%block.next = add i32 %block, 1")
        code.line("br label %search")
        code.label("found")
        hidden = code.scalar("xor i32 %waiting, %chosen")
        code.line(f"store i32 {hidden}, ptr %masks.at, align 4")
        code.line("store i32 %chosen, ptr %MASK")
        rest = code.scalar(f"xor i32 {left}, %chosen")
        code.line(f"store i32 {rest}, ptr %PENDING")
        entered = "%block"
        if self.yields:
            code.line("br label %entered")
            self._turn()
            self._yield()
            code.label("entered")
            entered = code.scalar("phi i32 [ %block, %found ], [ %turn.block, %turn.found ]")
        cases = " ".join(f"i32 {number}, label %enter.{number}" for number in range(1, count))
        code.line(f"switch i32 {entered}, label %enter.0 [ {cases} ]")

    def _turn(self) -> None:
        """Run the next block with waiting lanes after the one of the last turn, out of order.

        The other lanes are hidden until these wait or yield.
        """
        code, state = self._code, self._state
        code.label("turn")
        code.line(f"%turn.at = getelementptr i8, ptr %state, i64 {state.TURN}")
        code.line("%turn.last = load i32, ptr %turn.at, align 4")
        code.line(f"%turn.loop.at = getelementptr i8, ptr %state, i64 {state.POLLED}")
        code.line("%turn.loop = load i32, ptr %turn.loop.at, align 4")
        masks = pointer_to(code, "%state", state.pending(0))
        code.line("br label %turn.search")
        code.label("turn.search")
        code.line("%turn.before = phi i32 [ %turn.last, %turn ], [ %turn.block, %turn.search ]")
        code.line("%turn.next = add i32 %turn.before, 1")
        code.line(f"%turn.over = icmp uge i32 %turn.next, {state.blocks}")
        code.line("%turn.block = select i1 %turn.over, i32 0, i32 %turn.next")
        wide = code.scalar("zext i32 %turn.block to i64")
        code.line(f"%turn.mask.at = getelementptr i32, ptr {masks}, i64 {wide}")
        code.line("%turn.chosen = load i32, ptr %turn.mask.at, align 4")
        # lanes that have just polled run only if no others can
        code.line("%turn.none = icmp eq i32 %turn.chosen, 0")
        code.line("%turn.polled = icmp eq i32 %turn.block, %turn.loop")
        code.line("%turn.others = icmp ne i32 %turn.chosen, %yielded")
        code.line("%turn.later = and i1 %turn.polled, %turn.others")
        code.line("%turn.empty = or i1 %turn.none, %turn.later")
        code.line("br i1 %turn.empty, label %turn.search, label %turn.found")
        code.label("turn.found")
        code.line("store i32 %turn.block, ptr %turn.at, align 4")
        code.line("store i32 0, ptr %turn.mask.at, align 4")
        code.line("store i32 %turn.chosen, ptr %MASK")
        pending = code.scalar("load i32, ptr %PENDING")
        rest = code.scalar(f"xor i32 {pending}, %turn.chosen")
        code.line(f"store i32 {rest}, ptr %HIDDEN")
        code.line("store i32 0, ptr %PENDING")
        code.line("br label %entered")

    def _show(self) -> None:
        """Let hidden lanes be dispatched again if no others can run."""
        code = self._code
        assert self._snapshot is not None
        none = code.scalar(f"icmp eq i32 {code.scalar('load i32, ptr %PENDING')}, 0")
        code.line(f"br i1 {none}, label %show, label %shown")
        code.label("show")
        hidden = code.scalar("load i32, ptr %HIDDEN")
        code.line(f"store i32 {hidden}, ptr %PENDING")
        code.line("store i32 0, ptr %HIDDEN")
        self._snapshot.restore(hidden)
        code.line("br label %shown")
        code.label("shown")

    def _yield(self) -> None:
        """Save the lanes that can run, but for hidden ones, which are saved, and leave."""
        code = self._code
        assert self._snapshot is not None
        code.label("yield")
        pending, hidden = (code.scalar(f"load i32, ptr {n}") for n in ("%PENDING", "%HIDDEN"))
        both = code.scalar(f"or i32 {pending}, {hidden}")
        store_field(code, "%state", self._state.YIELDED, "i32", both)
        code.line("store i32 0, ptr %HIDDEN")
        self._snapshot.save(pending, leaves=True)
        code.label("leaving")
        code.line("br label %save")

    # --- the ends of blocks ----------------------------------------------------------------------

    def wait(self, block: int, mask: str) -> None:
        """Let lanes wait to run a block."""
        if self.transitions is not None:
            self.transitions.park(block, mask)
            return
        if self._frames is None or block < self._frames.first:
            self.add(self._state.pending(block), mask)
        else:
            self._add(
                pointer_to(self._code, self._code.scalar("load ptr, ptr %MASKS"), 4 * block), mask
            )
        pending = self._code.scalar("load i32, ptr %PENDING")
        self._code.line(f"store i32 {self._code.scalar(f'or i32 {pending}, {mask}')}, ptr %PENDING")

    def add(self, offset: int, mask: str) -> None:
        """Add lanes to a mask of the state."""
        self._add(pointer_to(self._code, "%state", offset), mask)

    def _add(self, pointer: str, mask: str) -> None:
        held = self._code.scalar(f"load i32, ptr {pointer}, align 4")
        both = self._code.scalar(f"or i32 {held}, {mask}")
        self._code.line(f"store i32 {both}, ptr {pointer}, align 4")

    def proceed(self, target: int, origin: int, mask: str) -> None:
        """Continue the active lanes with a block; they wait if others wait, too."""
        code = self._code
        if target <= origin:
            self.tick(origin, mask, {target: mask})
        if self.polls((target,), origin):
            stays = self._poll(target)
            self._yield_to(origin, {target: mask})
            code.label(stays)
        pending = code.scalar("load i32, ptr %PENDING")
        alone = code.scalar(f"icmp eq i32 {pending}, 0")
        waits = code.fresh("waits")
        code.line(f"br i1 {alone}, label %enter.{target}, label %{waits}")
        code.label(waits)
        self.wait(target, mask)
        code.line("br label %dispatch")

    def diverge(self, targets: _Lanes, origin: int, mask: str) -> None:
        """Let the active lanes wait to run several blocks, and run the lowest one."""
        code = self._code
        if min(targets) <= origin:
            self.tick(origin, mask, targets)
        polled = [each for each in targets if each <= origin and each in self._loops]
        if polled:
            stays = self._poll(polled[0])
            self._yield_to(origin, targets)
            code.label(stays)
        for target, lanes in targets.items():
            self.wait(target, lanes)
        code.line("br label %dispatch")

    def _yield_to(self, origin: int, targets: _Lanes) -> None:
        """Let the active lanes yield at a jump back, and wait to run some blocks."""
        polled = next(each for each in targets if each <= origin)
        store_field(self._code, "%state", self._state.POLLED, "i32", str(polled))
        for target, lanes in targets.items():
            self.wait(target, lanes)
        assert self._snapshot is not None
        self._snapshot.drop(origin, targets)
        self._code.line("br label %yield")

    def polls(self, targets: Iterable[int], origin: int) -> bool:
        """Return whether a jump to one of some blocks is one back in a loop that may wait."""
        return any(target <= origin and target in self._loops for target in targets)

    def tick(self, origin: int, mask: str, targets: _Lanes) -> None:
        """Call back after many jumps back, for time limits and interruptions, and to yield.

        Args:
            origin: The block that the active lanes leave.
            mask: These lanes.
            targets: The blocks that they run next; none in a call, where they do not yield.
        """
        code = self._code
        site = layout.TICK_SITE - origin
        tick, on = code.fresh("tick"), code.fresh("on")
        if self.transitions is not None:
            answer = self.transitions.tick(site, mask)
        else:
            left = field(code, "%ctx", layout.TICKS, "i64")
            less = code.scalar(f"sub i64 {left}, 1")
            store_field(code, "%ctx", layout.TICKS, "i64", less)
            now = code.scalar(f"icmp eq i64 {less}, 0")
            code.line(f"br i1 {now}, label %{tick}, label %{on}, !prof !2")
            code.label(tick)
            answer = call_back(code, site, mask)
        cases = [f"i32 {layout.FAULT}, label %fault"]
        yields = code.fresh("preempted")
        is_called = self._frames is not None and origin >= self._frames.first
        if targets and not is_called:
            cases.append(f"i32 {layout.PREEMPT}, label %{yields}")
        code.line(f"switch i32 {answer}, label %{on} [ {' '.join(cases)} ]")
        if targets and not is_called:
            code.label(yields)
            self._yield_to(origin, targets)
        code.label(on)

    def _poll(self, target: int) -> str:
        """Count a jump back to a loop; return the label for lanes that need not yield."""
        code = self._code
        left = code.scalar(f"sub i32 {code.scalar('load i32, ptr %BUDGET')}, {self._loops[target]}")
        code.line(f"store i32 {left}, ptr %BUDGET")
        empty = code.scalar(f"icmp sle i32 {left}, 0")
        stays, yields = code.fresh("stays"), code.fresh("yields")
        code.line(f"br i1 {empty}, label %{yields}, label %{stays}, !prof !2")
        code.label(yields)
        return stays
