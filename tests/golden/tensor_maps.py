"""Arguments of ``cuTensorMapEncode*`` and the bytes that a driver makes of them, as golden data.

No document describes the bytes. The sweeps vary one argument at a time, over all its bits; the
random cases vary all of them, many beyond what is allowed, so that they show the checks, too.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ADDRESS = 0x7F12_3456_7800
TYPES = range(16)
BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1)
"""Bytes of an element, by data type; of the packed types, a number for the cases' purpose."""


@dataclass(frozen=True)
class Tiled:
    """Arguments of ``cuTensorMapEncodeTiled``, in its order."""

    kind: int
    rank: int
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    promotion: int = 0
    fill: int = 0


@dataclass(frozen=True)
class Im2col:
    """Arguments of ``cuTensorMapEncodeIm2col``, in its order."""

    kind: int
    rank: int
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int
    steps: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    promotion: int = 0
    fill: int = 0


@dataclass(frozen=True)
class Replaced:
    """Arguments of ``cuTensorMapReplaceAddress``; the map is made first."""

    tensor: Tiled | Im2col
    address: int


Case = Tiled | Im2col | Replaced

# --- cases ---------------------------------------------------------------------------------------


@cache
def cases() -> list[Case]:
    """All cases, the same wherever this runs, each once."""
    made = [*_tiled(), *_im2col(), *_replaced()]
    return list(dict.fromkeys(made))


def _shape(rank: int, unit: int = 4) -> tuple[tuple[int, ...], tuple[int, ...]]:
    dims = (64, 48, 40, 36, 32)[:rank]
    strides, size = [], unit
    for dim in dims[:-1]:
        size *= dim
        strides.append(size)
    return dims, tuple(strides)


def tile(rank: int, kind: int = 2) -> Tiled:
    """A valid tile."""
    dims, strides = _shape(rank, max(BYTES[kind], 1))
    strides = strides or (16,)  # the driver demands the array, and ignores it
    return Tiled(kind, rank, ADDRESS, dims, strides, (16, 8, 4, 2, 3)[:rank], (1,) * rank)


def columns(rank: int, kind: int = 2) -> Im2col:
    """Valid columns of pixels."""
    dims, strides = _shape(rank, BYTES[kind])
    lower, upper = (-1, -2, -3)[: rank - 2], (-4, -3, -1)[: rank - 2]
    return Im2col(kind, rank, ADDRESS, dims, strides, lower, upper, 16, 32, (1,) * rank)


