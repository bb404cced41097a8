"""The code of a range of thread blocks: ``run`` executes them, one or several at a time.

``round`` runs the warps of a block in turn, each until its lanes have exited, wait, or let others
run. When all live lanes of the block wait at a barrier, they are released. The blocks of a cluster
run together. While blocks may wait for others, ``run`` begins more of them, as many as there are
slots: each has a context, memory and warp states of its own.
"""

from __future__ import annotations

from cudarun.emulator.compiled.access.shadow import begin_block, begin_epoch
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, ModuleText
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import BLOCKED, ENDED, FAILS, MEETS, YIELDS, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.sync_checks import check_release
from cudarun.emulator.memory import UNDEFINED_BYTE

_PATIENCE = 64  # rounds of blocks that all may wait for others, until another block begins
_STALL = 1024  # rounds without a slot for another block, until the caller is asked


def define_run(
    module: ModuleText,
    state: WarpState,
    afters: list[int],
    cluster_afters: list[int],
    *,
    meets: bool,
    is_observed: bool = False,
    finds_sync_errors: bool = False,
) -> None:
    """Add ``run`` to a module.

    Args:
        module: The module.
        state: The layout of a warp's state.
        afters: The block of code after each barrier, unless they are counted.
        cluster_afters: That after each barrier of the cluster.
        meets: Whether lanes of a warp that wait at several places can meet.
        is_observed: Whether accesses are recorded for detectors.
        finds_sync_errors: Whether lanes are checked for synchronization errors.
    """
    module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    _define_begin(module, state, is_observed=is_observed)
    _define_round(
        module,
        state,
        afters,
        meets=meets,
        is_observed=is_observed,
        finds_sync_errors=finds_sync_errors,
    )
    _define_cluster(module, state, cluster_afters)
    _define_blocks(module)


def _function(module: ModuleText, head: str, name: str, code: CodeBuilder) -> None:
    module.define(name, "\n".join([f"define {head} #0 {{", *code.lines, "}"]))


def _block_fields(code: CodeBuilder, *names: str) -> None:
    """Load fields of a block's context."""
    places = {"states": ("ptr", layout.STATES), "warps": ("i64", layout.WARPS)}
    for name in names:
        kind, offset = places[name]
        code.line(f"%{name}.at = getelementptr i8, ptr %ctx, i64 {offset}")
        code.line(f"%{name} = load {kind}, ptr %{name}.at, align 8")


# --- a block -------------------------------------------------------------------------------------


def _define_begin(module: ModuleText, state: WarpState, *, is_observed: bool) -> None:
    """Define the start of a block: its lanes wait to run the first block of the code."""
    code = CodeBuilder(module)
    code.label("entry")
    _block_fields(code, "states", "warps")
    store_field(code, "%ctx", layout.BLOCK, "i64", "%number")
    store_field(code, "%ctx", layout.BLOCK_REGISTERS, "ptr", "%row")
    store_field(code, "%ctx", layout.RUNNING, "i64", "1")
    store_field(code, "%ctx", layout.CALLING_MASK, "i32", "0")
    _fill(code, layout.SHARED, layout.SHARED_STRIDE, UNDEFINED_BYTE)
    _fill(code, layout.SHARED, layout.SHARED_RESERVED, 0)
    _fill(code, layout.LOCAL, layout.LOCAL_SIZE, UNDEFINED_BYTE)
    _fill(code, layout.TESTS, layout.TESTS_BYTES, 0)
    if is_observed:
        begin_block(code, "%number")
        _fill(code, layout.SHARED_SHADOW, layout.SHARED_SHADOW_BYTES, 0)
        _fill(code, layout.SHARED_MARKS, layout.SHARED_MARKS_BYTES, 1)
        _fill(code, layout.LOCAL_MARKS, layout.LOCAL_MARKS_BYTES, 1)
    threads = field(code, "%ctx", layout.THREADS, "i64")
    code.line("br label %warp")
    code.label("warp")
    code.line("%new = phi i64 [ 0, %entry ], [ %new.next, %warp ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %new, {state.size}"))
    masks = state.mask_bytes
    code.line(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {masks}, i1 false)")
    before = code.scalar("mul i64 %new, 32")
    left = code.scalar(f"sub i64 {threads}, {before}")
    whole = code.scalar(f"icmp uge i64 {left}, 32")
    ones = code.scalar(f"shl i64 1, {left}")
    some = code.scalar(f"sub i64 {ones}, 1")
    mask = code.scalar(f"select i1 {whole}, i64 4294967295, i64 {some}")
    lanes = code.scalar(f"trunc i64 {mask} to i32")
    store_field(code, at, state.ALIVE, "i32", lanes)
    store_field(code, at, state.pending(0), "i32", lanes)
    code.line("%new.next = add i64 %new, 1")
    code.line("%new.more = icmp ult i64 %new.next, %warps")
    code.line("br i1 %new.more, label %warp, label %done")
    code.label("done")
    code.line("ret void")
    _function(module, "internal void @begin(ptr %ctx, i64 %number, ptr %row)", "begin", code)


