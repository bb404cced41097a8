"""What is counted of a kernel, against numbers that can be said by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.statistics import Statistics, kind_of
from tests.emulator.device import Device

KERNEL = """
.visible .entry k(.param .u64 p) {{
  .shared .align 16 .b8 part[16384];
  .local .align 8 .b8 own[8];
  .reg .b32 %t, %s, %v<8>;
  .reg .b64 %z, %g, %w<8>;
  .reg .f32 %f<4>;
  .reg .pred %p<8>;
  ld.param.u64 %z, [p];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %g, %t, {stride}; add.u64 %g, %g, %z;
  mov.u32 %s, part; mad.lo.u32 %s, %t, {stride}, %s;
  {body}
  ret;
}}
"""


def counted(
    body: str, *, grid: int = 1, block: int = 32, stride: int = 4, kernel: str = KERNEL
) -> Statistics:
    watch = DetectorObserver([], count=True)
    device = Device(kernel.format(body=body, stride=stride), observer=watch)
    device.launch("k", (grid,), (block,), device.buffer(np.zeros(65536, np.uint8)))
    assert watch.statistics is not None
    return watch.statistics


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("add.s32", "integer"), ("mad.lo.u32", "integer"), ("fma.rn.f32", "floating"),
        ("add.f16x2", "floating"), ("sqrt.approx.f32", "floating"), ("ld.param.u64", "load"),
        ("ld.global.nc.f32", "load"), ("cp.async.ca.shared.global", "load"), ("st.f32", "store"),
        ("atom.global.add.u32", "atomic"), ("red.add.f32", "atomic"), ("membar.gl", "fence"),
        ("bar.sync", "barrier"), ("shfl.sync.down.b32", "warp"), ("setp.lt.f32", "compare"),
        ("selp.f32", "compare"), ("mov.f32", "move"), ("cvt.rn.f32.s32", "convert"),
        ("and.b32", "logic"), ("bra.uni", "control"), ("ret", "control"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "matrix"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16", "load"),
    ],
)  # fmt: skip
def test_kinds_of_instructions(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_instructions_are_counted_by_warps_and_threads() -> None:
    statistics = counted("add.f32 %f1, %f0, %f0; fma.rn.f32 %f2, %f1, %f1, %f0;", grid=3, block=40)
    floating = statistics.instructions["floating"]
    assert (floating.warps, floating.threads) == (2 * 3 * 2, 2 * 3 * 40)
    # ld.param, two of mov, mul.wide, add, mad.lo, ret: also what is done once for all lanes here.
    kinds = statistics.instructions
    assert {name: kinds[name].warps // 6 for name in kinds} == {
        "floating": 2, "load": 1, "move": 2, "integer": 3, "control": 1,
    }  # fmt: skip


def test_guarded_instructions_count_the_threads_that_run_them() -> None:
    body = "setp.lt.u32 %p0, %t, 5;\n @%p0 add.f32 %f1, %f0, %f0;"
    floating = counted(body, block=64).instructions["floating"]
    assert (floating.warps, floating.threads) == (1, 5)


def test_divergent_branches_are_those_at_which_a_warp_parts() -> None:
    body = """
      setp.lt.u32 %p0, %t, 40; @%p0 bra A;
      add.f32 %f1, %f0, %f0;
    A:
      setp.lt.u32 %p1, %t, 64; @%p1 bra B;
      add.f32 %f1, %f0, %f0;
    B:
    """
    statistics = counted(body, block=96)
    assert (statistics.branches, statistics.divergent) == (6, 1)
    assert statistics.instructions["floating"].threads == 24 + 32 + 32


def test_loops_count_every_round() -> None:
    body = """
      mov.u32 %v1, 0;
    A:
      add.u32 %v1, %v1, 1; setp.le.u32 %p0, %v1, %t; @%p0 bra A;
    """
    statistics = counted(body)
    assert statistics.instructions["compare"].threads == sum(range(1, 33))
    assert statistics.instructions["compare"].warps == 32
    assert (statistics.branches, statistics.divergent) == (32, 31)


def test_bytes_are_counted_by_space() -> None:
    body = """
      ld.global.u32 %v1, [%g]; st.global.u64 [%g+8], %w0; red.global.add.u32 [%z], 1;
      st.shared.v4.u32 [%s], {%t, %t, %t, %t}; ld.shared.u16 %v1, [%s];
      st.local.u32 [own], %t;
    """
    traffic = counted(body, grid=2, block=64, stride=16).traffic
    found = {
        space: (t.requests, t.read_bytes, t.written_bytes, t.atomic_bytes)
        for space, t in traffic.items()
    }
    assert found == {
        "global": (3 * 4, 4 * 128, 8 * 128, 4 * 128),
        "shared": (2 * 4, 2 * 128, 16 * 128, 0),
        "local": (4, 0, 4 * 128, 0),
    }


def test_bytes_of_matrices_are_counted() -> None:
    body = """
      stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%t, %t, %t, %t};
      ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v1}, [%s];
    """
    traffic = counted(body, stride=16).traffic["shared"]
    assert (traffic.read_bytes, traffic.written_bytes) == (8 * 16, 32 * 16)


def test_bytes_of_wide_atomics_are_counted() -> None:
    body = """
      red.global.add.v4.f32 [%g], {%f0, %f0, %f0, %f0};
      atom.global.add.noftz.v2.bf16x2 {%v1, %v2}, [%g+8], {%v3, %v4};
      mov.b128 %q, {%z, %g}; atom.shared.cas.b128 %q, [%s], %q, %q;
    """
    kernel = KERNEL.replace(".reg .b32", ".reg .b128 %q; .reg .b32")
    statistics = counted(body, stride=16, kernel=kernel)
    found = {space: (t.requests, t.atomic_bytes) for space, t in statistics.traffic.items()}
    assert found == {"global": (2, (16 + 8) * 32), "shared": (1, 16 * 32)}
    assert statistics.instructions["atomic"].threads == 3 * 32


@pytest.mark.parametrize(
    ("access", "stride", "sectors"),
    [
        ("ld.global.u32 %v1, [%g];", 4, 4),
        ("ld.global.u32 %v1, [%z];", 4, 1),
        ("ld.global.u32 %v1, [%g];", 32, 32),
        ("ld.global.u8 %v1, [%g];", 1, 1),
        ("ld.global.v4.u32 {%v1, %v2, %v3, %v4}, [%g];", 16, 16),
        ("ld.u32 %v1, [%g];", 64, 32),
    ],
)
def test_sectors_of_global_memory(access: str, stride: int, sectors: int) -> None:
    assert counted(access, stride=stride, grid=2).traffic["global"].sectors == 2 * sectors


@pytest.mark.parametrize(
    ("access", "stride", "accesses", "turns"),
    [
        ("ld.shared.u32 %v1, [%s];", 4, 1, 1),
        ("ld.shared.u32 %v1, [%s];", 8, 1, 2),
        ("ld.shared.u32 %v1, [%s];", 128, 1, 32),
        ("ld.shared.u32 %v1, [%s];", 132, 1, 1),
        ("ld.shared.u32 %v1, [part];", 4, 1, 1),
        ("ld.shared.u8 %v1, [%s];", 1, 1, 1),
        ("st.shared.u64 [%s], %w0;", 8, 2, 2),
        ("st.shared.u64 [%s], %w0;", 16, 2, 4),
        ("ld.shared.v4.u32 {%v1, %v2, %v3, %v4}, [%s];", 16, 4, 4),
        ("ld.shared.v4.u32 {%v1, %v2, %v3, %v4}, [%s];", 32, 4, 8),
    ],
)
def test_bank_conflicts(access: str, stride: int, accesses: int, turns: int) -> None:
    [(site, conflicts)] = counted(access, stride=stride, grid=3).banks.items()
    assert site.text == access
    assert (conflicts.accesses, conflicts.turns) == (3 * accesses, 3 * turns)


def test_banks_of_the_lanes_that_are_there() -> None:
    body = "setp.lt.u32 %p0, %t, 3;\n @%p0 ld.shared.u32 %v1, [%s];"
    [conflicts] = counted(body, stride=128, block=64).banks.values()
    assert (conflicts.accesses, conflicts.turns) == (1, 3)
