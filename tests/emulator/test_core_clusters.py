"""Clusters in batches: all blocks of a cluster run side by side, in one batch."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cudarun.emulator.engines import Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.machine import launch as launch_module
from tests.emulator.device import Device

# Each block stores its number in the shared memory of the next block of its cluster.
WIDE = 40
NEIGHBOURS = f"""
.visible .entry test(.param .u64 out)
{{
    .shared .align 4 .b32 given;
    .reg .pred %p; .reg .b32 %i, %b, %rank, %size, %next, %at, %v; .reg .b64 %out, %w<{WIDE}>;
    mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x;
    mov.u32 %rank, %cluster_ctarank; mov.u32 %size, %cluster_nctarank;
    add.u32 %next, %rank, 1; rem.u32 %next, %next, %size;
    {" ".join(f"mad.wide.u32 %w{n}, %i, {n}, {n};" for n in range(WIDE))}
    setp.ne.u32 %p, %i, 0;
    mov.u32 %at, given;
    mapa.shared::cluster.u32 %at, %at, %next;
    @!%p st.shared::cluster.u32 [%at], %b;
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %v, [given];
    {" ".join(f"add.u64 %w0, %w0, %w{n};" for n in range(1, WIDE))}
    ld.param.u64 %out, [out];
    mad.wide.u32 %out, %b, 4, %out;
    setp.ne.u64 %p, %w0, {sum(range(WIDE))};
    @!%p st.global.u32 [%out], %v;
    ret;
}}
"""


# Whether the address of a variable is in shared memory, for each rank in a cluster of two: the
# generic address, that of the other block, and that of the own rank.
SPACES = ["shared", "shared::cta", "shared::cluster"]
TESTED = f"""
.visible .entry test(.param .u64 out)
{{
    .shared .align 4 .b32 cell;
    .reg .pred %p; .reg .b32 %own, %other, %bits, %bit; .reg .b64 %out, %a<3>;
    mov.u32 %own, %cluster_ctarank; xor.b32 %other, %own, 1; mov.u32 %bits, 0;
    mov.u64 %a0, cell; cvta.shared.u64 %a0, %a0;
    mapa.u64 %a1, %a0, %other; mapa.u64 %a2, %a0, %own;
    {
    " ".join(
        f"isspacep.{space} %p, %a{number}; selp.u32 %bit, {1 << 3 * number + place}, 0, %p;"
        "or.b32 %bits, %bits, %bit;"
        for number in range(3)
        for place, space in enumerate(SPACES)
    )
}
    ld.param.u64 %out, [out]; mad.wide.u32 %out, %own, 4, %out; st.global.u32 [%out], %bits;
    barrier.cluster.arrive; barrier.cluster.wait;
    ret;
}}
"""


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_the_shared_memory_of_another_block_is_not_shared_cta(engine: str) -> None:
    """As an H200 answers."""
    engines = Engines(engine)
    device = Device(TESTED, execute=partial(execute, engines=engines))
    out = device.buffer(np.zeros(2, "u4"))
    device.launch("test", (2,), (1,), out, cluster=(2, 1, 1))
    assert [f"{bits:o}" for bits in device.read(out, "u4", 2)] == ["747", "747"]
    assert engines.notes["test"].engine == engine


def neighbours(grid: int, block: int, cluster: int) -> None:
    device = Device(NEIGHBOURS)
    out = device.buffer(np.full(grid, 0xFFFFFFFF, "u4"))
    device.launch("test", (grid,), (block,), out, cluster=(cluster, 1, 1))
    first = np.arange(grid) // cluster * cluster
    wanted = first + (np.arange(grid) - first - 1) % cluster
    assert list(device.read(out, "u4", grid)) == list(wanted)


def test_a_batch_holds_whole_clusters() -> None:
    """The registers of 23 blocks fit: one cluster and a part of the next."""
    neighbours(64, 1024, 16)


@pytest.mark.parametrize("lanes", [1, 100, 200])
def test_a_batch_holds_one_cluster_at_least(monkeypatch: pytest.MonkeyPatch, lanes: int) -> None:
    monkeypatch.setattr(launch_module, "_LARGEST_BATCH", lanes)
    monkeypatch.setattr(launch_module, "_SMALLEST_BATCH", lanes)
    neighbours(12, 32, 4)