def _fill(code: CodeBuilder, memory: int, size: int, value: int) -> None:
    """Fill memory with a byte, by the places of its pointer and its size in the context."""
    pointer, count = field(code, "%ctx", memory, "ptr"), field(code, "%ctx", size, "i64")
    code.line(f"call void @llvm.memset.p0.i64(ptr {pointer}, i8 {value}, i64 {count}, i1 false)")


def _define_round(
    module: ModuleText,
    state: WarpState,
    afters: list[int],
    *,
    meets: bool,
    is_observed: bool,
    finds_sync_errors: bool,
) -> None:
    """Define the round of a block: run its warps, and release those at a barrier."""
    code = CodeBuilder(module)
    code.label("entry")
    _block_fields(code, "states", "warps")
    code.line("br label %round")
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
    if meets:
        answer = _meet(code, number, answer)
    wrong = code.scalar(f"icmp eq i32 {answer}, {FAILS}")
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
    code.line("br i1 %all.dead, label %ended, label %living.some")
    code.label("living.some")
    code.line("%some.run = icmp ne i32 %yielding.now, 0")
    if state.counted:
        code.line("%released = call i32 @barrier.recheck(ptr %ctx)")
        code.line("br i1 %some.run, label %yields, label %none.runs")
        code.label("none.runs")
        code.line("%are.released = icmp ne i32 %released, 0")
        code.line("br i1 %are.released, label %round, label %blocked")
    elif afters:
        code.line("br i1 %some.run, label %yields, label %check")
        _release(code, state, afters, is_observed=is_observed, finds_sync_errors=finds_sync_errors)
    else:
        code.line("br i1 %some.run, label %yields, label %blocked")
    for label, returned in (
        ("ended", ENDED),
        ("fault", FAILS),
        ("yields", YIELDS),
        ("blocked", BLOCKED),
    ):
        code.label(label)
        code.line(f"ret i32 {returned}")
    _function(module, "internal i32 @round(ptr %ctx)", "round", code)


def _meet(code: CodeBuilder, warp: str, answer: str) -> str:
    """Call back if lanes of a warp may meet, which run then; return the answer without this."""
    meets = code.scalar(f"icmp uge i32 {answer}, {MEETS}")
    code.line(f"br i1 {meets}, label %meet, label %met")
    code.label("meet")
    store_field(code, "%ctx", layout.SITE, "i32", str(layout.MEETING_SITE))
    store_field(code, "%ctx", layout.CALLING_WARP, "i32", warp)
    store_field(code, "%ctx", layout.CALLING_MASK, "i32", "0")
    got = code.scalar(f"call i32 {field(code, '%ctx', layout.CALLBACK, 'ptr')}(ptr %ctx)")
    cases = f"i32 {layout.DONE}, label %warp.run i32 {layout.FAULT}, label %fault"
    code.line(f"switch i32 {got}, label %met [ {cases} ]")
    code.label("met")
    return code.scalar(f"and i32 {answer}, {MEETS - 1}")


def _release(
    code: CodeBuilder,
    state: WarpState,
    afters: list[int],
    *,
    is_observed: bool,
    finds_sync_errors: bool,
) -> None:
    """Release the lanes of the block if every live one waits at the barrier."""
    code.label("check")
    code.line("%checked = phi i64 [ 0, %living.some ], [ %checked.next, %check.next ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %checked, {state.size}"))
    alive = field(code, at, state.ALIVE, "i32")
    waiting = "0"
    for place in range(len(afters)):
        waiting = code.scalar(f"or i32 {waiting}, {field(code, at, state.waiting(place), 'i32')}")
    same = code.scalar(f"icmp eq i32 {waiting}, {alive}")
    code.line(f"br i1 {same}, label %check.next, label %blocked")
    code.label("check.next")
    code.line("%checked.next = add i64 %checked, 1")
    code.line("%check.more = icmp ult i64 %checked.next, %warps")
    code.line("br i1 %check.more, label %check, label %complete")
    code.label("complete")
    if is_observed:
        begin_epoch(code)
    code.line("br label %release")
    code.label("release")
    code.line("%freed = phi i64 [ 0, %complete ], [ %freed.next, %release ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %freed, {state.size}"))
    if finds_sync_errors:
        check_release(code, at)
    if is_observed:
        store_field(code, at, state.SYNCS, "i32", "0")
    for place, after in enumerate(afters):
        lanes = field(code, at, state.waiting(place), "i32")
        store_field(code, at, state.waiting(place), "i32", "0")
        held = field(code, at, state.pending(after), "i32")
        both = code.scalar(f"or i32 {held}, {lanes}")
        store_field(code, at, state.pending(after), "i32", both)
    code.line("%freed.next = add i64 %freed, 1")
    code.line("%freed.more = icmp ult i64 %freed.next, %warps")
    code.line("br i1 %freed.more, label %release, label %round")


