"""Cases of copies by tensor memory access, and of bulk copies, for golden data.

Every case is one instruction with its operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.tensor_kernels import CLUSTER_REDUCTIONS, REDUCTIONS, forms
from tests.golden.tensor_maps import BYTES, Im2col, Tiled

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One instruction with its operands.

    Attributes:
        name: Unique.
        form: The instruction.
        tensor: The tensor tensor; its address is relative to the global memory.
        coordinates: The tensor coordinates.
        offsets: The offsets of im2col.
        place: The shared address, relative to the region.
        expected: The bytes that the barrier object expects.
        region: Size of the region in bytes.
        memory: Size of the global memory in bytes.
        data: The contents of both: ``"count"``, or a kind: random values with special ones.
        mask: The blocks of a multicast.
        size: Operand ``size``.
        issuer: The block that executes the instruction.
        target: The block at which it is directed.
        beyond: The address in that block, relative to ``place``.
        at: The address operand in global memory.
        blocks: Size of the cluster.
    """

    name: str
    form: str
    tensor: Tiled | Im2col | None = None
    coordinates: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    place: int = 0
    expected: int = 0
    region: int = 1024
    memory: int = 1024
    data: str = "count"
    mask: int = 0
    size: int = 0
    issuer: int = 0
    target: int = 0
    beyond: int = 0
    at: int = 0
    blocks: int = 1

    @property
    def stores(self) -> bool:
        """True if it writes global memory."""
        return "bulk_group" in forms()[self.form]


