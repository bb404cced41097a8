"""The code of a range of thread blocks: ``run`` executes one block after the other.

The warps of a block run in turn, each until its lanes have exited or wait. When all live lanes of
the block wait at a barrier, they are released.
"""

from __future__ import annotations

from cudarun.emulator.compiled import layout
from cudarun.emulator.compiled.layout import WarpState
from cudarun.emulator.compiled.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.vectors import CodeBuilder, ModuleText


def define_run(module: ModuleText, state: WarpState, afters: list[int], *, shared: bool) -> None:
    """Add ``run`` to a module.

    Args:
        module: The module.
        state: The layout of a warp's state.
        afters: The block after each barrier.
        shared: Whether blocks have shared memory, which is zero when they start.
    """
    code = CodeBuilder(module)
    module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    code.label("entry")
    code.line(f"%states.at = getelementptr i8, ptr %ctx, i64 {layout.STATES}")
    code.line("%states = load ptr, ptr %states.at, align 8")
    code.line(f"%warps.at = getelementptr i8, ptr %ctx, i64 {layout.WARPS}")
    code.line("%warps = load i64, ptr %warps.at, align 8")
    code.line(f"%threads.at = getelementptr i8, ptr %ctx, i64 {layout.THREADS}")
    code.line("%threads = load i64, ptr %threads.at, align 8")
    code.line("br label %block")
    code.label("block")
    code.line("%place = phi i64 [ 0, %entry ], [ %place.next, %block.done ]")
    code.line("%over = icmp uge i64 %place, %count")
    code.line("br i1 %over, label %end, label %begin")
    code.label("begin")
    number = code.scalar("add i64 %first, %place")
    store_field(code, "%ctx", layout.BLOCK, "i64", number)
    row = code.scalar("mul i64 %place, %row.bytes")
    at = pointer_to(code, "%rows", row)
    store_field(code, "%ctx", layout.BLOCK_REGISTERS, "ptr", at)
    if shared:
        memory = field(code, "%ctx", layout.SHARED, "ptr")
        size = field(code, "%ctx", layout.SHARED_STRIDE, "i64")
        code.line(f"call void @llvm.memset.p0.i64(ptr {memory}, i8 0, i64 {size}, i1 false)")
    _begin_warps(code, state)
    _rounds(code, state, afters)
    code.label("block.done")
    code.line("%place.next = add i64 %place, 1")
    code.line("br label %block")
    code.label("stuck")
    code.line(f"%callback.at = getelementptr i8, ptr %ctx, i64 {layout.CALLBACK}")
    code.line("%callback = load ptr, ptr %callback.at, align 8")
    code.line(f"%ignored = call i32 %callback(i32 {layout.DEADLOCK_SITE}, i32 0, i32 0)")
    code.line("ret i32 1")
    code.label("fault")
    code.line("ret i32 1")
    code.label("end")
    code.line("ret i32 0")
    head = "define i32 @run(ptr %ctx, i64 %first, i64 %count, ptr %rows, i64 %row.bytes) #0 {"
    module.define("run", "\n".join([head, *code.lines, "}"]))


def _begin_warps(code: CodeBuilder, state: WarpState) -> None:
    """Let all lanes of the block wait to run the first block of the code."""
    code.line("br label %warp.begin")
    code.label("warp.begin")
    code.line("%new = phi i64 [ 0, %begin ], [ %new.next, %warp.begin ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %new, {state.size}"))
    size = state.mask_bytes
    code.line(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {size}, i1 false)")
    before = code.scalar("mul i64 %new, 32")
    left = code.scalar(f"sub i64 %threads, {before}")
    whole = code.scalar(f"icmp uge i64 {left}, 32")
    ones = code.scalar(f"shl i64 1, {left}")
    some = code.scalar(f"sub i64 {ones}, 1")
    mask = code.scalar(f"select i1 {whole}, i64 4294967295, i64 {some}")
    lanes = code.scalar(f"trunc i64 {mask} to i32")
    store_field(code, at, state.ALIVE, "i32", lanes)
    store_field(code, at, state.pending(0), "i32", lanes)
    code.line("%new.next = add i64 %new, 1")
    code.line("%new.more = icmp ult i64 %new.next, %warps")
    code.line("br i1 %new.more, label %warp.begin, label %round")