# --- a cluster -----------------------------------------------------------------------------------


def _define_cluster(module: ModuleText, state: WarpState, afters: list[int]) -> None:
    """Define the round of the blocks of a cluster; most launches have clusters of one block."""
    code = CodeBuilder(module)
    code.label("entry")
    code.line(f"%size.at = getelementptr i8, ptr %first, i64 {layout.CLUSTER}")
    code.line("%size = load i64, ptr %size.at, align 8")
    code.line("br label %again")
    code.label("again")
    code.line("br label %block")
    code.label("block")
    code.line("%place = phi i64 [ 0, %again ], [ %place.next, %ran ]")
    code.line("%together = phi i32 [ 0, %again ], [ %together.now, %ran ]")
    offset = code.scalar(f"mul i64 %place, {layout.CONTEXT_BYTES}")
    at = pointer_to(code, "%first", offset)
    code.line(f"%answer = call i32 @round(ptr {at})")
    code.line(f"%wrong = icmp eq i32 %answer, {FAILS}")
    code.line("br i1 %wrong, label %fault, label %ran")
    code.label("ran")
    code.line("%together.now = or i32 %together, %answer")
    code.line("%place.next = add i64 %place, 1")
    code.line("%more = icmp ult i64 %place.next, %size")
    code.line("br i1 %more, label %block, label %all")
    code.label("all")
    code.line(f"%some = and i32 %together.now, {YIELDS}")
    code.line("%some.run = icmp ne i32 %some, 0")
    if afters:
        code.line("%released = call i1 @release(ptr %first)")
        code.line("%go.on = xor i1 %some.run, true")
        code.line("%once.more = and i1 %released, %go.on")
        code.line("br i1 %once.more, label %again, label %end")
        code.label("end")
        _define_release(module, state, afters)
    result = code.scalar(f"select i1 %some.run, i32 {YIELDS}, i32 %together.now")
    code.line(f"ret i32 {result}")
    code.label("fault")
    code.line(f"ret i32 {FAILS}")
    _function(module, "internal i32 @cluster(ptr %first)", "cluster", code)


