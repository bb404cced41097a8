"""The kernels that `emulator.py` and `engines.py` time, with their data and right answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Sizes:
    """Elements of the arrays, and the side of the matrices and of the image."""

    n: int
    side: int


BUFFER, TENSOR_MAP = ".param .u64 {}", ".param .align 64 .b8 {}[128]"
FULL, SMALL = Sizes(1 << 20, 256), Sizes(1 << 12, 32)


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument, in the words of every party.

    Attributes:
        name: The parameter's name.
        value: The array of a buffer, or a scalar.
        parameter: The PTX parameter's declaration, with ``{}`` for its name: `BUFFER` for the
            address of an array, `TENSOR_MAP` for a tensor map of 64×64 tiles of it.
        text: What ``cudarun launch`` is given.
        output: Whether this is the buffer that holds the answer.
    """

    name: str
    value: np.ndarray
    parameter: str
    text: str
    output: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel of the samples with its launch and its right answer."""

    name: str
    image: str
    threads: tuple[int, int]
    block: tuple[int, int]
    arguments: tuple[Argument, ...]
    answer: np.ndarray
    tolerance: float = 1e-4
    shared: int = 0
    cluster: int = 1

    @property
    def output(self) -> Argument:
        """The argument that holds the answer."""
        return next(argument for argument in self.arguments if argument.output)


def scalar(name: str, kind: str, value: float) -> Argument:
    """An ``i32``, ``i64`` or ``f32`` by value."""
    array = np.array(value, {"i32": np.int32, "i64": np.int64, "f32": np.float32}[kind])
    parameter = {"i32": ".param .u32 {}", "i64": ".param .u64 {}", "f32": ".param .f32 {}"}[kind]
    return Argument(name, array, parameter, f"{name}={kind}:{value}")


def buffer(name: str, array: np.ndarray, folder: Path | None, *, output: bool = False) -> Argument:
    """A buffer whose initial content goes to ``cudarun`` as a ``.npy`` file of the folder."""
    if folder is None:
        return Argument(name, array, BUFFER, "", output)
    handle, path = tempfile.mkstemp(".npy", f"{name}-", folder)
    with os.fdopen(handle, "wb") as file:
        np.save(file, array)
    return Argument(name, array, BUFFER, f"{name}=@{path}", output)


def cases(folder: Path | None, sizes: Sizes) -> list[Case]:
    """Everything that is timed; ``folder`` takes the data files."""
    random = np.random.default_rng(1)
    return [
        _saxpy(folder, sizes.n),
        *(_matmul(f"matmul_{kind}", random, folder, sizes.side) for kind in ("naive", "tiled")),
        _reduce(folder, sizes.n),
        _histogram(random, folder, sizes.n),
        _mandelbrot(folder, sizes.side),
    ]


def _saxpy(folder: Path | None, n: int) -> Case:
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, np.float32)
    arguments = (
        scalar("a", "f32", 2),
        buffer("x", x, folder),
        buffer("y", y, folder, output=True),
        scalar("n", "i32", n),
    )
    return Case("saxpy", "saxpy.ptx", (n, 1), (256, 1), arguments, 2 * x + y)


def _matmul(name: str, random: np.random.Generator, folder: Path | None, side: int) -> Case:
    a, b = (random.random((side, side), np.float32) for _ in range(2))
    arguments = (
        buffer("a", a, folder),
        buffer("b", b, folder),
        buffer("c", np.zeros_like(a), folder, output=True),
        *(scalar(size, "i32", side) for size in ("m", "n", "k")),
    )
    return Case(name, "matmul.ptx", (side, side), (16, 16), arguments, a @ b)


def _reduce(folder: Path | None, n: int) -> Case:
    x = np.arange(n, dtype=np.float32)
    arguments = (
        buffer("x", x, folder),
        buffer("total", np.zeros(1, np.float32), folder, output=True),
        scalar("n", "i32", n),
    )
    return Case(
        "reduce", "reduce.ptx", (min(64 * 256, n), 1), (256, 1), arguments, x.sum(keepdims=True)
    )


def _histogram(random: np.random.Generator, folder: Path | None, n: int) -> Case:
    data = random.integers(0, 256, n, np.uint8)
    arguments = (
        buffer("data", data, folder),
        buffer("bins", np.zeros(256, np.uint32), folder, output=True),
        scalar("n", "i32", n),
    )
    answer = np.bincount(data, minlength=256)
    return Case("histogram", "histogram.ptx", (min(64 * 256, n), 1), (256, 1), arguments, answer)


def _mandelbrot(folder: Path | None, side: int) -> Case:
    limit, pixel = 50, np.float32(3.2 / side)
    center = np.array([-0.75, 0], np.float32)
    offsets = pixel * (np.arange(side, dtype=np.float32) - np.float32(0.5 * (side - 1)))
    c = (center[0] + offsets)[None, :] + 1j * (center[1] + offsets)[:, None]
    z, steps = np.zeros_like(c), np.zeros(c.shape, np.uint8)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        steps += inside
        z = np.where(inside, z * z + c, z)
    arguments = (
        buffer("image", np.zeros((side, side), np.uint8), folder, output=True),
        scalar("width", "i32", side),
        scalar("height", "i32", side),
        Argument("center", center, ".param .align 8 .b8 {}[8]", "center=float2:-0.75,0"),
        scalar("pixel", "f32", float(pixel)),
        scalar("limit", "i32", limit),
    )
    return Case("mandelbrot", "mandelbrot.ptx", (side, side), (16, 16), arguments, steps)


def engine_cases(sizes: Sizes) -> dict[str, Callable[[], Case]]:
    """Functions that make the cases on which the engines are compared, by name."""
    random = np.random.default_rng(1)

    def matmul(kind: str, side: int) -> Callable[[], Case]:
        return lambda: _matmul(f"matmul_{kind}", random, None, side)

    return {
        "saxpy": lambda: _saxpy(None, sizes.n),
        **{
            f"matmul_{kind}_{side}": matmul(kind, side)
            for kind in ("naive", "tiled")
            for side in (sizes.side, 2 * sizes.side)
        },
        "reduce": lambda: _reduce(None, sizes.n),
        "histogram": lambda: _histogram(random, None, sizes.n),
        "histogram_cluster": lambda: _histogram_cluster(random, sizes.n // 4),
        "mandelbrot": lambda: _mandelbrot(None, sizes.side),
        "scan": lambda: _scan(random, sizes.n),
        "attention": lambda: _attention(random, 2, max(sizes.side, 64)),  # a block has 64 rows
        f"mma_{2 * sizes.side}": lambda: _mma(random, 2 * sizes.side),
        f"mma_{4 * sizes.side}": lambda: _mma(random, 4 * sizes.side),
    }


def _histogram_cluster(random: np.random.Generator, n: int) -> Case:
    each, cluster = 64, 4  # the bins of a block, and the blocks of a cluster
    data = random.integers(0, cluster * each, n, np.int32)
    arguments = (
        buffer("in", data, None),
        scalar("n", "i32", n),
        buffer("bins", np.zeros(cluster * each, np.uint32), None, output=True),
        scalar("bins_each", "i32", each),
    )
    answer = np.bincount(data, minlength=cluster * each)
    image, threads = "../tests/programs/cluster.ptx", (min(64 * 256, n), 1)
    shared = 4 * each
    return Case(
        "histogram_cluster", image, threads, (256, 1), arguments, answer, shared=shared,
        cluster=cluster,
    )  # fmt: skip


def _scan(random: np.random.Generator, n: int) -> Case:
    x = random.integers(-1000, 1000, n, np.int32)
    arguments = (
        buffer("in", x, None),
        buffer("out", np.zeros_like(x), None, output=True),
        buffer("totals", np.zeros(n // 1024, np.int32), None),
    )
    answer = np.cumsum(x.reshape(-1, 1024), axis=1, dtype=np.int32)
    image = "../tests/programs/scan.ptx"
    return Case("scan_block", image, (n // 4, 1), (256, 1), arguments, answer)


def _mma(random: np.random.Generator, side: int) -> Case:
    a, b = (random.integers(-8, 9, (side, side)).astype(np.float16) for _ in range(2))
    answer = a.astype(np.float32) @ b.astype(np.float32)
    arguments = (
        buffer("a", a, None),
        buffer("b", b, None),
        buffer("c", np.zeros_like(answer), None, output=True),
        scalar("n", "i32", side),
        scalar("k", "i32", side),
    )
    threads = (side // 32 * 128, side // 32)
    image = "../tests/programs/mma.ptx"
    return Case("product_pipelined", image, threads, (128, 1), arguments, answer)


def _attention(random: np.random.Generator, heads: int, length: int) -> Case:
    shape = (heads * length, 64)
    q, k, v = (random.standard_normal(shape).astype(np.float16) for _ in range(3))
    parts = [each.astype(np.float32).reshape(heads, length, 64) for each in (q, k, v)]
    weights = np.exp(parts[0] @ parts[1].transpose(0, 2, 1) / 8)
    answer = weights @ parts[2] / weights.sum(axis=2, keepdims=True)
    arguments: list[Argument] = []
    for name, array in (("q", q), ("k", k), ("v", v), ("o", np.zeros_like(q))):
        arguments.append(Argument(name, array, TENSOR_MAP, "", name == "o"))
        arguments += (scalar("", "i32", size) for size in shape)
        arguments += (scalar("", "i64", step) for step in (64, 1))
    arguments += [scalar("length", "i32", length), scalar("scale", "f32", np.log2(np.e) / 8)]
    arguments += [scalar("", "i64", 0)] * 2
    threads = (length // 64 * 128, heads)
    image = "triton/attention.ptx"
    return Case("attention", image, threads, (128, 1), tuple(arguments), answer, 1e-2, 57400)


def agrees(case: Case, got: np.ndarray) -> bool:
    """Whether an answer is right; the edge of the image is chaotic, so 1 % of it may differ."""
    got = got.reshape(case.answer.shape)
    if case.name == "mandelbrot":
        return bool(np.mean(got != case.answer) < 0.01)
    return bool(np.allclose(got, case.answer, rtol=case.tolerance, atol=case.tolerance))
