"""Clusters in batches: all blocks of a cluster run side by side, in one batch."""

from __future__ import annotations

import numpy as np
import pytest

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