def _define_release(module: ModuleText, state: WarpState, afters: list[int]) -> None:
    """Define the release of the lanes of a cluster that wait for as many arrivals as all made."""
    code = CodeBuilder(module)
    kind = "<32 x i32>"
    module.declare(f"declare {kind} @llvm.umin.v32i32({kind}, {kind})")
    module.declare(f"declare i32 @llvm.vector.reduce.umin.v32i32({kind})")
    code.label("entry")
    code.line(f"%size.at = getelementptr i8, ptr %first, i64 {layout.CLUSTER}")
    code.line("%size = load i64, ptr %size.at, align 8")
    code.line(f"%warps.at = getelementptr i8, ptr %first, i64 {layout.WARPS}")
    code.line("%warps = load i64, ptr %warps.at, align 8")
    code.line("%all = mul i64 %size, %warps")
    # the states of the blocks of a cluster follow each other
    code.line(f"%states.at = getelementptr i8, ptr %first, i64 {layout.STATES}")
    code.line("%states = load ptr, ptr %states.at, align 8")
    code.line("br label %count")
    code.label("count")
    code.line("%counted = phi i64 [ 0, %entry ], [ %counted.next, %count ]")
    code.line(f"%least = phi {kind} [ splat (i32 -1), %entry ], [ %less, %count ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %counted, {state.size}"))
    alive = code.from_mask(field(code, at, state.ALIVE, "i32"))
    arrived = code.scalar(
        f"load {kind}, ptr {pointer_to(code, at, state.cluster_arrived)}, align 4"
    )
    counted = code.scalar(f"select {alive.typed}, {kind} {arrived}, {kind} splat (i32 -1)")
    code.line(f"%less = call {kind} @llvm.umin.v32i32({kind} %least, {kind} {counted})")
    code.line("%counted.next = add i64 %counted, 1")
    code.line("%count.more = icmp ult i64 %counted.next, %all")
    code.line("br i1 %count.more, label %count, label %counted.all")
    code.label("counted.all")
    code.line(f"%complete = call i32 @llvm.vector.reduce.umin.v32i32({kind} %less)")
    every = code.broadcast("i32", "%complete")
    code.line("br label %free")
    code.label("free")
    code.line("%freed = phi i64 [ 0, %counted.all ], [ %freed.next, %free ]")
    code.line("%found = phi i32 [ 0, %counted.all ], [ %found.now, %free ]")
    at = pointer_to(code, "%states", code.scalar(f"mul i64 %freed, {state.size}"))
    waited = code.vector(
        f"load {kind}, ptr {pointer_to(code, at, state.cluster_waited)}, align 4", "i32"
    )
    ready = code.to_mask(code.compare("ule", waited, every))
    found = "%found"
    for place, after in enumerate(afters):
        held = field(code, at, state.cluster_waiting(place), "i32")
        lanes = code.scalar(f"and i32 {held}, {ready}")
        rest = code.scalar(f"xor i32 {held}, {lanes}")
        store_field(code, at, state.cluster_waiting(place), "i32", rest)
        pending = field(code, at, state.pending(after), "i32")
        both = code.scalar(f"or i32 {pending}, {lanes}")
        store_field(code, at, state.pending(after), "i32", both)
        found = code.scalar(f"or i32 {found}, {lanes}")
    code.line(f"%found.now = or i32 {found}, 0")
    code.line("%freed.next = add i64 %freed, 1")
    code.line("%free.more = icmp ult i64 %freed.next, %all")
    code.line("br i1 %free.more, label %free, label %done")
    code.label("done")
    code.line("%any = icmp ne i32 %found.now, 0")
    code.line("ret i1 %any")
    _function(module, "internal i1 @release(ptr %first)", "release", code)


# --- all blocks ----------------------------------------------------------------------------------


