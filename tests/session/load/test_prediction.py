"""Predictions for GPUs that this machine does not have: `load --for`, without the command."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from cudarun.base.profiles import profiles
from cudarun.images.reader import fatbins_in
from cudarun.images.versions import parse_target
from cudarun.model.images import FileReport
from cudarun.model.occupancy import Prediction
from cudarun.session.image.image import Image
from cudarun.session.load.offline import read_file
from cudarun.session.load.request import LaunchShape, OfflineScope
from tests.images.golden_files import golden
from tests.support.toolkit import needs_nvrtc

# A tile of each of two matrices in shared memory, static and dynamic, and a function that has some.
TILES = """\
.version 9.0
.target {target}
.address_size 64
.shared .align 16 .b8 common[1000];
.shared .align 16 .b8 unused[90000];
.extern .shared .align 16 .b8 dynamic[];
.func helper()
{{
    .shared .align 4 .b8 own[2048];
    .reg .u32 %r0;
    mov.u32 %r0, common;
    st.shared.u32 [own], %r0;
    ret;
}}
.visible .entry small(.param .u64 out) {{ ret; }}
.visible .entry tiles(.param .u64 out)
{{
    .shared .align 16 .b8 tile[{tile}];
    .reg .u32 %r0;
    mov.u32 %r0, dynamic;
    {{ st.shared.v2.u32 [tile+8], {{%r0, %r0}}; }}
    call helper, ();
    ret;
}}
"""


def report(name: str, data: bytes, gpus: str, kernel: str | None, shape: Any) -> FileReport:
    chosen = tuple(profiles()[each] for each in gpus.split())
    scope = OfflineScope(kernel, gpus=chosen, shape=LaunchShape(**shape), timeout=60)
    return read_file(Image(name, data), scope)


def predict(
    name: str, data: bytes, gpus: str, kernel: str | None = None, **shape: Any
) -> dict[str, Prediction]:
    """Return the predictions by GPU and kernel."""
    found = report(name, data, gpus, kernel, shape)
    assert found.error is None
    return {f"{each.gpu} {each.kernel}": each for each in found.predictions}


def tiles(tile: int, target: str = "sm_80") -> bytes:
    """Return PTX with a tile of so many bytes."""
    return TILES.format(tile=tile, target=target).encode()


def verdicts(data: bytes, gpus: str, kernel: str, **shape: Any) -> list[str]:
    return [each.verdict for each in predict("t.ptx", data, gpus, kernel, **shape).values()]


def test_static_shared_memory_counts_once() -> None:
    """Of a kernel, and of the functions that it calls; what nothing uses does not count."""
    static = 1000 + 8 + 4096 + 2048  # tile is aligned to 16
    most = 101376 - static
    for dynamic, verdict in ((most, "launches"), (most + 1, "exceeds-limits")):
        found = verdicts(tiles(4096), "rtx5090", "tiles", shared_bytes=dynamic)
        assert found == [verdict]


def test_too_much_static_shared_memory_does_not_load() -> None:
    """As ptxas: 48 KiB before Hopper, and a GPU's own limit from there on."""
    found = verdicts(tiles(60000), "a100 rtx5090 b200", "tiles")
    assert found == ["refused", "launches", "launches"]
    assert verdicts(tiles(120000), "gb10 h200", "tiles") == ["refused", "launches"]


@pytest.mark.parametrize(
    ("gpu", "dynamic", "fits"),
    [  # dynamic shared memory of kernels that users have seen launch or fail on these GPUs
        ("rtx5090", 131072, False),  # a fused matmul of Inductor (executorch#21827)
        ("gb10", 3 * (128 + 256) * 128, False),  # a fused MoE of fp8, 4 stages (sglang#28019)
        ("gb10", 1 * (128 + 256) * 128, True),  # the same with 2 stages
        ("gb10", 143360, False),  # a tuned product of fp8 (helion#3415)
        ("gb10", 111616, False),  # tiles of 256 × 128 of MXFP8 (flashinfer#3568)
        ("rtx5080", 111616, False),
        ("rtxpro6000", 111616, False),
        ("gb10", 196608, False),  # FlashQLA#4
        ("l40s", 106496, False),  # 3 stages of 128 × 256 × 64 of fp16 (sglang#29149)
        ("a10", 106496, False),  # attention with 576 values of a key (sglang#2847)
        ("t4", 81920, False),  # vllm#36802
        ("rtx3090", 110592, False),  # triton#384
        ("h200", 196608, True),
        ("a100", 147456, True),
        ("b200", 196608, True),
        ("thor", 196608, True),
    ],
)
def test_kernels_of_public_reports(gpu: str, dynamic: int, fits: bool) -> None:
    shape = {"shared_bytes": dynamic, "block": (128, 1, 1)}
    found = verdicts(tiles(16, "sm_75"), gpu, "small", **shape)
    assert found == ["launches" if fits else "exceeds-limits"]


