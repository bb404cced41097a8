"""Copies of boxes by tensor memory access on both engines: tensors, shared memory and faults."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.machine.tensor_maps.copies import TensorLoad, TensorStore
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from tests.emulator.compiled.engines import check_equal, check_equal_fault, device, launched

# Each step loads a box at two coordinates, dumps shared memory, and stores the box to a copy.
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry boxes(.param .u64 maps, .param .u64 from, .param .u64 to, .param .u64 places,
                      .param .u32 count, .param .u64 out) {
    .shared .align 128 .b8 tile[512]; .shared .align 8 .b64 object;
    .reg .b64 %m<2>, %a, %p, %o; .reg .b32 %t, %x, %y, %n, %r, %at, %v; .reg .pred %first, %q;
    ld.param.u64 %m0, [maps]; ld.param.u64 %p, [places]; ld.param.u64 %o, [out];
    ld.param.u32 %n, [count]; mov.u32 %t, %tid.x; setp.LANES %first, %t, 0; mov.u32 %r, 0;
    mad.wide.u32 %o, %t, 4, %o; mov.u32 %at, tile; shl.b32 %v, %t, 2; add.u32 %at, %at, %v;
    add.u64 %m1, %m0, 128;
    ld.param.u64 %a, [from]; @%first st.global.u64 [%m0], %a;
    ld.param.u64 %a, [to]; @%first st.global.u64 [%m1], %a;
    @%first mbarrier.init.shared.b64 [object], 1;
    bar.sync 0;
STEP:
    ld.global.v2.u32 {%x, %y}, [%p];
    @!%first bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [object], 256;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes
        [tile+PLACE], [%m0, {%x, %y}], [object+AHEAD];
WAIT:
    and.b32 %v, %r, 1;
    mbarrier.try_wait.parity.shared.b64 %q, [object], %v;
    @!%q bra WAIT;
    ld.shared.u32 %v, [%at]; st.global.u32 [%o], %v;
    ld.shared.u32 %v, [%at+256]; st.global.u32 [%o+256], %v;
    @%first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m1, {%x, %y}], [tile+PLACE];
    bar.sync 0;
    add.u64 %o, %o, 512; add.u64 %p, %p, 8; add.u32 %r, %r, 1;
    setp.lt.u32 %q, %r, %n; @%q bra STEP;
    ret;
}"""
INSIDE = ((0, 0), (8, 3), (24, 12), (4, 5))
BEYOND = ((28, 1), (8, 14))


def arguments(places: tuple[tuple[int, int], ...], swizzle: int) -> list[np.ndarray | int]:
    """The arguments of a launch, of boxes of 8 × 8 words of a tensor of 32 × 20."""
    tensor = TensorMap(2, 0, (32, 20), (128,), (1, 1), (8, 8), swizzle=swizzle)
    return [
        np.frombuffer(2 * tensor.encode(), np.uint8).copy(),
        np.arange(640, dtype=np.uint32),
        np.zeros(640, np.uint32),
        np.array(places, np.int32),
        len(places),
        np.zeros(128 * len(places), np.uint32),
    ]


def text(place: str = "0", ahead: str = "0", lanes: str = "eq.u32") -> str:
    """The kernel."""
    return KERNEL.replace("PLACE", place).replace("AHEAD", ahead).replace("LANES", lanes)


@pytest.mark.parametrize("swizzle", [0, 1])
@pytest.mark.parametrize("place", ["0", "256"])
def test_boxes(swizzle: int, place: str) -> None:
    check_equal(text(place), (2,), (64,), *arguments(INSIDE + BEYOND + INSIDE, swizzle))


def test_compiled_code_copies_whole_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = arguments(INSIDE, 1)
    wanted = check_equal(text(), (1,), (64,), *given)

    def refuse(*given: object) -> None:
        raise AssertionError("the interpreter copies")

    monkeypatch.setattr(TensorLoad, "__call__", refuse)
    monkeypatch.setattr(TensorStore, "__call__", refuse)
    found, fault, _ = launched(text(), COMPILE, (1,), (64,), *given)
    assert (found, fault) == (wanted, "")


# The second block of a cluster loads boxes for some of its blocks.
MULTICAST = text()
for _old, _new in {
    "%q;": "%q, %one; .reg .b32 %rank;",
    "mov.u32 %r, 0;": "mov.u32 %r, 0; mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %one, %rank, 1;",
    "bar.sync 0;": "barrier.cluster.arrive; barrier.cluster.wait;",
    "cp.async.bulk.tensor.2d.shared::cta": "@%one cp.async.bulk.tensor.2d.shared::cluster",
    "::bytes\n": "::bytes.multicast::cluster\n",
    "[object+0]": "[object+0], BLOCKS",
}.items():
    MULTICAST = MULTICAST.replace(_old, _new)


@pytest.mark.parametrize("swizzle", [0, 1])
def test_multicast(swizzle: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = arguments(INSIDE, swizzle)
    kernel = MULTICAST.replace("BLOCKS", "15")
    wanted = check_equal(kernel, (4,), (64,), *given, cluster=(4, 1, 1))
    monkeypatch.setattr(TensorLoad, "__call__", None)
    found, fault, _ = launched(kernel, COMPILE, (4,), (64,), *given, cluster=(4, 1, 1))
    assert (found, fault) == (wanted, "")


def test_multicast_beyond_the_cluster() -> None:
    kernel = MULTICAST.replace("BLOCKS", "31")
    check_equal_fault(kernel, (4,), (64,), *arguments(INSIDE, 0), cluster=(4, 1, 1))


def test_maps_that_change() -> None:
    """A kernel that writes its map between two copies."""
    changing = text().replace("setp.lt.u32 %q", "@%first st.global.u64 [%m0], %a; setp.lt.u32 %q")
    check_equal(changing, (1,), (64,), *arguments(((0, 0), (4, 4), (0, 0)), 0))


def test_read_and_written_bytes_are_tracked() -> None:
    marks = []
    for engine in (INTERPRET, COMPILE):
        made, _ = device(text(), engine)
        maps, origin, to, places, _, out = (
            made.buffer(each) if isinstance(each, np.ndarray) else each
            for each in arguments(INSIDE, 0)
        )
        for tensor in (origin, to):
            made.memory.mark_unwritten(tensor, 2560)
        made.launch("boxes", (1,), (64,), maps, origin, to, places, len(INSIDE), out)
        marks.append([made.memory.unwritten_at(tensor, 2560) for tensor in (origin, to)])
    assert np.unique(marks[0][0]).tolist() == [1, 3]
    assert np.unique(marks[0][1]).tolist() == [0, 1]
    assert np.array_equal(*marks)


FAULTS = {
    "a misaligned coordinate": (text(), ((0, 0), (2, 0))),
    "a store before the tensor": (text(), ((0, 0), (8, -1))),
    "a misaligned tile": (text(place="16"), ((0, 0),)),
    "a tile beyond shared memory": (text(place="384"), ((0, 0),)),
    "a misaligned object": (text(ahead="4"), ((0, 0),)),
    "an object beyond shared memory": (text(ahead="8"), ((0, 0),)),
    "a tile before the kernel's shared memory": (text(place="-128"), ((0, 0),)),
    "an object before it": (text(ahead="-1536"), ((0, 0),)),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    kernel, places = FAULTS[what]
    check_equal_fault(kernel, (1,), (64,), *arguments(places, 0))
