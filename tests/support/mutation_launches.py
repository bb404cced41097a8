"""Kernels to be mutated, each with one launch, and that launch on any driver.

The kernels are samples and the files of ``tests/emulator/isa``, whose header comments say how they
are launched. `run` speaks to a module with the functions of ``cuda.bindings.driver``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]

Array = npt.NDArray[Any]

_F32 = np.arange(4096, dtype=np.float32) * np.float32(0.37) - np.float32(500)
_I32 = (np.arange(4096, dtype=np.int64) * 2654435761 % (1 << 32)).astype(np.uint32)


@dataclass(frozen=True)
class Work:
    """One launch of one kernel; arrays are buffers, numpy scalars are values."""

    path: Path
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Array | np.generic, ...]
    shared: int = 0
    cluster: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class Outcome:
    """What became of a launch.

    Attributes:
        loaded: Whether the image was taken.
        result: The driver's result of the load or, where that succeeded, of the launch.
        outputs: The buffers afterwards; none where the kernel did not end well.
    """

    loaded: bool
    result: str
    outputs: tuple[bytes, ...] = ()


def works() -> list[Work]:
    """All launches."""
    return [*_samples(), *_isa_files()]


def _samples() -> list[Work]:
    def zeros(count: int, dtype: str = "f4") -> Array:
        return np.zeros(count, dtype)

    n = np.int32(1000)
    f32, square = _F32[:1000], _F32[: 64 * 64]
    table: list[tuple[str, str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]]] = [
        ("saxpy", "saxpy", (4,), (256,), (np.float32(2.5), f32, _F32[1000:2000], n)),
        ("vector_add", "vector_add", (1,), (256,), (_F32, _F32[::-1], zeros(4096), n)),
        ("scale", "_ZN7example5scaleIfEEvPT_S1_i", (4,), (256,), (f32, np.float32(3), n)),
        ("scale", "_ZN7example5scaleIiEEvPT_S1_i", (4,), (256,), (_I32[:1000], np.int32(7), n)),
        ("reduce", "reduce", (4,), (256,), (np.ones(1000, "f4"), zeros(1), n)),
        ("histogram", "histogram", (2,), (256,), (_I32[:1000].astype("u1"), zeros(256, "u4"), n)),
        (
            "matmul",
            "matmul_tiled",
            (2, 2),
            (16, 16),
            (square, square[::-1], zeros(1024), *map(np.int32, (32, 32, 32))),
        ),
        (
            "matmul",
            "matmul_naive",
            (2, 2),
            (16, 16),
            (square, square[::-1], zeros(1024), *map(np.int32, (32, 32, 32))),
        ),
        (
            "transpose",
            "transpose_tiled",
            (2, 2),
            (32, 8),
            (square, zeros(4096), *[np.int32(64)] * 2),
        ),
        ("softmax", "softmax", (4,), (128,), (f32 / 100, zeros(1000), np.int32(4), np.int32(250))),
        (
            "mandelbrot",
            "mandelbrot",
            (4, 4),
            (16, 16),
            (
                zeros(4096, "u1"),
                *map(np.int32, (64, 64)),
                np.complex64(-0.5 + 0.1j),  # a float2
                np.float32(0.04),
                np.int32(50),
            ),
        ),
    ]
    found = [
        Work(ROOT / "samples" / f"{name}.ptx", kernel, grid, block, arguments)
        for name, kernel, grid, block, arguments in table
    ]
    data = (_I32[:256],)
    reverse = Work(ROOT / "samples" / "reverse.ptx", "reverse", (2,), (128,), data, shared=512)
    return [*found, reverse]


def _isa_files() -> list[Work]:
    from tests.emulator.test_isa_files import FILES, header

    found = []
    for path in FILES:
        text = path.read_text()
        launch = header(text)
        if launch.fault is not None:
            continue
        kernel = text.partition(".entry ")[2].partition("(")[0].strip()
        arguments = tuple(launch.values.values())
        found.append(
            Work(path, kernel, launch.grid, launch.block, arguments, launch.shared, launch.cluster)
        )
    return found


def run(cuda: Any, text: str, work: Work) -> Outcome:
    """Load a text in the current context and launch a kernel of it as ``work`` says."""
    result, module = cuda.cuModuleLoadData(text.encode() + b"\0")
    if int(result):
        return Outcome(False, result.name)
    result, function = cuda.cuModuleGetFunction(module, work.kernel.encode())
    if int(result):
        return Outcome(False, result.name)
    buffers, cells = [], []
    for argument in work.arguments:
        if isinstance(argument, np.ndarray):
            data = np.ascontiguousarray(argument)
            address = _value(cuda.cuMemAlloc(max(data.nbytes, 1)))
            _value(cuda.cuMemcpyHtoD(address, data, data.nbytes))
            buffers.append((address, data))
            cells.append(np.array([int(address)], dtype=np.uint64))
        else:
            cells.append(np.array([argument]))
    pointers = np.array([cell.ctypes.data for cell in cells], dtype=np.uint64)
    config = _config(cuda, work)
    result = cuda.cuLaunchKernelEx(config, function, pointers.ctypes.data, 0)[0]
    if not int(result):
        result = cuda.cuCtxSynchronize()[0]
    if int(result):
        return Outcome(True, result.name)
    outputs = []
    for address, data in buffers:
        _value(cuda.cuMemcpyDtoH(data, address, data.nbytes))
        outputs.append(data.tobytes())
        _value(cuda.cuMemFree(address))
    _value(cuda.cuModuleUnload(module))
    return Outcome(True, result.name, tuple(outputs))


def _config(cuda: Any, work: Work) -> Any:
    config = cuda.CUlaunchConfig()
    for axis, grid, block in zip("XYZ", _three(work.grid), _three(work.block), strict=True):
        setattr(config, f"gridDim{axis}", grid)
        setattr(config, f"blockDim{axis}", block)
    config.sharedMemBytes = work.shared
    if work.cluster != (1,):
        attribute = cuda.CUlaunchAttribute()
        attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        extent = attribute.value.clusterDim
        extent.x, extent.y, extent.z = _three(work.cluster)
        config.attrs, config.numAttrs = [attribute], 1
    return config


def _three(extent: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


def _value(answer: tuple[Any, ...]) -> Any:
    result, *values = answer
    if int(result):
        raise RuntimeError(f"{result!r}")
    return values[0] if values else None
