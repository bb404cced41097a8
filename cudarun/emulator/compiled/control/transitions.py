"""Functions for the ends of the basic blocks of large kernels, whose code in line would be longer.

They do what ``schedule.py`` and ``warp_code.py`` do in line for other kernels.
"""

from __future__ import annotations

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, ModuleText
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import WarpState

DISPATCHED, FIRST, SECOND = 0, 1, 2
"""What lanes do next: they wait, or continue with the first or the second block."""

_PARK = """
define internal void @park(ptr %state, ptr %pending, i32 %block, i32 %mask) noinline #0 {{
  %masks = getelementptr i8, ptr %state, i64 {pending}
  %at = getelementptr i32, ptr %masks, i32 %block
  %old = load i32, ptr %at, align 4
  %new = or i32 %old, %mask
  store i32 %new, ptr %at, align 4
  %before = load i32, ptr %pending, align 4
  %after = or i32 %before, %mask
  store i32 %after, ptr %pending, align 4
  ret void
}}"""

_ADVANCE = """
define internal i32 @advance(ptr %state, ptr %pending, i32 %mask, i32 %taken, i32 %a, i32 %b)
  noinline #0 {{
  %other = xor i32 %taken, %mask
  %before = load i32, ptr %pending, align 4
  %alone = icmp eq i32 %before, 0
  %all = icmp eq i32 %other, 0
  %none = icmp eq i32 %taken, 0
  %uniform = or i1 %all, %none
  %fast = and i1 %uniform, %alone
  br i1 %fast, label %continue, label %wait
continue:
  %next = select i1 %all, i32 {first}, i32 {second}
  ret i32 %next
wait:
  call void @park(ptr %state, ptr %pending, i32 %a, i32 %taken)
  call void @park(ptr %state, ptr %pending, i32 %b, i32 %other)
  ret i32 {dispatched}
}}"""

_TICK = """
define internal i32 @tick(ptr %ctx, i32 %warp, i32 %site, i32 %mask) noinline #0 {{
  %left.at = getelementptr i8, ptr %ctx, i64 {ticks}
  %left = load i64, ptr %left.at, align 8
  %less = sub i64 %left, 1
  store i64 %less, ptr %left.at, align 8
  %now = icmp eq i64 %less, 0
  br i1 %now, label %call, label %on, !prof !2
call:
  %site.at = getelementptr i8, ptr %ctx, i64 {site}
  store i32 %site, ptr %site.at, align 4
  %warp.at = getelementptr i8, ptr %ctx, i64 {calling_warp}
  store i32 %warp, ptr %warp.at, align 4
  %mask.at = getelementptr i8, ptr %ctx, i64 {calling_mask}
  store i32 %mask, ptr %mask.at, align 4
  %callback.at = getelementptr i8, ptr %ctx, i64 {callback}
  %callback = load ptr, ptr %callback.at, align 8
  %answer = call i32 %callback(ptr %ctx)
  ret i32 %answer
on:
  ret i32 {retry}
}}"""

_GATHER = """
define internal i32 @gather(ptr %state, i32 %block, i32 %mask, <32 x i32> %members) noinline #0 {{
  %masks = getelementptr i8, ptr %state, i64 {parked}
  %at = getelementptr i32, ptr %masks, i32 %block
  %waiting = load i32, ptr %at, align 4
  %here = or i32 %mask, %waiting
  %alive.at = getelementptr i8, ptr %state, i64 {alive}
  %alive = load i32, ptr %alive.at, align 4
  %whole = icmp eq i32 %here, %alive
  br i1 %whole, label %ready, label %some
ready:
  store i32 0, ptr %at, align 4
  ret i32 %here
some:
  %gone = xor i32 %here, -1
  %absent = and i32 %alive, %gone
  %first = insertelement <32 x i32> poison, i32 %absent, i32 0
  %spread = shufflevector <32 x i32> %first, <32 x i32> poison, <32 x i32> zeroinitializer
  %missing = and <32 x i32> %members, %spread
  %present = icmp eq <32 x i32> %missing, zeroinitializer
  %lanes = bitcast <32 x i1> %present to i32
  %complete = and i32 %lanes, %here
  %rest = xor i32 %complete, %here
  store i32 %rest, ptr %at, align 4
  ret i32 %complete
}}"""

_SCATTER = """
define internal void @scatter(ptr %state, ptr %pending) noinline #0 {{
entry:
  br label %next
next:
  %block = phi i32 [ 0, %entry ], [ %after, %next ]
  %masks = getelementptr i8, ptr %state, i64 {parked}
  %at = getelementptr i32, ptr %masks, i32 %block
  %waiting = load i32, ptr %at, align 4
  store i32 0, ptr %at, align 4
  call void @park(ptr %state, ptr %pending, i32 %block, i32 %waiting)
  %after = add i32 %block, 1
  %more = icmp ult i32 %after, {blocks}
  br i1 %more, label %next, label %done
done:
  ret void
}}"""


class Transitions:
    """Calls of these functions.

    Args:
        code: The code that calls them.
        state: The layout of a warp's state.
    """

    def __init__(self, code: CodeBuilder, state: WarpState) -> None:
        self._code = code
        define(code.module, state)

    def park(self, block: int, mask: str) -> None:
        """Let lanes wait to run a block."""
        self._code.line(f"call void @park(ptr %state, ptr %PENDING, i32 {block}, i32 {mask})")

    def advance(self, targets: tuple[int, int], mask: str, taken: str) -> None:
        """Let active lanes continue with one of two blocks, those of ``taken`` the first."""
        a, b = targets
        given = f"ptr %state, ptr %PENDING, i32 {mask}, i32 {taken}, i32 {a}, i32 {b}"
        next_ = self._code.scalar(f"call i32 @advance({given})")
        cases = f"i32 {FIRST}, label %enter.{a} i32 {SECOND}, label %enter.{b}"
        self._code.line(f"switch i32 {next_}, label %dispatch [ {cases} ]")

    def tick(self, site: int, mask: str) -> str:
        """Call back after many jumps back; return the answer."""
        given = f"ptr %ctx, i32 %warp, i32 {site}, i32 {mask}"
        return self._code.scalar(f"call i32 @tick({given})")

    def gather(self, block: int, mask: str, members: LaneVector) -> str:
        """Return the lanes, of the active ones and those parked, whose members are all there."""
        given = f"ptr %state, i32 {block}, i32 {mask}, {members.typed}"
        return self._code.scalar(f"call i32 @gather({given})")

    def scatter(self) -> None:
        """Let the parked lanes look again who is there."""
        self._code.line("call void @scatter(ptr %state, ptr %PENDING)")


def define(module: ModuleText, state: WarpState) -> None:
    """Add the functions to a module."""
    for name, text in (
        ("park", _PARK), ("advance", _ADVANCE), ("tick", _TICK),
        ("gather", _GATHER), ("scatter", _SCATTER),
    ):  # fmt: skip
        values = {
            "pending": state.pending(0),
            "parked": state.parked(0),
            "alive": state.ALIVE,
            "blocks": state.blocks,
            "ticks": layout.TICKS,
            "site": layout.SITE,
            "calling_warp": layout.CALLING_WARP,
            "calling_mask": layout.CALLING_MASK,
            "callback": layout.CALLBACK,
            "retry": layout.RETRY,
            "dispatched": DISPATCHED,
            "first": FIRST,
            "second": SECOND,
        }
        module.define(name, text.format(**values).strip())
