"""Pairs of blocks: the rank in a barrier object's address chooses the block that is signaled."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from tests.emulator.compiled.engines import launched

TRIES = 64  # after which a block no longer waits for its bytes

# Each block loads 128 bytes. The even block of each pair expects SIZE bytes and waits for them.
# Then each block writes whether its object has them, and one value of each block of its pair.
LOADS = f""".version 9.0
.target sm_100a
.address_size 64
.visible .entry pairs(.param .u64 maps, .param .u64 from, .param .u64 out) {{
    .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 object;
    .reg .b64 %m, %a, %o, %g, %w; .reg .b32 %rank, %odd, %at, %bar, %peer, %x, %y, %v<2>, %n, %i;
    .reg .b16 %h; .reg .pred %first, %even, %yes, %go;
    ld.param.u64 %m, [maps]; ld.param.u64 %a, [from]; ld.param.u64 %o, [out];
    mov.u32 %rank, %cluster_ctarank; and.b32 %odd, %rank, 1; mov.u32 %x, %ctaid.x;
    setp.eq.u32 %even, %odd, 0; mov.u32 %y, 0;
    mov.u32 %at, tile; mov.u32 %bar, object;
    mbarrier.init.shared::cta.b64 [%bar], 1;
    st.global.u64 [%m], %a;
    barrier.cluster.arrive; barrier.cluster.wait;
    fence.proxy.tensormap::generic.acquire.gpu [%m], 128;
    @%even mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], SIZE;
    ADDRESS
    shl.b32 %i, %x, 5;
    INSTRUCTION
    mov.u32 %n, 0;
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %yes, [object], 0;
    add.u32 %n, %n, 1; setp.lt.and.u32 %go, %n, {TRIES}, !%yes; @%go bra WAIT;
    selp.u32 %y, 1, 0, %yes;
    barrier.cluster.arrive; barrier.cluster.wait;
    and.b32 %i, %rank, 14; mapa.shared::cluster.u32 %peer, %at, %i;
    ld.shared::cluster.u32 %v0, [%peer];
    xor.b32 %peer, %peer, 0x01000000; ld.shared::cluster.u32 %v1, [%peer];
    mad.wide.u32 %o, %x, 16, %o; st.global.v4.u32 [%o], {{%y, %v0, %v1, %bar}};
    barrier.cluster.arrive; barrier.cluster.wait;
}}"""
ONE = """cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        .cta_group::2 [%at], [%m, {%i}], [%bar];"""
# The even blocks of a cluster load for the even ones, the odd blocks for the odd ones.
MANY = """setp.lt.u32 %go, %rank, 2; shl.b32 %i, %odd, 5; mov.u16 %h, 5; @!%even mov.u16 %h, 10;
    @%go cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        .multicast::cluster.cta_group::2 [%at], [%m, {%i}], [%bar], %h;"""
LEADER = "and.b32 %bar, %bar, 0xFEFFFFF8;"  # as CUTLASS does


def run(
    instruction: str, engine: str, *, size: int = 256, address: str = LEADER
) -> list[list[int]]:
    """Return, by block, whether its object's phase is complete, the values, and the address."""
    if engine == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    text = LOADS.replace("SIZE", str(size)).replace("ADDRESS", address)
    maps = np.frombuffer(TensorMap(2, 0, (256,), (), (1,), (32,)).encode(), np.uint8).copy()
    given = maps, np.arange(256, dtype="u4") + 1, np.zeros((8, 4), "u4")
    text = text.replace("INSTRUCTION", instruction)
    buffers, fault, _ = launched(text, engine, (8,), (1,), *given, cluster=(4, 1, 1))
    assert not fault
    return np.frombuffer(buffers[2], "u4").reshape(8, 4).tolist()


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_loads_of_both_blocks_complete_at_the_first(engine: str) -> None:
    found = run(ONE, engine)
    for block, (complete, even, odd, _) in enumerate(found):
        assert complete == (block % 2 == 0)
        assert (even, odd) == (32 * (block & ~1) + 1, 32 * (block | 1) + 1)


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_own_addresses_have_the_rank(engine: str) -> None:
    found = run(ONE, engine, address="")
    assert [address >> 24 for *_, address in found] == [0, 1, 2, 3] * 2
    assert [complete for complete, *_ in found] == [0] * 8  # half of the bytes are at each object


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_loads_complete_at_their_own_objects(engine: str) -> None:
    found = run(ONE, engine, size=128, address="")
    assert [complete for complete, *_ in found] == [1, 0] * 4


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_multicast_completes_in_the_pair_of_each_target(engine: str) -> None:
    found = run(MANY, engine)
    assert [complete for complete, *_ in found] == [1, 0] * 4
    assert [values[1:3] for values in found] == [[1, 33]] * 8


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
def test_multicast_completes_at_odd_objects(engine: str) -> None:
    found = run(MANY, engine, address="or.b32 %bar, %bar, 0x01000000;")
    assert [complete for complete, *_ in found] == [0] * 8