def _define_blocks(module: ModuleText) -> None:
    """Define ``run``: begin blocks, and give those that have begun rounds until they have ended."""
    code = CodeBuilder(module)
    code.label("entry")
    for name, offset in (
        ("slots", layout.SLOTS),
        ("size", layout.CLUSTER),
        ("eager", layout.ALL_AT_ONCE),
    ):
        code.line(f"%{name}.at = getelementptr i8, ptr %ctx, i64 {offset}")
        code.line(f"%{name} = load i64, ptr %{name}.at, align 8")
    code.line("%is.eager = icmp ne i64 %eager, 0")
    code.line(f"%most.rounds = select i1 %is.eager, i64 0, i64 {_PATIENCE}")
    code.line("br label %pass")

    code.label("pass")  # each begins blocks, or gives each running cluster a round
    code.line("%next = phi i64 [ 0, %entry ], [ %next.now, %begun ], [ %next, %again ]")
    code.line("%active = phi i64 [ 0, %entry ], [ %active.more, %begun ], [ %active.now, %again ]")
    code.line("%used = phi i64 [ 0, %entry ], [ %used.now, %begun ], [ %used, %again ]")
    code.line("%rounds = phi i64 [ 0, %entry ], [ 0, %begun ], [ %rounds.now, %again ]")
    code.line("%left = icmp ult i64 %next, %count")
    code.line("%idle = icmp eq i64 %active, 0")
    code.line("%impatient = icmp uge i64 %rounds, %most.rounds")
    code.line("%taken = mul i64 %active, %size")
    code.line("%room = icmp ult i64 %taken, %slots")
    code.line("%another = and i1 %impatient, %room")
    code.line("%wanted = or i1 %idle, %another")
    code.line("%now = and i1 %wanted, %left")
    code.line("br i1 %now, label %seek, label %continue")

    code.label("seek")
    code.line("%slot = phi i64 [ 0, %pass ], [ %slot.next, %seek ]")
    code.line(f"%slot.offset = mul i64 %slot, {layout.CONTEXT_BYTES}")
    slot = pointer_to(code, "%ctx", "%slot.offset")
    running = field(code, slot, layout.RUNNING, "i64")
    code.line("%slot.next = add i64 %slot, %size")
    free = code.scalar(f"icmp eq i64 {running}, 0")
    code.line(f"br i1 {free}, label %begin, label %seek")
    code.label("begin")
    code.line("%rank = phi i64 [ 0, %seek ], [ %rank.next, %begin ]")
    place = code.scalar("add i64 %next, %rank")
    number = code.scalar(f"add i64 {place}, %first")
    row = pointer_to(code, "%rows", code.scalar(f"mul i64 {place}, %row.bytes"))
    mine = pointer_to(code, slot, code.scalar(f"mul i64 %rank, {layout.CONTEXT_BYTES}"))
    code.line(f"call void @begin(ptr {mine}, i64 {number}, ptr {row})")
    code.line("%rank.next = add i64 %rank, 1")
    code.line("%rank.more = icmp ult i64 %rank.next, %size")
    code.line("br i1 %rank.more, label %begin, label %begun")
    code.label("begun")
    code.line("%next.now = add i64 %next, %size")
    code.line("%active.more = add i64 %active, 1")
    code.line("%is.higher = icmp ugt i64 %slot.next, %used")
    code.line("%used.now = select i1 %is.higher, i64 %slot.next, i64 %used")
    code.line("br label %pass")

    code.label("continue")
    code.line("br i1 %idle, label %end, label %turn")
    code.label("turn")
    code.line("%turn.slot = phi i64 [ 0, %continue ], [ %turn.next, %turned ]")
    code.line("%turn.active = phi i64 [ %active, %continue ], [ %active.now, %turned ]")
    code.line(f"%turn.offset = mul i64 %turn.slot, {layout.CONTEXT_BYTES}")
    slot = pointer_to(code, "%ctx", "%turn.offset")
    runs = field(code, slot, layout.RUNNING, "i64")
    absent = code.scalar(f"icmp eq i64 {runs}, 0")
    code.line(f"br i1 {absent}, label %turned, label %round")
    code.label("round")
    answer = code.scalar(f"call i32 @cluster(ptr {slot})")
    code.line(
        f"switch i32 {answer}, label %stuck "
        f"[ i32 {ENDED}, label %ended i32 {YIELDS}, label %turned i32 {FAILS}, label %fault ]"
    )
    code.label("ended")
    store_field(code, slot, layout.RUNNING, "i64", "0")
    code.line("%active.less = sub i64 %turn.active, 1")
    code.line("br label %turned")
    code.label("stuck")
    callback = field(code, slot, layout.CALLBACK, "ptr")
    store_field(code, slot, layout.SITE, "i32", str(layout.DEADLOCK_SITE))
    code.scalar(f"call i32 {callback}(ptr {slot})")
    code.line(f"ret i32 {FAILS}")
    code.label("turned")
    code.line(
        "%active.now = phi i64 [ %turn.active, %turn ], [ %turn.active, %round ], "
        "[ %active.less, %ended ]"
    )
    code.line("%turn.next = add i64 %turn.slot, %size")
    code.line("%turn.more = icmp ult i64 %turn.next, %used")
    code.line("br i1 %turn.more, label %turn, label %passed")
    code.label("passed")
    code.line("%same = icmp eq i64 %active.now, %active")
    code.line("%rounds.more = add i64 %rounds, 1")
    code.line("%rounds.now = select i1 %same, i64 %rounds.more, i64 0")
    code.line("%rounds.less = sub i64 %rounds.now, 1")
    code.line("%rounds.both = and i64 %rounds.now, %rounds.less")
    code.line("%is.power = icmp eq i64 %rounds.both, 0")
    code.line(f"%is.long = icmp uge i64 %rounds.now, {_STALL}")
    code.line("%stalled = and i1 %is.power, %is.long")
    code.line("%asks = and i1 %stalled, %left")
    code.line("br i1 %asks, label %ask, label %again")
    code.label("ask")
    store_field(code, "%ctx", layout.SITE, "i32", str(layout.STALL_SITE))
    callback = field(code, "%ctx", layout.CALLBACK, "ptr")
    answer = code.scalar(f"call i32 {callback}(ptr %ctx)")
    code.line(f"%ends = icmp eq i32 {answer}, {layout.FAULT}")
    code.line("br i1 %ends, label %fault, label %again")
    code.label("again")
    code.line("br label %pass")
    code.label("fault")
    code.line(f"ret i32 {FAILS}")
    code.label("end")
    code.line(f"ret i32 {ENDED}")
    head = "i32 @run(ptr %ctx, i64 %first, i64 %count, ptr %rows, i64 %row.bytes)"
    _function(module, head, "run", code)
