"""Fetches from textures of floating point coordinates, as golden data: made, run, kept in a file.

What no manual says of them is how coordinates, weights and sums are rounded; the cases are where
that shows. The file has their results alone. The inputs are made anew, and a digest in the file
tells whether they still are what they were.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.conformance.arrays import array_with
from tests.conformance.conftest import Driver
from tests.conformance.texture_objects import (
    CLAMP,
    LINEAR,
    MIRROR,
    NORMALIZED,
    POINT,
    WRAP,
    described,
    fetched,
    of_array,
)

Array = npt.NDArray[Any]
Results = Mapping[str, Array]

PTX = Path(__file__).parents[1] / "conformance" / "ptx" / "textures.ptx"


# --- cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """A texture of one channel, and where it is fetched from.

    ``texels`` has columns, or rows and columns; each of ``coordinates`` is x, or x and y.
    """

    name: str
    texels: Array
    coordinates: Array
    mode: int = CLAMP
    filter_mode: int = POINT
    flags: int = 0


def cases() -> list[Case]:
    """All cases, the same wherever this runs."""
    random = np.random.default_rng(1)
    made: list[Case] = []
    for dtype in ("u1", "i1", "u2", "i2", "f2", "f4"):
        line, plane = _line(random, dtype), _plane(random, dtype)
        made.append(Case(f"line_{dtype}", *line, filter_mode=LINEAR))
        made.append(Case(f"plane_{dtype}", *plane, filter_mode=LINEAR))
    below = _just_below((1, 2, 100, 4000))
    many, hundred = (np.arange(count, dtype=np.float32) for count in (4096, 100))
    made.append(Case("point", many, below.astype(np.float32)))
    made.append(Case("pointn", many, (below / 4096).astype(np.float32), flags=NORMALIZED))
    around = random.uniform(-5, 5, 4096).astype(np.float32)[:2048]
    for name, mode in (("wrap", WRAP), ("mirror", MIRROR)):
        made.append(Case(f"{name}100", hundred, around, mode, POINT, NORMALIZED))
        made.append(Case(f"{name}line100", hundred, around, mode, LINEAR, NORMALIZED))
    return made


def _line(random: np.random.Generator, dtype: str) -> tuple[Array, Array]:
    """Every weight between some telling texels, then chance."""
    texels = _texels(random, dtype, 512)
    if texels.dtype.kind == "f":
        texels[:8] = [0, 1, 0, 1, 0, 1, 1, 1]
    else:
        least, most = np.iinfo(texels.dtype).min, np.iinfo(texels.dtype).max
        texels[:8] = [least, most, least, most, 0, most, 0, 1]
    weights = np.arange(1, 8)[:, None] - 0.5 + np.arange(256) / 256
    anywhere = random.uniform(8, 500, (8, 256))
    return texels, np.concatenate([weights, anywhere]).astype(np.float32).ravel()


def _plane(random: np.random.Generator, dtype: str) -> tuple[Array, Array]:
    texels = _texels(random, dtype, 32 * 32).reshape(32, 32)
    return texels, random.uniform(1, 30, (2048, 2)).astype(np.float32)


def _texels(random: np.random.Generator, dtype: str, count: int) -> Array:
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(count).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, count, endpoint=True).astype(dtype)


def _just_below(borders: Sequence[int]) -> Array:
    """Ever nearer to borders between texels, until a float cannot tell them apart."""
    return np.array([border - 2.0**-bits for border in borders for bits in range(1, 20)])


# --- running -------------------------------------------------------------------------------------


class Runner:
    """A context on device 0 of a driver with the functions of ``cuda.bindings.driver``."""

    def __init__(self, module: Any) -> None:
        self._cuda = Driver(module)
        self._cuda.cuInit(0)
        self._device = self._cuda.cuDeviceGet(0)
        self._context = self._cuda.create_context(0, self._device)
        self._kernels = self._cuda.cuModuleLoadData(PTX.read_bytes() + b"\0")

    def close(self) -> None:
        """Give the context back."""
        self._cuda.cuCtxDestroy(self._context)

    def name(self) -> str:
        """What is tried, in words."""
        name = self._cuda.cuDeviceGetName(128, self._device).split(b"\0")[0].decode()
        return f"{name}, CUDA {self._cuda.cuDriverGetVersion()}"

    def run(self, case: Case) -> Array:
        """What is fetched: a float for each coordinate."""
        cuda = self._cuda
        array = array_with(cuda, case.texels[..., None])
        how = described(cuda, mode=case.mode, filter_mode=case.filter_mode, flags=case.flags)
        texture = cuda.cuTexObjectCreate(of_array(cuda, array), how, None)
        kernel = f"float_{case.texels.ndim}d"
        found = fetched(cuda, self._kernels, kernel, texture, case.coordinates)
        cuda.cuTexObjectDestroy(texture)
        cuda.cuArrayDestroy(array)
        return found[:, 0].copy()


# --- the file ------------------------------------------------------------------------------------


def digest(wanted: Sequence[Case]) -> str:
    """A digest of all the inputs of these cases."""
    found = hashlib.sha256()
    for case in wanted:
        how = f"{case.name} {case.mode} {case.filter_mode} {case.flags} {case.texels.shape} "
        found.update(how.encode() + case.texels.tobytes() + case.coordinates.tobytes())
    return found.hexdigest()


def write(path: Path, device: str, wanted: Sequence[Case], results: Results) -> int:
    """Write the results of cases; how many bytes the file has."""
    head = {"device": device, "inputs": digest(wanted), "cases": [case.name for case in wanted]}
    data = [json.dumps(head).encode(), b"\n"]
    for case in wanted:  # all first bytes of the floats, all second ones, …: that packs better
        data.append(results[case.name].view(np.uint8).reshape(-1, 4).T.tobytes())
    packed = lzma.compress(b"".join(data), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> dict[str, Array]:
    """The results of all cases, by their names.

    Raises:
        ValueError: The inputs have changed since it was recorded.
    """
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head, wanted = json.loads(text), {case.name: case for case in cases()}
    kept = [wanted[name] for name in head["cases"]]
    if digest(kept) != head["inputs"]:
        raise ValueError(f"{path}: recorded with other inputs; record again")
    results, at = {}, 0
    for case in kept:
        size = 4 * len(case.coordinates)
        columns = np.frombuffer(data, np.uint8, size, at).reshape(4, -1)
        results[case.name] = np.ascontiguousarray(columns.T).view(np.float32)[:, 0]
        at += size
    return results


def differences(case: Case, recorded: Array, found: Array, most: int = 5) -> Iterator[str]:
    """Where results have other bits than were recorded, in words."""
    apart = np.flatnonzero(recorded.view(np.uint32) != found.view(np.uint32))
    if len(apart):
        yield f"{case.name}: {len(apart)} of {len(found)} fetches differ"
    for place in apart[:most]:
        at = case.coordinates[place].tolist()
        yield f"  at {at}: recorded {recorded[place]!r}, found {found[place]!r}"