def test_machine_code() -> None:
    found = predict("f.cubin", golden("facts.cubin"), "h100 b200", block=(256, 1, 1))
    assert {name: each.code for name, each in found.items() if "frame" in name} == {
        "h100 frame": "sm_90",
        "b200 frame": None,
    }
    assert found["h100 gather"].verdict == "exceeds-limits"  # its launch bounds are 128
    error = found["b200 frame"].error
    assert error is not None
    assert "SASS runs only on its own major version" in error.what
    found = predict("f.cubin", golden("facts.cubin"), "h100", "frame", block=(9000, 1, 1))
    assert str(found["h100 frame"].error) == "9000 threads per block, the limit is 1024"


def test_fatbins() -> None:
    found = predict("tiny.fatbin", golden("tiny.fatbin"), "h200 rtx3090 b300")
    assert {name: each.code for name, each in found.items()} == {
        "h200 tiny": "sm_90a", "rtx3090 tiny": "sm_80", "b300 tiny": None,
    }  # fmt: skip


UNLINKED = """\
.version 8.0
.target sm_75
.address_size 64
.extern .func unused(.param .b32 a);
.extern .func other(.param .b32 a);
.visible .entry k() {{
    .param .b32 a;
    call {callee}, (a);
    ret;
}}
.func own(.param .b32 a) {{ ret; }}
"""


def test_code_that_is_not_linked() -> None:
    """It does not load; what it declares and does not use is no reason."""
    found = [
        *predict("wants.cubin", golden("wants.cubin"), "h200").values(),
        *predict("k.ptx", UNLINKED.format(callee="other").encode(), "t4").values(),
    ]
    for each in found:
        assert each.verdict == "refused"
        assert each.error is not None
        assert "is not linked: undefined symbols" in each.error.what
    [linked] = predict("k.ptx", UNLINKED.format(callee="own").encode(), "t4").values()
    assert linked.verdict == "launches"


def test_relocatable_code_does_not_load() -> None:
    """Also without undefined symbols: it has yet to be linked."""
    data = bytearray(golden("facts.cubin"))
    data[16:18] = b"\1\0"  # the type of the file
    for each in predict("f.cubin", bytes(data), "h100").values():
        assert each.verdict == "refused"
        assert str(each.error) == "the code is relocatable"


def host_object(contents: bytes) -> bytes:
    """Return an ELF file for x86-64 with consecutive fatbins."""
    names = b"\0.nv_fatbin\0"
    place = 64 + len(names)
    sizes = (place + len(contents), 0, 64, 0, 0, 64, 3, 1)
    header = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 3, 62, 1, 0, 0, *sizes)
    rows = (
        (0,) * 10,
        (0, 3, 0, 0, 64, len(names), 0, 0, 1, 0),
        (1, 1, 0, 0, place, len(contents), 0, 0, 1, 0),
    )
    table = b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)
    return header + names + contents + table


def test_the_inputs_of_a_linked_file_are_not_loaded() -> None:
    inputs, linked = (b"".join(fatbins_in(golden(name), name)) for name in ("tiny_rdc.o", "tiny.o"))
    for contents in (linked, inputs + linked, linked + inputs):
        found = report("a.out", host_object(contents), "a100 l4", None, {})
        assert [each.verdict for each in found.predictions] == ["launches", "launches"]
    found = report("a.o", host_object(inputs), "a100", None, {})
    assert [str(each.error) for each in found.predictions] == ["the code is relocatable"]


@pytest.mark.parametrize(
    ("code", "gpus"),
    [
        ("sm_80", "a100 rtx3090 l4"),
        ("sm_86", "rtx3090 l4"),
        ("sm_87", "orin"),
        ("sm_90a", "h200"),
        ("sm_100f", "b200 b300"),
        ("sm_120", "rtx5090 gb10"),
        ("sm_120a", "rtx5090"),
        ("compute_86", "rtx3090 orin l4 h200 b200 b300 thor rtx5090 gb10"),
        ("compute_120f", "rtx5090 gb10"),
    ],
)
def test_architectures(code: str, gpus: str) -> None:
    target = parse_target(code)
    assert target is not None
    names = "t4 a100 rtx3090 orin l4 h200 b200 b300 thor rtx5090 gb10"
    assert [n for n in names.split() if target.runs_on(profiles()[n].architecture)] == gpus.split()


@needs_nvrtc
def test_source_is_compiled_for_each() -> None:
    """For no other architecture: no default one has to compile it."""
    source = b"""
#if __CUDA_ARCH__ < 890
#error too old
#endif
__global__ void k(int *p) { __shared__ int s[__CUDA_ARCH__]; s[*p] = 1; *p = s[*p + 1]; }
"""
    t4, l4 = predict("k.cu", source, "t4 l4").values()
    assert (t4.verdict, t4.kernel) == ("refused", None)
    assert t4.error is not None
    assert t4.error.context["device"] == "t4"
    assert (l4.verdict, l4.code) == ("launches", "compute_89")
