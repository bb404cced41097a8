"""Reads of memory that nothing has written: byte by byte, in every space, from launch to launch."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.findings import DetectorFinding
from tests.emulator.device import Device

KERNEL = """
.visible .entry k(.param .u64 p) {{
  .shared .align 16 .b8 part[1024];
  .local .align 16 .b8 own[64];
  .reg .b32 %t, %b, %s, %v<8>;
  .reg .b64 %z, %g, %w<8>;
  .reg .f32 %f<4>;
  .reg .b128 %q;
  .reg .pred %p<8>;
  ld.param.u64 %z, [p];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
  shl.b32 %s, %t, 2; mov.u32 %v1, part; add.u32 %s, %s, %v1;
  mul.wide.u32 %g, %t, 4; add.u64 %g, %g, %z;
  mov.u64 %w1, own; cvta.local.u64 %w2, %w1; cvta.shared.u64 %w3, %w4;
  setp.lt.u32 %p0, %t, 7;
  {body}
  ret;
}}
"""
SIZE = 4096


class Watched:
    """A device with 4096 bytes that nothing has written."""

    def __init__(self, text: str) -> None:
        self.watch = DetectorObserver(["uninit"])
        self.device = Device(text, observer=self.watch)
        self.device.memory.notes_writes = True
        self.buffer = self.device.memory.allocate(SIZE, label="buffer", defined=False)

    def run(self, *, grid: int = 1, block: int = 32) -> list[DetectorFinding]:
        self.device.launch("k", (grid,), (block,), self.buffer)
        return self.watch.findings


def found(body: str, *, grid: int = 1, block: int = 32) -> list[DetectorFinding]:
    return Watched(KERNEL.format(body=body)).run(grid=grid, block=block)


# ``if (%later1 && part[…] > %t) %t = part[…]``, by threads that all load
SPECULATIVE = (
    ".reg .pred %later<3>; .reg .u32 %new;\n ld.shared.u32 %new, [%s];"
    "setp.gt.u32 %later0, %new, %t; CONDITION;"
    "and.pred %later2, %later1, %later0; selp.u32 %v3, %new, %t, %later2; st.global.u32 [%g], %v3;"
)

SILENT = {
    "a copy of a struct": (
        "st.shared.v2.u32 [part], {%t, %t}; st.shared.u32 [part+8], %t;"
        "ld.shared.v4.u32 {%v4, %v5, %v6, %v7}, [part];"
        "st.global.v4.u32 [%z], {%v4, %v5, %v6, %v7};"
    ),
    "a copy of padding in a word": (
        "st.shared.u8 [part+4], %t; ld.shared.u32 %v7, [part+4]; st.shared.u32 [part+32], %v7;"
    ),
    "a copy of padding in bytes": (
        ".reg .b16 %h<4>; st.shared.u32 [part+8], %t;"
        "ld.shared.v4.u8 {%h0, %h1, %h2, %h3}, [part+12];"
        "st.global.v4.u8 [%z], {%h0, %h1, %h2, %h3};"
    ),
    "the unused end of a vector": (
        "st.shared.v2.u32 [part], {%t, %t}; ld.shared.v4.u32 {%v4, %v5, %v6, %v7}, [part];"
        "add.u32 %t, %v4, %v5;"
    ),
    "shared": "st.shared.u32 [%s], %t; ld.shared.u32 %v1, [%s];",
    "shared, in parts": (
        "st.shared.u8 [%s], %t; st.shared.u8 [%s+1], %t; st.shared.u16 [%s+2], %t;"
        "ld.shared.u32 %v1, [%s];"
    ),
    "shared, by a matrix": (
        "mad.lo.u32 %v2, %t, 16, %v1; "
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%v2], {%t, %t, %t, %t}; ld.shared.u32 %v3, [%s];"
    ),
    "shared, by vectors": (
        "st.shared.v4.u32 [part+16], {%t, %t, %t, %t}; ld.shared.v2.u64 {%w5, %w6}, [part+16];"
    ),
    "shared, by atomics": "atom.shared.exch.b32 %v1, [part], %t; ld.shared.u32 %v1, [part];",
    "local": "st.local.u32 [own+8], %t; ld.local.u32 %v1, [own+8];",
    "local, generic": "st.u32 [%w2+8], %t; ld.u32 %v1, [%w2+8]; ld.local.u32 %v2, [own+8];",
    "global": "st.global.u32 [%g], %t; ld.global.u32 %v1, [%g]; red.global.add.u32 [%g], 1;",
    "parameters": "ld.param.u64 %w5, [p];",
    "before its condition": SPECULATIVE.replace("CONDITION", "setp.gt.u32 %later1, %t, 99"),
    "for a selection": (
        ".reg .pred %before; .reg .u32 %new; setp.gt.u32 %before, %t, 99; ld.shared.u32 %new, [%s];"
        "selp.u32 %v3, %new, %t, %before; st.global.u32 [%g], %v3;"
    ),
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_what_is_written_can_be_read(body: str) -> None:
    silent = [f for f in found(body) if "exch" not in f.places[0].site.text]
    assert silent == []


FOUND = {
    "shared": ("ld.shared.u32 %v1, [%s];", "shared", 4, 32),
    "three bytes of four": ("st.shared.u8 [%s+1], %t;\n ld.shared.u32 %v1, [%s];", "shared", 3, 32),
    "the end of a vector": (
        "st.shared.v2.u32 [part], {%t, %t};\n ld.shared.v4.u32 {%v4, %v5, %v6, %v7}, [part];"
        "add.u32 %v5, %v6, %v7;",
        "shared", 8, 32,
    ),
    "padding that decides": (
        "st.shared.v2.u32 [part], {%t, %t};\n ld.shared.v4.u32 {%v4, %v5, %v6, %v7}, [part];"
        "setp.eq.u32 %p1, %v7, 0;",
        "shared", 8, 32,
    ),
    "a copy of what is no padding": (
        "ld.shared.v2.u32 {%v6, %v7}, [part]; st.global.v2.u32 [%z], {%v6, %v7};",
        "shared", 8, 32,
    ),
    "some threads": ("@%p0 ld.shared.u32 %v1, [%s];", "shared", 4, 7),
    "before a condition that holds": (
        SPECULATIVE.replace("CONDITION", "setp.lt.u32 %later1, %t, 2"), "shared", 4, 2,
    ),
    "before a comparison with it": (
        ".reg .pred %later;\n ld.shared.u32 %v1, [%s]; setp.gt.u32 %later, %v1, %t;"
        "selp.u32 %v3, %v1, %t, %later; st.global.u32 [%g], %v3;", "shared", 4, 32,
    ),
    "before a condition that changes in another block": (
        ".reg .pred %later; .reg .u32 %new; setp.gt.u32 %later, %t, 99;\n ld.shared.u32 %new, [%s];"
        "bar.sync 0; setp.lt.u32 %later, %t, 2; selp.u32 %v3, %new, %t, %later;"
        "st.global.u32 [%g], %v3;", "shared", 4, 32,
    ),
    "before a condition of the value": (
        SPECULATIVE.replace("CONDITION", "setp.gt.u32 %later1, %new, 99"), "shared", 4, 32,
    ),
    "before a condition that is inverted": (
        SPECULATIVE.replace("CONDITION", "setp.gt.u32 %later1, %t, 99").replace(
            "%t, %later2;", "%t, !%later2;"
        ),
        "shared", 4, 32,
    ),
    "before a condition that changes after its use": (
        ".reg .pred %later; setp.lt.u32 %later, %t, 99;\n ld.shared.u32 %v1, [%s];"
        "selp.u32 %v3, %v1, %t, %later; setp.gt.u32 %later, %t, 99; st.global.u32 [%g], %v3;"
        "@%later st.global.u32 [%g], %t;", "shared", 4, 32,
    ),
    "before a condition in another block": (
        ".reg .pred %later; setp.gt.u32 %later, %t, 99;\n ld.shared.u32 %v1, [%s]; bra.uni L1;"
        "L1: bar.sync 0; setp.lt.u32 %later, %t, 99; selp.u32 %v3, %v1, %t, %later;"
        "st.global.u32 [%g], %v3;", "shared", 4, 32,
    ),
    "local": ("st.local.u32 [own+8], %t;\n ld.local.u32 %v1, [own+12];", "local", 4, 32),
    "local, generic": ("ld.u32 %v1, [%w2+8];", "local", 4, 32),
    "global": ("ld.global.u32 %v1, [%g];", "global", 4, 32),
    "global, generic": ("ld.u32 %v1, [%g];", "global", 4, 32),
    "atomic": ("red.global.add.u32 [%z], 1;", "global", 4, 32),
    "atomic, its result wanted": ("atom.global.exch.b32 %v1, [%z], 1; st.global.u32 [%g], %v1;",
                                  "global", 4, 32),
    "atomic, on a vector": (
        "mov.f32 %f1, 0f00000000; st.global.v2.u32 [%z], {%t, %t};\n"
        " red.global.add.v4.f32 [%z], {%f1, %f1, %f1, %f1};",
        "global", 8, 32,
    ),
    "atomic, of 128 bits": (
        "mov.b128 %q, {%z, %z};\n atom.global.exch.b128 %q, [%z], %q;"
        "mov.b128 {%w5, %w6}, %q; cvt.u32.u64 %v1, %w5; st.global.u32 [%g], %v1;", "global", 16, 32,
    ),
    "copy to shared memory": (
        "cvt.u64.u32 %w5, %s;\n cp.async.ca.shared.global [%s], [%g], 4;", "global", 4, 32
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "space", "size", "count"), FOUND.values(), ids=FOUND.keys())
def test_what_is_not_written_is_found(body: str, space: str, size: int, count: int) -> None:
    [finding] = found(body)
    assert (finding.kind, finding.kernel, finding.count) == ("uninit", "k", count)
    assert (finding.memory.space, finding.memory.size) == (space, size)
    [place] = finding.places
    assert place.site.text.startswith(("ld", "@%p0 ld", "red", "atom", "cp"))
    assert (place.block, place.thread) == ((0, 0, 0), (0, 0, 0))


def test_an_exchange_whose_result_nobody_wants_reads_nothing() -> None:
    assert found("atom.global.exch.b32 %v7, [%z], 1;") == []


def test_shared_memory_is_new_with_every_block() -> None:
    body = """
      setp.eq.u32 %p1, %b, 0; @%p1 st.shared.u32 [%s], %t;
      ld.shared.u32 %v1, [%s];
    """
    [finding] = found(body, grid=4000)
    assert finding.count == 3999 * 32
    assert finding.places[0].block == (1, 0, 0)


def test_global_memory_stays_written() -> None:
    watched = Watched(
        KERNEL.format(body="@%p0 st.global.u32 [%g], %t;").replace(
            ".visible .entry k", ".visible .entry writer"
        )
        + KERNEL.format(body="ld.global.u32 %v1, [%g];")
    )
    watched.device.launch("writer", (1,), (32,), watched.buffer)
    [finding] = watched.run()
    assert finding.count == 25
    memory = finding.memory
    assert (memory.name, memory.offset) == ("buffer (param_0)", 28)
    assert memory.address == watched.buffer + 28


def test_what_the_host_writes_is_written() -> None:
    watched = Watched(KERNEL.format(body="ld.global.u32 %v1, [%g];"))
    watched.device.memory.bytes_at(watched.buffer, 64, to_write=True)[:] = 1
    [finding] = watched.run()
    assert finding.count == 16
    assert finding.places[0].thread == (16, 0, 0)


def test_looking_at_memory_does_not_write_it() -> None:
    watched = Watched(KERNEL.format(body="ld.global.u32 %v1, [%g];"))
    assert not watched.device.memory.bytes_at(watched.buffer, SIZE).any()
    assert watched.run()


def test_variables_have_initial_values() -> None:
    text = ".global .align 4 .u32 counter;\n" + KERNEL.format(body="ld.global.u32 %v1, [counter];")
    assert Watched(text).run() == []


def test_a_function_begins_with_nothing_in_its_frame() -> None:
    text = """
    .func (.param .b32 r) once(.param .b32 write) {
      .local .align 4 .b8 own[4];
      .reg .b32 %a, %b; .reg .pred %p;
      ld.param.b32 %a, [write];
      setp.ne.u32 %p, %a, 0;
      @%p st.local.u32 [own], %a;
      ld.local.u32 %b, [own];
      st.param.b32 [r], %b;
      ret;
    }
    .visible .entry k(.param .u64 p) {
      .reg .b32 %v;
      { .param .b32 in; .param .b32 out; st.param.b32 [in], 1;
        call (out), once, (in); ld.param.b32 %v, [out]; }
      { .param .b32 in; .param .b32 out; st.param.b32 [in], 0;
        call (out), once, (in); ld.param.b32 %v, [out]; }
      ret;
    }
    """
    [finding] = Watched(text).run()
    assert finding.count == 32
    assert finding.places[0].site.function == "once"


def test_memory_from_malloc_is_unwritten() -> None:
    text = """
    .extern .func (.param .b64 r) malloc(.param .b64 size);
    .visible .entry k(.param .u64 p) {
      .reg .b64 %a; .reg .b32 %v;
      { .param .b64 size; .param .b64 out; st.param.b64 [size], 16;
        call.uni (out), malloc, (size); ld.param.b64 %a, [out]; }
      st.u32 [%a+4], 1;
      ld.u32 %v, [%a+4];
      ld.u32 %v, [%a];
      ret;
    }
    """
    [finding] = Watched(text).run()
    assert finding.memory.name == "malloc in a kernel"
    assert finding.places[0].site.text == "ld.u32 %v, [%a];"


def test_nothing_is_noted_where_nobody_watches() -> None:
    device = Device(KERNEL.format(body=""))
    address = device.memory.allocate(64, defined=False)
    allocation = device.memory.find(address)
    assert allocation is not None
    assert allocation.unwritten is None
    np.testing.assert_array_equal(allocation.bytes, 0)
