"""The file that Triton writes beside an image, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudarun.errors import RequestError
from cudarun.session.image.image import Image
from cudarun.session.image.triton import TritonKernel, read_triton

GOOD = {"name": "softmax", "num_warps": 4, "shared": 16}


def read(folder: Path, text: str) -> TritonKernel | None:
    (folder / "k.json").write_text(text)
    return read_triton(Image(str(folder / "k.cubin"), b""))


def test_a_kernel(tmp_path: Path) -> None:
    kernel = read(tmp_path, json.dumps({**GOOD, "num_ctas": 2, "global_scratch_size": 8}))
    assert kernel == TritonKernel("softmax", 4, 16, 2, False, (8,))


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
        with pytest.raises(RequestError, match=f"'{key}' of the Triton kernel is not "):
            read(tmp_path, text)