_FORMATS = ("u1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "b2", "f4", "f4", "f4")


def contents(data: str, size: int, seed: int) -> Array:
    """Return bytes of memory."""
    if data == "count":
        return (np.arange(size // 2) + seed * 0x8000).astype(np.uint16).view(np.uint8)
    random = np.random.default_rng(seed)
    if data[0] in "ui":
        raw = random.integers(0, 256, size, dtype=np.uint8)
        narrow = random.random(size // int(data[1])) < 0.3
        raw.view(data.replace("i", "u"))[narrow] &= np.uint8(3).astype(data.replace("i", "u"))
        return raw
    if data == "t4":  # near the middle of two TF32
        raw = contents("f4", size, seed).view(np.uint32)
        near = random.random(len(raw)) < 0.7
        raw[near] = raw[near] & 0xFFFFE000 | random.integers(0xFFF, 0x1002, near.sum(), np.uint32)
        return raw.view(np.uint8)
    width = int(data[1])
    bits, mantissa = 8 * width, {"f2": 10, "b2": 7, "f4": 23, "f8": 52}[data]
    count = size // width
    raw = random.integers(0, 1 << 63, count).astype(np.uint64) ^ random.integers(
        0, 1 << 63, count
    ).astype(np.uint64) << np.uint64(1)
    exponent = bits - 1 - mantissa
    middle = (1 << exponent - 1) - 1
    near = random.integers(middle - 3, middle + 4, count).astype(np.uint64)
    kind = random.integers(0, 8, count)
    exponents = np.select(
        [kind < 4, kind == 4, kind == 5, kind == 6],
        [near, np.uint64(0), np.uint64((1 << exponent) - 1), np.uint64(1)],
        raw >> np.uint64(mantissa) & np.uint64((1 << exponent) - 1),
    )
    fraction = raw & np.uint64((1 << mantissa) - 1)
    fraction[random.random(count) < 0.2] = 0
    value = (
        fraction | exponents << np.uint64(mantissa) | (raw >> np.uint64(63)) << np.uint64(bits - 1)
    )
    return value.astype(f"u{width}").view(np.uint8)


def cases() -> list[Case]:
    """All cases, the same wherever this runs."""
    made = [
        *_loads(), *_interleaved(), *_columns(), *_floats(), *_stores(), *_reductions(),
        *_plain(), *_clusters(),
    ]  # fmt: skip
    names = [case.name for case in made]
    assert len(set(names)) == len(names)
    return made


def _box_bytes(tensor: Tiled) -> int:
    size = BYTES[tensor.kind]
    for place, (side, step) in enumerate(zip(tensor.box, tensor.steps, strict=True)):
        size *= side if place == 0 else -(-side // step)
    return size


def _fitting(random: np.random.Generator, rank: int, kind: int, memory: int, swizzle: int,
             unit: int = 16) -> Tiled:  # fmt: skip
    """Return a random tile of a tensor within the memory."""
    width = BYTES[kind]
    while True:
        dims = [int(random.integers(1, (0, 600, 60, 24, 14, 9)[rank])) for _ in range(rank)]
        if random.random() < 0.5:
            dims[0] = max(dims[0] * 2, 64 // width)
        strides, span = [], dims[0] * width
        for dim in dims[1:]:
            stride = -(-span // unit) * unit + unit * int(random.integers(0, 3))
            strides.append(stride)
            span = stride * dim
        most = {0: 256, 1: 32, 2: 64, 3: 128}[swizzle]
        inner = 16 * int(random.integers(1, 1 + min(most, 256 * width) // 16))
        box = [inner // width] + [
            int(random.integers(1, (0, 0, 40, 12, 7, 5)[rank])) for _ in range(rank - 1)
        ]
        steps = [int(random.choice([1, 1, 1, 2, 3, 5])) for _ in range(rank)]
        at = unit * int(random.integers(0, 64))
        made = Tiled(kind, rank, at, tuple(dims), tuple(strides), tuple(box), tuple(steps),
                     swizzle=swizzle, promotion=int(random.integers(4)))  # fmt: skip
        if span + at <= memory and box[0] <= 256 and _box_bytes(made) <= 6144:
            return replace(made, strides=made.strides or (16,))


def _around(random: np.random.Generator, tensor: Tiled) -> tuple[int, ...]:
    unit = max(16 // BYTES[tensor.kind], 1)
    first, *rest = _anywhere(random, tensor)
    return (first // unit * unit, *rest)  # hardware takes no other first coordinate


def _anywhere(random: np.random.Generator, tensor: Tiled) -> tuple[int, ...]:
    how = random.random()
    if how < 0.3:  # inside where possible
        return tuple(
            int(random.integers(0, max(dim - side, 0) + 1))
            for dim, side in zip(tensor.dims, tensor.box, strict=True)
        )
    return tuple(
        int(random.integers(-side - 1, dim + 2)) if random.random() < 0.7 else 0
        for dim, side in zip(tensor.dims, tensor.box, strict=True)
    )


def _load(name: str, tensor: Tiled, at: tuple[int, ...], place: int = 0, **more: Any) -> Case:
    size = _box_bytes(tensor)
    if tensor.interleave:
        sides = [-(-side // step) for side, step in zip(tensor.box, tensor.steps, strict=True)]
        size = 16 * tensor.interleave * int(np.prod(sides)) // sides[-2]
        more = {"region": -(-(size + place + 1024) // 1024) * 1024, **more}
        more = {"form": f"load{tensor.rank}", "memory": 1 << 16, **more}
        return Case(name, tensor=tensor, coordinates=at, place=place, expected=size, **more)
    rows = size // (tensor.box[0] * BYTES[tensor.kind])
    span = max(size, rows * (16 << tensor.swizzle))
    region = -(-(span + place + 1024) // 1024) * 1024
    more = {"form": f"load{tensor.rank}", "memory": 1 << 16, **more}
    return Case(
        name, tensor=tensor, coordinates=at, place=place, expected=size, region=region, **more
    )


def _loads() -> Iterator[Case]:
    random = np.random.default_rng(3)
    for rank in range(1, 6):
        for number in range(50):
            kind, swizzle = int(random.integers(10)), int(random.choice([0, 0, 1, 2, 3]))
            tensor = _fitting(random, rank, kind, 1 << 16, swizzle)
            if kind >= 6 and random.random() < 0.5:
                tensor = replace(tensor, fill=1)
            place = 128 * int(random.integers(0, 9))
            yield _load(f"load{rank}, {number}", tensor, _around(random, tensor), place)
    base = Tiled(2, 2, 0, (40, 50), (160,), (8, 12), (1, 1))
    for swizzle, inner in ((1, 8), (1, 4), (2, 16), (2, 8), (2, 4), (2, 12), (3, 32), (3, 16),
                           (3, 8), (3, 4), (3, 12), (3, 20), (3, 24)):  # fmt: skip
        for place in (0, 128, 256, 512):
            tensor = replace(base, swizzle=swizzle, box=(inner, 12))
            yield _load(f"swizzle {swizzle} of {4 * inner} bytes at {place}", tensor, (4, 2), place)
    yield _load("cta2", base, (4, 2), form="cta2")
    far = replace(base, dims=(40, (1 << 31) - 1))
    yield _load("far", far, (0, 3))
    for at in ((-(2**31), 0), (2**31 - 4, 0), (0, 2**31 - 1), (0, -(2**31)), (36, 49), (-4, -11)):
        yield _load(f"at {at}", base, at)
    for step in range(1, 9):
        for side in (1, 7, 8, 9, 16):
            tensor = replace(base, box=(8, side), steps=(step, step))
            yield _load(f"step {step} of {side}", tensor, (-4, -3))
            yield _load(f"step {step} of {side}, later", tensor, (8, 40))
    for rank in range(1, 6):
        tensor = replace(_fitting(random, rank, 2, 1 << 16, 0), address=0)
        yield _load(f"prefetch{rank}", tensor, (0,) * rank, form=f"prefetch{rank}")


def _interleaved() -> Iterator[Case]:
    random = np.random.default_rng(4)
    for rank in range(3, 6):
        for interleave in (1, 2):
            for number in range(30):
                kind = int(random.choice([0, 1, 2, 6, 4]))
                swizzle = 1 if interleave == 2 else int(random.choice([0, 0, 1, 2, 3]))
                tensor = _fitting(random, rank, kind, 1 << 15, 1 if interleave == 2 else 0, 32)
                unit = 16 * interleave // BYTES[kind]
                inner = int(random.choice([unit, unit, 2 * unit, 4 * unit]))
                box = (inner, *tensor.box[1:])
                while np.prod(box) > 512:
                    box = (inner, *(-(-side // 2) for side in box[1:]))
                    inner = min(inner, 256) if np.prod(box) <= 512 or inner <= unit else unit
                tensor = replace(tensor, interleave=interleave, swizzle=swizzle, box=box)
                at = _around(random, tensor)
                if number < 12:
                    at = (unit * int(random.choice([0, 0, 1, -1, 2])), *at[1:])
                if number % 2:
                    tensor = replace(tensor, dims=(max(tensor.dims[0], 2 * unit), *tensor.dims[1:]))
                place = 128 * int(random.integers(0, 5))
                yield _load(f"interleave {interleave} rank {rank}, {number}", tensor, at, place)


def _column_map(random: np.random.Generator, rank: int) -> Im2col:
    kind = int(random.integers(10))
    width, spatial = BYTES[kind], rank - 2
    while True:
        dims = [int(random.integers(1, 40)), *(
            int(random.integers(2, (0, 20, 10, 6)[spatial])) for _ in range(spatial)
        ), int(random.integers(1, 5))]  # fmt: skip
        strides, span = [], dims[0] * width
        for dim in dims[1:]:
            stride = -(-span // 16) * 16 + 16 * int(random.integers(0, 2))
            strides.append(stride)
            span = stride * dim
        lower = [int(random.integers(-4, 4)) for _ in range(spatial)]
        upper = [int(random.integers(-4, 4)) for _ in range(spatial)]
        steps = [1, *(int(random.choice([1, 1, 2, 3])) for _ in range(spatial)), 1]
        swizzle = int(random.choice([0, 0, 1, 2, 3]))
        most = {0: 128, 1: 32, 2: 64, 3: 128}[swizzle]
        channels = 16 * int(random.integers(1, 1 + most // 16)) // width
        pixels = int(random.integers(1, 60))
        extents = [dim + up - low for dim, up, low in zip(dims[1:-1], upper, lower, strict=True)]
        if span <= 1 << 15 and min(extents) > 0 and channels * width * pixels <= 4096:
            fill = int(kind >= 6 and random.random() < 0.3)
            return Im2col(kind, rank, 16 * int(random.integers(9)), tuple(dims), tuple(strides),
                          tuple(lower), tuple(upper), channels, pixels, tuple(steps),
                          swizzle=swizzle, fill=fill)  # fmt: skip


def _column_load(name: str, tensor: Im2col, at: tuple[int, ...], offsets: tuple[int, ...],
                 place: int = 0, **more: Any) -> Case:  # fmt: skip
    size = tensor.channels * BYTES[tensor.kind] * tensor.pixels
    span = max(size, tensor.pixels * (16 << tensor.swizzle))
    if tensor.interleave:
        size = tensor.pixels * 16 * tensor.interleave
        span = max(span, size)
    region = -(-(span + place + 1024) // 1024) * 1024
    more = {"form": f"load{tensor.rank}i", "memory": 1 << 16, **more}
    return Case(name, tensor=tensor, coordinates=at, offsets=offsets, place=place, expected=size,
                region=region, **more)  # fmt: skip


def _sliced_columns(random: np.random.Generator, number: int) -> tuple[Any, ...]:
    """Return a tensor of pixels of slices of channels, coordinates and offsets."""
    rank, interleave = 3 + number % 3, 1 + number // 3 % 2
    spatial = rank - 2
    dims = [int(random.integers(2, (0, 30, 9, 5)[spatial])) for _ in range(spatial)]
    dims += [int(random.integers(1, 4)), int(random.integers(1, 4))]
    strides, span = [], 16 * interleave * dims[0]
    for dim in dims[1:]:
        strides.append(-(-span // 32) * 32 + 32 * int(random.integers(0, 2)))
        span = strides[-1] * dim
    lower = tuple(int(random.integers(-3, 2)) for _ in range(spatial))
    upper = tuple(int(random.integers(max(low - dim + 1, -2), 3))
                  for low, dim in zip(lower, dims, strict=False))  # fmt: skip
    steps = (*(int(random.choice([1, 1, 2, 3])) for _ in range(spatial)), 1, 1)
    tensor = Im2col(1, rank, 0, tuple(dims), tuple(strides), lower, upper,
                 8 * int(random.integers(1, 5)), int(random.integers(1, 40)), steps, interleave,
                 1 if interleave == 2 else number % 4)  # fmt: skip
    at = [int(random.integers(low, dim + high))
          for low, high, dim in zip(lower, upper, dims, strict=False)]  # fmt: skip
    at += [int(random.integers(-1, dims[-2] + 1)), int(random.integers(0, dims[-1]))]
    offsets = tuple(int(random.integers(0, 4)) for _ in range(spatial))
    return tensor, tuple(at), offsets


def _columns() -> Iterator[Case]:
    random = np.random.default_rng(5)
    for rank in (3, 4, 5):
        for number in range(60):
            tensor = _column_map(random, rank)
            at = [max(16 // BYTES[tensor.kind], 1) * int(random.integers(0, 3))]
            for place in range(rank - 2):
                low = tensor.lower[place]
                high = tensor.dims[1 + place] + tensor.upper[place]
                at.append(int(random.integers(low, max(high, low + 1))))
            at.append(int(random.integers(0, tensor.dims[-1])))
            if random.random() < 0.1:
                at[-1] += int(random.choice([-2, 1]))
            if random.random() < 0.5:
                at[0] = 0
            most = {3: 8, 4: 8, 5: 8}[rank]
            offsets = tuple(int(random.integers(0, most)) for _ in range(rank - 2))
            if number % 3 == 0:
                offsets = (0,) * (rank - 2)
            yield _column_load(f"im2col {rank}, {number}", tensor, tuple(at), offsets,
                               128 * int(random.integers(4)))  # fmt: skip
    for number in range(45):
        yield _column_load(f"im2col interleaved, {number}", *_sliced_columns(random, number))
    tensor = Im2col(2, 4, 0, (8, 9, 7, 3), (32, 288, 2016), (-1, -1), (1, 1), 8, 20, (1, 1, 1, 1))
    for offsets in ((0, 0), (1, 0), (0, 1), (2, 2), (255, 255), (256, 0), (65535, 0), (0, 258)):
        yield _column_load(f"im2col offsets {offsets}", tensor, (0, -1, -1, 0), offsets)
    line = Im2col(2, 3, 0, (8, 9, 7), (32, 288), (-1,), (1,), 8, 20, (1, 1, 1))
    for offset in (1, 5, 255, 256, 32767, 32768, 65535):
        yield _column_load(f"im2col offset {offset}", line, (0, -1, 0), (offset,))
    solid = Im2col(
        2, 5, 0, (8, 4, 4, 3, 3), (32, 128, 512, 1536), (-1,) * 3, (1,) * 3, 8, 40, (1,) * 5
    )
    for offset in (2, 15, 16, 31, 32, 33, 65535):
        for place in range(3):
            some = tuple(offset if n == place else 1 for n in range(3))
            yield _column_load(f"im2col offsets {some}", solid, (0, -1, -1, -1, 0), some)
    for rank in (3, 4, 5):
        tensor = _column_map(random, rank)
        yield _column_load(f"prefetch{rank}i", tensor, (0, *tensor.lower, 0), (0,) * (rank - 2),
                           form=f"prefetch{rank}i")  # fmt: skip


def _floats() -> Iterator[Case]:
    """Whether values change on their way, and the NaN of each kind."""
    for kind in range(13):
        base = Tiled(kind, 2, 0, (56, 30), (64 * BYTES[kind],), (16, 24), (1, 1))
        for fill in (0, 1) if kind >= 6 else (0,):
            if kind >= 11:
                yield _load(f"values between kind {kind} fill {fill}", replace(base, fill=fill),
                            (48, 10), data="t4")  # fmt: skip
            yield _load(f"values of kind {kind} fill {fill}", replace(base, fill=fill), (48, 10),
                        data=_FORMATS[kind])  # fmt: skip
        yield _load(f"values of kind {kind} inside", base, (16, 2), data=_FORMATS[kind])
        yield replace(
            _load(f"stored values of kind {kind}", base, (16, 2), data=_FORMATS[kind]),
            form="store2", memory=1 << 13 if BYTES[kind] < 8 else 1 << 14,
        )  # fmt: skip


def _stores() -> Iterator[Case]:
    random = np.random.default_rng(6)
    for rank in range(1, 6):
        for number in range(15):
            kind, swizzle = int(random.integers(10)), int(random.choice([0, 0, 1, 2, 3]))
            tensor = _fitting(random, rank, kind, 1 << 14, swizzle)
            place = 128 * int(random.integers(0, 5))
            at = tuple(max(first, 0) for first in _around(random, tensor))
            yield _load(f"store{rank}, {number}", tensor, at, place,
                        form=f"store{rank}", memory=1 << 14)  # fmt: skip
    for rank in (3, 4, 5):
        for number in range(12):
            tensor = _column_map(random, rank)
            # Hardware refuses pixels outside of a tensor that is written.
            sizes = tensor.dims[1:-1]
            lower = tuple(min(max(low, 0), dim - 1)
                          for low, dim in zip(tensor.lower, sizes, strict=True))  # fmt: skip
            corners = zip(tensor.upper, lower, sizes, strict=True)
            upper = tuple(max(min(high, 0), low - dim + 1) for high, low, dim in corners)
            tensor = replace(tensor, lower=lower, upper=upper)
            at = [0, *(int(random.integers(low, dim + high)) for low, high, dim in
                       zip(lower, upper, tensor.dims[1:-1], strict=True)), 0]  # fmt: skip
            yield _column_load(f"store{rank}i, {number}", tensor, tuple(at), (),
                               form=f"store{rank}i", memory=1 << 16)  # fmt: skip
    for number in range(10):
        rank = 3 + number % 3
        tensor = _fitting(random, rank, 1, 1 << 14, 0, 32)
        tensor = replace(tensor, interleave=1 + number % 2, box=(16, *tensor.box[1:]), address=0,
                      swizzle=number % 2)  # fmt: skip
        at = tuple(max(first, 0) for first in _around(random, tensor))
        yield _load(f"store interleaved, {number}", tensor, at, form=f"store{rank}", memory=1 << 14)


REDUCED = {
    "add": (2, 3, 4, 6, 7, 8, 9, 10, 11, 12),
    "min": (2, 3, 4, 5, 6, 9),
    "max": (2, 3, 4, 5, 6, 9),
    "inc": (2,),
    "dec": (2,),
    "and": (2, 4),
    "or": (2, 3),
    "xor": (2, 4),
}
"""Types of tensor maps that reductions are tried with."""


def _reductions() -> Iterator[Case]:
    for op, types in REDUCED.items():
        for kind in types:
            base = Tiled(kind, 2, 0, (29, 12), (32 * BYTES[kind],), (16, 9), (1, 1))
            for at in ((0, 0), (16, 4)):
                case = _load(f"reduce {op} of kind {kind} at {at}", base, at,
                             form=f"reduce2.{op}", memory=1 << 12, data=_FORMATS[kind])  # fmt: skip
                yield case
    tensor = Im2col(2, 3, 0, (16, 9, 3), (64, 576), (0,), (0,), 8, 12, (1, 1, 1))
    yield _column_load("reduce im2col", tensor, (0, 2, 0), (), form="reduce3i.add", memory=1 << 12)
    tiled = Tiled(2, 3, 0, (16, 9, 3), (64, 576), (8, 4, 2), (1, 1, 1), swizzle=1)
    yield _load("reduce swizzled", tiled, (4, 6, 1), form="reduce3.add", memory=1 << 12)


def _of_type(kind: str) -> str:
    return {"bf16": "b2"}.get(kind) or kind[0].replace("s", "i").replace("b", "u") + str(
        int(kind[1:]) // 8
    )


def _plain() -> Iterator[Case]:
    for op, types in REDUCTIONS.items():
        for kind in types.split():
            yield Case(f"into.{op}.{kind}", f"into.{op}.{kind}", size=2048, region=2048,
                       memory=4096, at=1024, data=_of_type(kind))  # fmt: skip
    for size in (0, 16, 48, 1024):
        yield Case(f"bulk of {size}", "bulk", size=size, expected=size, place=16, region=2048,
                   memory=4096, at=32)  # fmt: skip
    yield Case("prefetch", "prefetch", size=1024, memory=4096, at=16)


def _clusters() -> Iterator[Case]:
    tiled = Tiled(2, 2, 0, (40, 50), (160,), (8, 12), (1, 1))
    for blocks, issuer, mask in ((1, 0, 1), (2, 0, 1), (2, 0, 2), (2, 0, 3), (2, 1, 3), (4, 2, 11),
                                 (4, 0, 8), (8, 3, 0xA5), (8, 0, 0xFF), (2, 0, 7)):  # fmt: skip
        name = f"multicast to {mask:#x} of {blocks} from {issuer}"
        if mask < 1 << blocks:  # a block that is not there may be a fault
            yield Case(f"bulk {name}", "multic", size=256, expected=256, mask=mask, issuer=issuer,
                       blocks=blocks, memory=4096, at=64, place=128)  # fmt: skip
            yield replace(_load(name, tiled, (36, 3), 256, form="multi2c"), mask=mask,
                          issuer=issuer, blocks=blocks)  # fmt: skip
    columns = Im2col(2, 4, 0, (8, 9, 7, 3), (32, 288, 2016), (-1, -1), (1, 1), 8, 20, (1,) * 4)
    case = _column_load("multicast im2col", columns, (0, -1, -1, 0), (1, 2), form="multi4ic")
    yield replace(case, mask=3, issuer=1, blocks=2)
    for rank in (1, 3, 5):
        tensor = Tiled(2, rank, 0, (8,) * rank, tuple(32 * 8**n for n in range(max(rank - 1, 1))),
                    (4,) + (2,) * (rank - 1), (1,) * rank)  # fmt: skip
        case = _load(f"multicast {rank}", tensor, (4, *(1,) * (rank - 1)), form=f"multi{rank}c",
                     memory=1 << 18)  # fmt: skip
        yield replace(case, mask=3, blocks=2)
    common: dict[str, Any] = {"blocks": 2, "issuer": 0, "target": 1, "region": 2048}
    yield Case("copyc", "copyc", size=512, expected=512, beyond=1024, **common)
    yield Case("copyc to itself", "copyc", size=512, expected=512, beyond=1024,
               **{**common, "target": 0})  # fmt: skip
    for op, types in CLUSTER_REDUCTIONS.items():
        for kind in types.split():
            yield Case(f"across.{op}.{kind}", f"across.{op}.{kind}c", size=1024, expected=1024,
                       beyond=1024, data=_of_type(kind), **common)  # fmt: skip
    for name in forms():
        if name.startswith(("st.", "red.")):
            kind = name.split(".")[-1][:-1]
            count = int(name[4]) if name[3] == "v" else 1
            size = int(kind[1:]) // 8 * count
            for target in (0, 1):
                for place in (0, 32) if name.startswith("st") else range(0, 1024, 128):
                    yield Case(f"{name} to {target} from {place}", name, expected=size,
                               beyond=1024, data=_of_type(kind), place=place,
                               **{**common, "target": target})  # fmt: skip