def _put(values: Sequence[int], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _near(bits: int) -> Iterator[int]:
    """Every power of 2, its neighbors, and 0."""
    yield from sorted({0} | {(1 << bit) + more for bit in range(bits) for more in (-1, 0, 1)})


def _modes(base: Any) -> Iterator[Any]:
    for kind in TYPES:
        some = replace(base, kind=kind)
        for interleave in range(3):
            for swizzle in range(7):
                for fill in range(2):
                    yield replace(some, interleave=interleave, swizzle=swizzle, fill=fill)
    for promotion in range(4):
        yield replace(base, promotion=promotion)


def _addresses() -> Iterator[int]:
    for bit in range(64):
        yield 1 << bit
        yield (1 << bit) - 16 & (1 << 64) - 1
    for low in range(0, 65, 4):
        yield ADDRESS + low


def _common(base: Any) -> Iterator[Any]:
    """The sweeps over what both functions have."""
    rank = base.rank
    for address in _addresses():
        yield replace(base, address=address)
        if rank == 3:
            yield replace(base, address=address, interleave=1)
            yield replace(base, address=address, interleave=2, swizzle=1)
    for place in range(rank):
        for value in _near(34):
            yield replace(base, dims=_put(base.dims, place, value))
        for value in range(11):
            yield replace(base, steps=_put(base.steps, place, value))
            if rank >= 3:
                yield replace(base, steps=_put(base.steps, place, value), interleave=1)
        yield replace(base, steps=_put(base.steps, place, 1 << 31))
    for place in range(rank - 1):
        for bit in range(43):
            for more in (-16, 0, 8, 16):
                value = (1 << bit) + more
                if value >= 0:
                    yield replace(base, strides=_put(base.strides, place, value))
                    if rank == 3 and more != 8:
                        some = _put(base.strides, place, value)
                        yield replace(base, strides=some, interleave=2, swizzle=1)
        yield replace(base, strides=_put(base.strides, place, 0))


def _tiled() -> Iterator[Tiled]:
    for rank in range(1, 6):
        base = tile(rank)
        yield base
        yield from _modes(base)
        if rank >= 3:
            yield from _modes(replace(base, box=_put(base.box, 0, 8)))
        yield from _common(base)
        for place in range(rank):
            for value in (*range(20), *range(20, 250, 10), *range(250, 262), 512, 1 << 31):
                yield replace(base, box=_put(base.box, place, value))
        for kind in TYPES:
            for inner in range(0, 257, 2 if rank < 3 else 16):
                yield replace(base, kind=kind, box=_put(base.box, 0, inner))
        for swizzle in range(1, 7):
            for inner in range(4, 257, 4):
                yield replace(base, swizzle=swizzle, box=_put(base.box, 0, inner))
    yield replace(tile(1), rank=0)
    for stride in (0, 8, 16, 1 << 40):
        yield replace(tile(1), strides=(stride,))
    yield replace(tile(1), strides=())
    for side in range(240, 257):  # around the size of shared memory
        for inner in (16, 48, 256):
            yield replace(tile(3, 0), box=(inner, 57, side))
            yield replace(tile(3, 0), box=(inner, 57, side), steps=(2, 1, 1))
            yield replace(tile(3, 0), box=(inner, 57, side), swizzle=3)
    for channels in (32, 64, 128, 228, 256):
        for pixels in range(1008, 1025, 4):
            yield replace(columns(3, 0), channels=channels, pixels=pixels)
    for interleave, swizzle in ((1, 0), (1, 1), (1, 2), (1, 3), (2, 1)):
        for inner in range(0, 68, 1):
            base = replace(tile(4, 1), interleave=interleave, swizzle=swizzle)
            yield replace(base, box=_put(base.box, 0, inner))
            yield replace(base, box=_put(base.box, 0, inner), kind=2)
    for sides in ((256,) * 5, (256, 256, 256, 1, 1), (256, 256, 4, 1, 1), (16, 256, 256, 2, 1),
                  (256, 256, 1, 1, 1), (256, 128, 1, 1, 1), (256, 255, 1, 1, 1)):  # fmt: skip
        for kind in (0, 2, 4):
            yield replace(tile(5, kind), box=sides)
    random = np.random.default_rng(1)
    for _ in range(4000):
        yield _random_tile(random)


def _pick(random: np.random.Generator, *values: int) -> int:
    return int(values[random.integers(len(values))])


def _random_common(random: np.random.Generator, rank: int) -> dict[str, Any]:
    kind = int(random.integers(13)) if random.random() < 0.95 else int(random.integers(13, 16))
    interleave = _pick(random, 0, 0, 0, 1, 2)
    unit = 32 if interleave == 2 else 16
    some = unit * int(random.integers(1 << 40)) if random.random() < 0.9 else 8
    dims = tuple(int(random.integers(1, 1 << int(random.integers(1, 33)))) for _ in range(rank))
    strides = tuple(
        unit * int(random.integers(1, 1 << int(random.integers(1, 36)))) for _ in dims[1:]
    )
    strides = strides or (16,)
    if random.random() < 0.05:
        strides = _put(strides, 0, strides[0] + 8)
    return {
        "kind": kind,
        "rank": rank,
        "address": some,
        "dims": dims,
        "strides": strides,
        "steps": tuple(_pick(random, 1, 1, 1, 2, 3, 7, 8) for _ in dims),
        "interleave": interleave,
        "swizzle": _pick(random, 0, 1, 2, 3) if interleave != 2 else _pick(random, 1, 1, 1, 0),
        "promotion": int(random.integers(4)),
        "fill": int(kind >= 6 and random.random() < 0.5),
    }


def _random_tile(random: np.random.Generator) -> Tiled:
    rank = int(random.integers(1, 6))
    common = _random_common(random, rank)
    inner = max(16 // BYTES[common["kind"]], 1) * _pick(random, 1, 1, 2, 2, 3, 4, 8)
    box = (inner, *(int(random.integers(1, _pick(random, 4, 10, 257))) for _ in range(rank - 1)))
    return Tiled(box=box, **common)


def _im2col() -> Iterator[Im2col]:
    for rank in (3, 4, 5):
        base = columns(rank)
        yield base
        yield from _modes(base)
        yield from _modes(replace(base, channels=8))
        yield from _common(base)
        for place in range(rank - 2):
            for bit in range(17):
                for value in (1 << bit, (1 << bit) - 1, -(1 << bit), -(1 << bit) - 1):
                    yield replace(base, lower=_put(base.lower, place, value))
                    yield replace(base, upper=_put(base.upper, place, value))
            for value in range(-70, 2):  # the box becomes empty
                yield replace(base, upper=_put(base.upper, place, value))
        for value in (*range(40), *range(40, 256, 8), *range(250, 262), 512, 1024, 1 << 31):
            yield replace(base, channels=value)
            yield replace(base, channels=value, kind=0)
            yield replace(base, channels=value, kind=1, interleave=1)
        for swizzle in range(1, 4):
            for channels in range(4, 80, 4):
                yield replace(base, channels=channels, swizzle=swizzle)
        for value in (*range(20), *range(32, 1024, 32), *range(1020, 1030), 2048, 1 << 31):
            yield replace(base, pixels=value)
    dims, strides = _shape(5)
    for rank in (1, 2):
        yield Im2col(2, rank, ADDRESS, dims[:rank], strides[: rank - 1], (-1,), (-1,), 16, 32,
                     (1,) * rank)  # fmt: skip
    random = np.random.default_rng(2)
    for _ in range(4000):
        yield _random_columns(random)


def _random_columns(random: np.random.Generator) -> Im2col:
    rank = int(random.integers(3, 6))
    common = _random_common(random, rank)
    limit = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}[rank] if random.random() < 0.5 else 5
    spatial = rank - 2
    lower = tuple(int(random.integers(-limit, limit)) for _ in range(spatial))
    upper = tuple(int(random.integers(-limit, limit)) for _ in range(spatial))
    unit = max(16 // BYTES[common["kind"]], 1)
    channels = unit * _pick(random, 1, 2, 4, 8) if random.random() < 0.8 else _pick(random, 3, 257)
    return Im2col(
        lower=lower, upper=upper, channels=channels, pixels=int(random.integers(1, 1026)), **common
    )


def _replaced() -> Iterator[Replaced]:
    for base in (tile(2), tile(5, 9), columns(4)):
        for address in _addresses():
            yield Replaced(base, address)
    for interleave, swizzle in ((1, 0), (2, 1)):
        for address in _addresses():
            yield Replaced(replace(tile(3), interleave=interleave, swizzle=swizzle,
                                   box=(8, 8, 4)), address)  # fmt: skip


# --- running -------------------------------------------------------------------------------------


def encoded(cuda: Any, case: Case) -> tuple[int, bytes]:
    """Return the result of the call on a case, and the bytes of the tensor.

    ``cuda`` is a module with the functions of ``cuda.bindings.driver``.
    """
    if isinstance(case, Replaced):
        result, found = encode(cuda, case.tensor)
        if int(result) == 0:
            (result,) = cuda.cuTensorMapReplaceAddress(found, cuda.cuuint64_t(case.address))
    else:
        result, found = encode(cuda, case)
    return int(result), map_bytes(found) if int(result) == 0 else b""


def map_bytes(found: Any) -> bytes:
    """Return the 128 bytes of a map."""
    return b"".join(int(word).to_bytes(8, "little") for word in found.opaque)


def encode(cuda: Any, case: Tiled | Im2col) -> tuple[Any, Any]:
    """Return the result of the call on a case, and the map."""

    def longs(values: Iterable[int]) -> list[Any]:
        return [cuda.cuuint64_t(value) for value in values]

    def words(values: Iterable[int]) -> list[Any]:
        return [cuda.cuuint32_t(value) for value in values]

    head = (
        cuda.CUtensorMapDataType(case.kind),
        cuda.cuuint32_t(case.rank),
        case.address,
        longs(case.dims),
        longs(case.strides),
    )
    tail = (
        words(case.steps),
        cuda.CUtensorMapInterleave(case.interleave),
        cuda.CUtensorMapSwizzle(case.swizzle),
        cuda.CUtensorMapL2promotion(case.promotion),
        cuda.CUtensorMapFloatOOBfill(case.fill),
    )
    if isinstance(case, Tiled):
        result, found = cuda.cuTensorMapEncodeTiled(*head, words(case.box), *tail)
    else:
        corners = (list(case.lower), list(case.upper))
        sizes = words((case.channels, case.pixels))
        result, found = cuda.cuTensorMapEncodeIm2col(*head, *corners, *sizes, *tail)
    return result, found


# --- the file ------------------------------------------------------------------------------------

Results = Sequence[tuple[int, bytes]]


def digest() -> str:
    """A digest of the arguments of all cases."""
    return hashlib.sha256(repr([astuple(case) for case in cases()]).encode()).hexdigest()


def write(path: Path, device: str, found: Results) -> int:
    """Write the results of all cases; return the size of the file in bytes."""
    head = {"device": device, "inputs": digest(), "results": [result for result, _ in found]}
    maps = np.frombuffer(b"".join(data for _, data in found), np.uint8).reshape(-1, 128)
    packed = lzma.compress(json.dumps(head).encode() + b"\n" + maps.T.tobytes(), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> list[tuple[int, bytes]]:
    """Return the recorded results of all cases.

    Raises:
        ValueError: The arguments have changed since.
    """
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head = json.loads(text)
    if digest() != head["inputs"]:
        raise ValueError(f"{path}: recorded with other inputs; record again")
    maps = iter(np.frombuffer(data, np.uint8).reshape(128, -1).T)
    return [(result, next(maps).tobytes() if result == 0 else b"") for result in head["results"]]


def differences(recorded: Results, found: Results) -> Iterator[str]:
    """Where results have other bytes than were recorded, in words."""
    for case, (result, data), (other, bytes_found) in zip(cases(), recorded, found, strict=True):
        if result != other:
            yield f"{case}: recorded result {result}, found {other}"
        elif data != bytes_found:
            yield f"{case}: recorded {data.hex()}, found {bytes_found.hex()}"