def _rounds(code: CodeBuilder, state: WarpState, afters: list[int]) -> None:
    """Run all warps in turn, and release those at a barrier, until all lanes have exited."""
    code.label("round")
    code.line("br label %warp")
    code.label("warp")
    code.line("%current = phi i64 [ 0, %round ], [ %warp.next, %warp.done ]")
    code.line("%living = phi i32 [ 0, %round ], [ %living.now, %warp.done ]")
    code.line("%yielding = phi i32 [ 0, %round ], [ %yielding.now, %warp.done ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %current, {state.size}"))
    alive = field(code, at, state.ALIVE, "i32")
    dead = code.scalar(f"icmp eq i32 {alive}, 0")
    code.line(f"br i1 {dead}, label %warp.done, label %warp.run")
    code.label("warp.run")
    number = code.scalar("trunc i64 %current to i32")
    answer = code.scalar(f"call i32 @step(ptr %ctx, i32 {number})")
    wrong = code.scalar(f"icmp eq i32 {answer}, {layout.FAILS}")
    code.line(f"br i1 {wrong}, label %fault, label %warp.ran")
    code.label("warp.ran")
    left = field(code, at, state.ALIVE, "i32")
    living = code.scalar(f"or i32 %living, {left}")
    yielding = code.scalar(f"or i32 %yielding, {answer}")
    code.line("br label %warp.done")
    code.label("warp.done")
    code.line(f"%living.now = phi i32 [ %living, %warp ], [ {living}, %warp.ran ]")
    code.line(f"%yielding.now = phi i32 [ %yielding, %warp ], [ {yielding}, %warp.ran ]")
    code.line("%warp.next = add i64 %current, 1")
    code.line("%more = icmp ult i64 %warp.next, %warps")
    code.line("br i1 %more, label %warp, label %ran")
    code.label("ran")
    code.line("%all.dead = icmp eq i32 %living.now, 0")
    code.line("br i1 %all.dead, label %block.done, label %yielded")
    code.label("yielded")
    code.line("%some.run = icmp ne i32 %yielding.now, 0")
    code.line(f"br i1 %some.run, label %round, label %{'check' if afters else 'stuck'}")
    if not afters:
        return
    code.label("check")  # every live lane waits at the barrier
    code.line("%checked = phi i64 [ 0, %yielded ], [ %checked.next, %check.next ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %checked, {state.size}"))
    alive = field(code, at, state.ALIVE, "i32")
    waiting = "0"
    for place in range(len(afters)):
        waiting = code.scalar(f"or i32 {waiting}, {field(code, at, state.waiting(place), 'i32')}")
    same = code.scalar(f"icmp eq i32 {waiting}, {alive}")
    code.line(f"br i1 {same}, label %check.next, label %stuck")
    code.label("check.next")
    code.line("%checked.next = add i64 %checked, 1")
    code.line("%check.more = icmp ult i64 %checked.next, %warps")
    code.line("br i1 %check.more, label %check, label %release")
    code.label("release")
    code.line("%freed = phi i64 [ 0, %check.next ], [ %freed.next, %release ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %freed, {state.size}"))
    for place, after in enumerate(afters):
        lanes = field(code, at, state.waiting(place), "i32")
        store_field(code, at, state.waiting(place), "i32", "0")
        held = field(code, at, state.pending(after), "i32")
        both = code.scalar(f"or i32 {held}, {lanes}")
        store_field(code, at, state.pending(after), "i32", both)
    code.line("%freed.next = add i64 %freed, 1")
    code.line("%freed.more = icmp ult i64 %freed.next, %warps")
    code.line("br i1 %freed.more, label %release, label %round")
