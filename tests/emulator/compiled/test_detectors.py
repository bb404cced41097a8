"""Detectors with compiled code: the findings are those of the interpreter's detectors."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

from cudarun.emulator import tiers
from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.engines import AUTO, COMPILE, INTERPRET, EngineNote, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import Device
from tests.emulator.test_detectors_asynchronous import COMMIT, COPY, HEAD, RIGHT, WAIT, WRONG
from tests.emulator.test_detectors_races import FOUND, KERNEL, SILENT
from tests.support.tiers import eager

WORDS = 4096
Outcome = tuple[str, bytes, bytes]


def launched(
    body: str,
    mode: str,
    *,
    grid: int = 1,
    block: int = 64,
    detect: str = "race,uninit",
    before: str = "",
    shared: int = 8192,
) -> tuple[Outcome, EngineNote]:
    """The findings and the memory after a launch, and the engine; half of the memory is written."""
    observer = DetectorObserver(detect.split(","))
    engines = Engines(mode, tiers=eager())
    made = Device(
        before + KERNEL.format(body=body).replace("part[8192]", f"part[{shared}]"),
        observer=observer,
        multiprocessors=4,
        execute=partial(execute, engines=engines),
    )
    made.memory.notes_writes = True
    address = made.memory.allocate(4 * WORDS, defined=False)
    made.memory.bytes_at(address, 2 * WORDS - 4, to_write=True)[:] = 0
    made.launch("k", (grid,), (block,), address)
    unwritten = made.memory.unwritten_at(address, 4 * WORDS)
    memory = made.read(address, np.uint32, WORDS)
    return (repr(observer.findings), memory.tobytes(), unwritten.tobytes()), engines.notes["k"]


def check_equal(body: str, **options: int | str) -> EngineNote:
    """Launch with both engines, whose findings and memory must be equal; return the engine."""
    found, note = launched(body, COMPILE, **options)
    assert found == launched(body, INTERPRET, **options)[0]
    return note


COMPILED = (
    "own words",
    "barrier",
    "barrier and write",
    "global memory and barrier",
    "atomics",
    "one value by all",
    "neighbouring bytes",
    "matrix stored, and barrier",
)


@pytest.mark.parametrize("name", COMPILED)
def test_launches_without_findings_are_compiled(name: str) -> None:
    note = check_equal(SILENT[name], detect="race")
    assert (note.engine, note.reason) == (COMPILE, "")


@pytest.mark.parametrize(
    "name", ["no barrier", "two values in one place", "a byte of a word", "generic addresses"]
)
def test_launches_with_races_are_repeated(name: str) -> None:
    note = check_equal(FOUND[name][0])
    assert (note.engine, note.reason) == (INTERPRET, tiers.SUSPECTED)


BODIES = {
    "blocks": "@%p0 st.global.u32 [%z], 1;\n bar.sync 0;\n ld.global.u32 %v1, [%z];",
    "an unwritten word of a vector": "ld.global.v4.u32 {%v1, %v2, %v3, %v4}, [%z+8176];",
    "unwritten words in a row": "ld.global.u32 %v1, [%g+8100];",
    "unwritten shared memory": "@%p2 st.shared.u32 [%s], %t;\n ld.shared.u32 %v1, [%s];",
    "an atomic on unwritten memory": "red.global.add.u32 [%z+8192], 1;",
    "a value that changes": "st.global.u32 [%z], 1;\n st.global.u32 [%z], 2;",
    "lanes after each other": (
        "@%p0 st.shared.u32 [%o], 1;\n bar.warp.sync -1;\n @!%p0 ld.shared.u32 %v1, [part+4];"
    ),
    "some lanes after each other": (
        "@%p0 st.shared.u32 [%o], 1;\n bar.warp.sync 15;\n @!%p0 ld.shared.u32 %v1, [part+4];"
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_findings_are_equal(body: str) -> None:
    note = check_equal(body, grid=2)
    assert note.engine == INTERPRET


def test_whole_warps_are_ordered_by_their_barrier() -> None:
    body = "st.shared.u32 [%s], %t; bar.warp.sync -1; ld.shared.u32 %v1, [%o];"
    assert check_equal(body, block=32).engine == COMPILE
    assert check_equal(body, block=64).engine == INTERPRET


FRAMES = """
.func (.param .b32 r) {name} (.param .b32 a) {{
    .local .align 4 .b8 own[8]; .reg .b32 %a, %r; .reg .pred %p; .param .b32 x, y;
    ld.param.b32 %a, [a]; and.b32 %r, %a, 1; setp.ne.b32 %p, %r, 0; mov.b32 %r, 0;
    @%p st.local.u32 [own+4], %a;
    {after}
    ld.local.u32 %a, [own+4]; add.u32 %r, %r, %a; st.param.b32 [r], %r; ret;
}}
"""
"""A function that writes its frame if bit 0 of its argument is set, and then reads it."""
ONCE = FRAMES.format(name="once", after="")
DEEP = FRAMES.format(
    name="deep",
    after="""setp.lt.u32 %p, %a, 4; @%p bra on;
    shr.u32 %r, %a, 2; st.param.b32 [x], %r; call (y), deep, (x); ld.param.b32 %r, [y]; on:""",
)
"""Such a function that calls itself with the other bits, if bit 2 or a higher one is set."""


def _calls(name: str, arguments: list[int]) -> str:
    calls = (
        f"mov.u32 %v1, {each}; st.param.b32 [x], %v1; call (y), {name}, (x); "
        "ld.param.b32 %v1, [y]; st.global.u32 [%m], %v1;"
        for each in arguments
    )
    return ".param .b32 x, y; " + " ".join(calls)


@pytest.mark.parametrize("name", ["once", "deep"])
@pytest.mark.parametrize("detect", ["uninit", "race,uninit"])
def test_frames_of_functions_are_new_in_each_call(name: str, detect: str) -> None:
    before = {"once": ONCE, "deep": DEEP}[name]
    right, wrong = _calls(name, [0b101, 0b10101, 0b1]), _calls(name, [0b101, 0b10100, 0b1])
    note = check_equal(right, before=before, grid=2, detect=detect)
    assert (note.engine, note.reason) == (COMPILE, "")
    note = check_equal(wrong, before=before, grid=2, detect=detect)
    assert (note.engine, note.reason) == (INTERPRET, tiers.SUSPECTED)


def test_frames_that_some_lanes_enter_are_new() -> None:
    second = _calls("once", [0b1]) + " @%p2 bra on; mov.u32 %v1, 0; bra call_; "
    second += "on: mov.u32 %v1, 1; call_: st.param.b32 [x], %v1; call (y), once, (x);"
    note = check_equal(second, before=ONCE, detect="uninit")
    assert (note.engine, note.reason) == (INTERPRET, tiers.SUSPECTED)


def test_uninitialized_reads_that_depend_on_the_order_of_blocks_are_found() -> None:
    body = "@%p1 st.global.u32 [%g+8192], 1;\n @!%p1 ld.global.u32 %v1, [%g+8192];"
    assert check_equal(body, grid=2, detect="uninit").engine == INTERPRET


def _statement(random_: random.Random) -> str:
    if random_.random() < 0.35:
        return random_.choice(["bar.sync 0;", "bar.sync 0;", "bar.warp.sync -1;"])
    predicate = random_.choice(["", "", "", "@%p0 ", "@%p1 ", "@%p2 "])
    space, address = random_.choice(
        [("shared", "%s"), ("shared", "%o"), ("global", "%g"), ("global", "%m"), ("global", "%z")]
    )
    value = random_.choice(["%t", "%b", "7"])
    return predicate + random_.choice(
        [
            f"ld.{space}.u32 %v1, [{address}];",
            f"ld.{space}.u16 %v1, [{address}+2];",
            f"st.{space}.u32 [{address}], {value};",
            f"red.{space}.add.u32 [{address}], 1;",
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    random_ = random.Random(seed)
    body = "\n".join(_statement(random_) for _ in range(random_.randint(2, 5)))
    check_equal(body, grid=random_.choice([1, 2]), block=random_.choice([32, 64, 100]))


REFUSED = {
    "bar.red.popc.u32 %v2, 0, %p0;": "a barrier with a number or a result, with detectors",
    "membar.gl;": "instruction membar.gl with detectors",
    "red.cta.global.add.u32 [%g], 1;": "instruction red.cta.global.add.u32 with detectors",
    "ld.volatile.global.u32 %v1, [%z];": "instruction ld.volatile.global.u32 with detectors",
}


@pytest.mark.parametrize(("body", "reason"), REFUSED.items())
def test_kernels_that_compiled_code_does_not_observe(body: str, reason: str) -> None:
    note = check_equal(body)
    assert (note.engine, note.reason) == (INTERPRET, reason)


COPIES = (*(name for name in RIGHT if name.startswith(("cp.async", "two groups"))),)


@pytest.mark.parametrize("name", COPIES)
def test_copies_without_findings_are_compiled(name: str) -> None:
    note = check_equal(RIGHT[name], before=HEAD, detect="race")
    observed = name != "cp.async at an mbarrier"
    assert not observed or (note.engine, note.reason) == (COMPILE, "")


@pytest.mark.parametrize("detect", ["race", "uninit", "race,uninit,sync"])
@pytest.mark.parametrize("name", WRONG)
def test_findings_of_asynchronous_operations_are_equal(name: str, detect: str) -> None:
    check_equal(WRONG[name][0], before=HEAD, detect=detect)


def test_an_equal_value_is_stored_where_another_lane_has_copied() -> None:
    right, wrong = ("st.shared.u32 [%s], 0;", "st.shared.u32 [%o], 0;")
    assert check_equal(COPY + COMMIT + WAIT + right, block=32).engine == COMPILE
    assert check_equal(COPY + COMMIT + WAIT + wrong, block=32).engine == INTERPRET


def test_statistics_observe_the_interpreter() -> None:
    engines = Engines(AUTO)
    made = Device(
        KERNEL.format(body=""),
        observer=DetectorObserver(["race"], count=True),
        execute=partial(execute, engines=engines),
    )
    made.launch("k", (1,), (32,), made.buffer(np.zeros(1)))
    assert engines.notes["k"].reason == "statistics and proofs observe the interpreter"


@pytest.mark.parametrize("second", ["[%m]", "[%z]"])
def test_compiled_code_begins_again_after_the_interpreter(second: str) -> None:
    loop = f"""mov.u32 %v2, 0;
    L: ld.global.u32 %v3, [%m]; add.u32 %v3, %v3, 1; st.global.u32 [%m], %v3;
    add.u32 %v2, %v2, 1; setp.lt.u32 %p3, %v2, 200; @%p3 bra L;
    st.global.u32 {second}, %t;"""
    found, note = launched(loop, AUTO, grid=3)
    assert found == launched(loop, INTERPRET, grid=3)[0]
    compiled = (COMPILE, "") if second == "[%m]" else (INTERPRET, tiers.SUSPECTED)
    assert (note.engine, note.reason) == compiled
