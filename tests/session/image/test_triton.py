"""The file that Triton writes beside an image, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.image.image import Image
from cudarun.session.image.triton import TritonKernel, read_triton
from cudarun.session.image.triton_arguments import names_beside

GOOD = {"name": "softmax", "num_warps": 4, "shared": 16}


def read(folder: Path, text: str) -> TritonKernel | None:
    (folder / "k.json").write_text(text)
    return read_triton(Image(str(folder / "k.cubin"), b""))


def test_a_kernel(tmp_path: Path) -> None:
    kernel = read(tmp_path, json.dumps({**GOOD, "num_ctas": 2, "global_scratch_size": 8}))
    assert kernel == TritonKernel("softmax", 4, 16, 2, global_scratch_size=8)
    assert kernel.scratch_bytes == (8,)


def test_a_kernel_with_descriptors(tmp_path: Path) -> None:
    meta = {"swizzle": 3, "elem_size": 2, "elem_type": 10, "block_size": [64, 32]}
    more = {
        "launch_pdl": True,
        "tensordesc_meta": [meta],
        "signature": {"a": "tensordesc<bf16[64,32]>", "B": "constexpr"},
        "constants": {"B": 64, "T": "fp16"},
    }
    kernel = read(tmp_path, json.dumps({**GOOD, **more}))
    assert kernel is not None
    assert kernel.programmatic
    [descriptor] = kernel.descriptors
    assert (descriptor.type, descriptor.block, descriptor.swizzle) == ("bf16", (64, 32), "128B")
    assert kernel.numbers == {"B": 64}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elem_type": 11}, "meta.0..elem_type"),
        ({"swizzle": True}, "meta.0..swizzle"),
        ({"block_size": []}, "meta.0..block_size"),
        ({"block_size": [64, 257]}, "meta.0..block_size.1."),
        ({"is_im2col": True}, "is_im2col are not implemented"),
        ({"fp4_padded": True}, "fp4_padded are not implemented"),
    ],
)
def test_wrong_descriptors_are_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    meta = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], **change}
    with pytest.raises(RequestError, match=message):
        read(tmp_path, json.dumps({**GOOD, "tensordesc_meta": [meta]}))


def test_names_from_the_code_beside_an_image(tmp_path: Path) -> None:
    (tmp_path / "k.ttir").write_text(
        '#loc18 = loc("A"(#loc))\nmodule {\n'
        "  tt.func public @other(%x: i32) {\n  }\n"
        '  tt.func public @k(%A: !tt.tensordesc<64x64xf16> loc("A"(#loc)), %A.shape.0: i32 '
        'loc("A.shape.0"(#loc)), %c: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("c"(#loc))) '
        "attributes {noinline = false} {\n    %c0 = arith.constant 0 : i32\n"
    )
    assert names_beside(str(tmp_path / "k.ptx"), "k") == ("A", "A.shape.0", "c")
    assert names_beside(str(tmp_path / "k.ptx"), "missing") == ()
    (tmp_path / "k.ttir").write_text("tt.func public @k(%arg0: i32) {")
    assert names_beside(str(tmp_path / "k.ptx"), "k") == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        '{"a":' * 100_000,
        "[1, 2]",
        "null",
        '{"name": "x"}',
        "\0",
        "1" * 5000,
    ],
)
def test_other_files_are_not_tritons(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) is None


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps({**GOOD, "more": " " * (1 << 20)})) is None


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "k.json").symlink_to("/dev/zero")
    assert read_triton(Image(str(tmp_path / "k.cubin"), b"")) is None


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("name", ["5", "[]", '["a"]', "null", '""', "{}", "1e999"]),
        ("num_warps", ["Infinity", "-Infinity", "NaN", "2147483648", "0", "33", '"4"', "true"]),
        ("shared", ["Infinity", "2147483648", "1" + "0" * 30, "-1", "1.5", "[1]", "null"]),
        ("num_ctas", ["Infinity", "0", "1" + "0" * 30, '"1"', "null"]),
        ("global_scratch_size", ["Infinity", "2147483648", "-1", "{}"]),
        ("launch_cooperative_grid", ["1", '"yes"', "[]"]),
    ],
)
def test_wrong_values_are_refused_by_name(tmp_path: Path, key: str, values: list[str]) -> None:
    for value in values:
        text = json.dumps({**GOOD, key: "VALUE"}).replace('"VALUE"', value)
        with pytest.raises(RequestError, match=f"Triton kernel: .* invalid at {key}$"):
            read(tmp_path, text)
