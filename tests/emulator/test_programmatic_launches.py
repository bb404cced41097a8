"""Programmatic launches: what a grid may access before it waits for the one before it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import cudarun.emulator.driver as cuda
from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.host.process import Process

WORDS = 256
BLOCKS, THREADS = 2, 64

# %m is the thread's word of the buffer, %o that of another thread in its block, %z the first one.
KERNEL = """
.visible .entry {name}(.param .u64 p) {{
  .reg .b32 %t, %b, %n, %v<4>; .reg .b64 %z, %m, %o; .reg .pred %p<2>;
  ld.param.u64 %z, [p];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
  mad.lo.u32 %v0, %b, %n, %t; mul.wide.u32 %m, %v0, 4; add.u64 %m, %m, %z;
  xor.b32 %v0, %v0, 1; mul.wide.u32 %o, %v0, 4; add.u64 %o, %o, %z;
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %b, 0;
  {body}
  ret;
}}
"""
TRIGGER, WAIT = "griddepcontrol.launch_dependents;", "griddepcontrol.wait;"
STORE, LOAD = "st.global.u32 [%m], 7;", "ld.global.u32 %v1, [%o];"
ADD = "red.global.add.u32 [%z], 1;"
TO_ITS_BLOCK = ".shared .align 16 .b8 s[256]; mul.wide.u32 %o, %b, 256; add.u64 %o, %o, %z; "
BULK_STORE = (
    TO_ITS_BLOCK + "mov.u32 %v2, s; mad.lo.u32 %v0, %t, 4, %v2; st.shared.u32 [%v0], 7;"
    " fence.proxy.async; bar.sync 0; @!%p0 bra B;"
    " cp.async.bulk.global.shared::cta.bulk_group [%o], [s], 256;"
    " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; B: "
)
BULK_LOAD = (
    TO_ITS_BLOCK + ".shared .align 8 .b64 done; @!%p0 bra B;"
    " mbarrier.init.shared.b64 [done], 1; fence.proxy.async;"
    " mbarrier.arrive.expect_tx.shared.b64 _, [done], 256;"
    " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%o], 256, [done];"
    " A: mbarrier.try_wait.parity.shared.b64 %p1, [done], 0; @!%p1 bra A; B: "
)


def call(name: str, *arguments: Any) -> Any:
    result, *values = getattr(cuda, name)(*arguments)
    assert result == cuda.CUresult.CUDA_SUCCESS, result.name
    return values[0] if values else None


def launch(*bodies: str, between: str = "", programmatic: bool = True) -> list[int]:
    """Launch kernels with these bodies one after the other; return the buffer."""
    call("cuInit", 0)
    call("cuCtxCreate", None, 0, 0)
    text = ".version 8.6\n.target sm_90\n.address_size 64\n" + "".join(
        KERNEL.format(name=f"k{number}", body=body) for number, body in enumerate(bodies)
    )
    module = call("cuModuleLoadData", text.encode() + b"\0")
    buffer = call("cuMemAlloc", 4 * WORDS)
    call("cuMemsetD32", buffer, 0, WORDS)
    attribute = cuda.CUlaunchAttribute()
    names = cuda.CUlaunchAttributeID
    attribute.id = names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = int(programmatic)
    config = cuda.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = BLOCKS, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = THREADS, 1, 1
    config.attrs, config.numAttrs = [attribute], 1
    for number in range(len(bodies)):
        kernel = call("cuModuleGetFunction", module, f"k{number}".encode())
        call("cuLaunchKernelEx", config, kernel, ((int(buffer),), (ctypes.c_uint64,)), 0)
        if between:
            call(between)
    found = (ctypes.c_uint32 * WORDS)()
    call("cuMemcpyDtoH", ctypes.addressof(found), buffer, 4 * WORDS)
    return [*found]


@pytest.fixture(params=["interpret", "compile"])
def races(fresh_process: Process, request: Any) -> Iterator[Callable[..., list[DetectorFinding]]]:
    """Launch as `launch` does; return the races."""
    call("cuInit", 0)
    cuda.select_engine(request.param)

    def found(*bodies: str, **options: Any) -> list[DetectorFinding]:
        cuda.start_detectors(("race",), count=False)
        launch(*bodies, **options)
        return cuda.stop_detectors()[0]

    yield found
    cuda.select_engine(None)


SILENT = {
    "a wait": (TRIGGER + STORE, WAIT + LOAD),
    "a wait of one thread, and a barrier": (
        TRIGGER + STORE, "@!%p0 bra L; " + WAIT + " L: bar.sync 0;" + LOAD),
    "a wait, a release and an acquire": (
        TRIGGER + STORE,
        "mul.wide.u32 %o, %b, 4; add.u64 %o, %o, %z; @!%p0 bra L; " + WAIT + "membar.gl;"
        " st.volatile.global.u32 [%o+512], 1; L: ld.volatile.global.u32 %v1, [%o+512];"
        " setp.eq.u32 %p1, %v1, 0; @%p1 bra L; membar.gl; ld.global.u32 %v1, [%m];"),
    "no trigger": (STORE, LOAD),
    "triggers of the other blocks": ("@%p1 bra L; " + TRIGGER + "bra E; L:" + STORE + " E:", LOAD),
    "reads of both": (TRIGGER + LOAD, LOAD + WAIT),
    "atomic operations of both": (TRIGGER + ADD, ADD + WAIT),
    "a bulk copy, and a wait": (TRIGGER + BULK_STORE, WAIT + LOAD),
    "a bulk copy, and no trigger": (BULK_STORE, LOAD),
    "a third grid, after two waits": (TRIGGER + STORE, TRIGGER + WAIT, WAIT + LOAD),
    "a third grid that begins after the first one": (TRIGGER + STORE, WAIT + TRIGGER, LOAD),
    "a third grid after one without a trigger": (TRIGGER + STORE, WAIT, LOAD),
}  # fmt: skip


@pytest.mark.parametrize("bodies", SILENT.values(), ids=SILENT.keys())
def test_what_is_ordered(races: Callable[..., list[DetectorFinding]], bodies: list[str]) -> None:
    assert races(*bodies) == []


WRONG = {
    "no wait": (TRIGGER + STORE, LOAD, "load", 1),
    "a store before the trigger": (STORE + TRIGGER, LOAD, "load", 1),
    "a wait after the load": (TRIGGER + STORE, LOAD + WAIT, "load", 1),
    "a wait of one thread": (TRIGGER + STORE, "@!%p0 bra L; " + WAIT + " L:" + LOAD, "load", 1),
    "a store over what is read": (TRIGGER + LOAD, STORE, "store", 1),
    "a store over a store": (TRIGGER + STORE, "st.global.u32 [%m], 8;", "store", 1),
    "a read of a sum": (TRIGGER + ADD, "ld.global.u32 %v1, [%z];", "load", 1),
    "a sum over what is read": (
        TRIGGER + "ld.global.u32 %v1, [%z];", ADD, "atomic operation", 1),
    "a bulk copy": (TRIGGER + BULK_STORE, LOAD, "load", 1),
    "a store over what a bulk copy reads": (TRIGGER + BULK_LOAD, STORE, "store", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_what_is_not_ordered(
    races: Callable[..., list[DetectorFinding]], case: tuple[str, str, str, int]
) -> None:
    first, second, access, count = case
    found = races(first, second)
    assert len(found) == count
    assert found[0].problem == f"no griddepcontrol.wait of k1 before the {access}: k0 may still run"
    assert [place.site.function for place in found[0].places] == ["k0", "k1"]


def test_a_third_grid(races: Callable[..., list[DetectorFinding]]) -> None:
    """The second one starts it before it has waited for the first one."""
    (found,) = races(TRIGGER + STORE, TRIGGER + WAIT, LOAD)
    assert found.problem == "no griddepcontrol.wait of k2 before the load: k0 may still run"


def unlimited(run: Callable[[], None]) -> bool:
    run()
    return True


def test_the_proof_of_a_wait(fresh_process: Process) -> None:
    call("cuInit", 0)
    cuda.start_detectors(("race",), prove=unlimited)
    right = TRIGGER + STORE, TRIGGER + WAIT + LOAD, WAIT + STORE
    assert launch(*right) == [7] * (WORDS // 2) + [0] * (WORDS // 2)
    variants = cuda.variants()
    assert cuda.stop_detectors()[0] == []
    assert variants is not None
    wanted = [("grid wait", "race", ["k0", "k1"]), ("grid wait", "race", ["k1", "k2"])]
    assert wanted == [
        (each.removed.kind, each.outcome, [one.site.function for one in each.race.places])
        for each in variants
        if each.race
    ]
    assert len(variants) == 2


def test_launches_in_order(races: Callable[..., list[DetectorFinding]]) -> None:
    wrong = TRIGGER + STORE, LOAD
    assert races(*wrong, programmatic=False) == []
    assert races(*wrong, between="cuCtxSynchronize") == []


# --- schedules -----------------------------------------------------------------------------------

SCHEDULES = ("late", *range(8))
COPY = LOAD + "st.global.u32 [%m+512], %v1;"


@pytest.fixture
def scheduled(fresh_process: Process) -> Iterator[Callable[..., list[list[int]]]]:
    """Launch as `launch` does, with each schedule; return the buffers."""

    def found(*bodies: str, **options: Any) -> list[list[int]]:
        buffers = []
        for schedule in SCHEDULES:
            cuda.select_schedule(schedule)
            buffers.append(launch(*bodies, **options))
        return buffers

    yield found
    cuda.select_schedule(None)


RIGHT = {
    "a wait": (TRIGGER + STORE, WAIT + COPY),
    "no trigger": (STORE, COPY),
    "a third grid": (TRIGGER + STORE, TRIGGER + WAIT, WAIT + COPY),
    "a third grid that begins after the first one": (TRIGGER + STORE, WAIT + TRIGGER, COPY),
    "a grid that polls": (
        TRIGGER + STORE,
        "L: ld.volatile.global.u32 %v1, [%o]; setp.eq.u32 %p1, %v1, 0; @%p1 bra L;" + COPY),
}  # fmt: skip


@pytest.mark.parametrize("bodies", RIGHT.values(), ids=RIGHT.keys())
def test_right_grids_in_each_schedule(
    scheduled: Callable[..., list[list[int]]], bodies: list[str]
) -> None:
    assert scheduled(*bodies) == [[7] * WORDS] * len(SCHEDULES)


def test_an_early_read_in_each_schedule(scheduled: Callable[..., list[list[int]]]) -> None:
    late, *others = scheduled(TRIGGER + STORE, COPY)
    assert late == [7] * (WORDS // 2) + [0] * (WORDS // 2)
    assert any(found != [7] * WORDS for found in others)
    ordered = [[7] * WORDS] * len(SCHEDULES)
    assert scheduled(TRIGGER + STORE, COPY, programmatic=False) == ordered
    assert scheduled(TRIGGER + STORE, COPY, between="cuCtxSynchronize") == ordered


def test_a_third_grid_that_begins_early(scheduled: Callable[..., list[list[int]]]) -> None:
    late, *_ = scheduled(TRIGGER + STORE, TRIGGER + WAIT, COPY)
    assert late == [7] * (WORDS // 2) + [0] * (WORDS // 2)


def test_a_store_over_what_has_not_been_read(scheduled: Callable[..., list[list[int]]]) -> None:
    late, *_ = scheduled(STORE, WAIT + TRIGGER + COPY, "st.global.u32 [%m], 8;")
    assert late == [8] * WORDS


def test_a_fault_after_the_trigger(fresh_process: Process) -> None:
    cuda.select_schedule("late")
    with pytest.raises(AssertionError, match="LAUNCH_FAILED"):
        launch(TRIGGER + "trap;", STORE)
    cuda.select_schedule(None)
