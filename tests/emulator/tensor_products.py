"""Products of tensor memory: kernels of one ``tcgen05.mma``, and numpy's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.emulator.tensor_kernels import ROOM, codes_of, execute, placed, whole, words_of

Array = npt.NDArray[Any]
CONTAINERS = {"f16": 16, "tf32": 32, "mxf4": 4, "mxf4nvf4": 4}
CODES = {
    "f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1},
    "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1},
    "": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
}  # fmt: skip


def layout(m: int, n: int, blocks: int, *, stationary: bool, sparse: bool, base: int = 0) -> Any:
    """Lane and column of each element of D in a block: the layouts A to G of the manual."""
    row, column = np.ogrid[: m // blocks, :n]
    rows = m // blocks
    if rows == 64 and not stationary and (blocks == 1 or sparse):
        return base + row % 16 + row // 16 * 32 + 0 * column, column + 0 * row
    parts = 128 // rows
    return row + column // (n // parts) * rows, column % (n // parts) + 0 * row


def descriptor(kind: str, d: str, a: str, b: str, m: int, n: int, **fields: int) -> int:
    codes = CODES.get(kind, CODES[""])
    word = codes[a] << 7 | codes[b] << 10 | n >> 3 << 17
    word |= m >> 7 << 27 if kind.startswith("mx") else m >> 4 << 24
    if not kind.startswith("mx"):
        word |= {"f16": 0, "f32": 1, "s32": 2}[d] << 4
    places = {
        "selector": 0, "sparse": 2, "saturate": 3, "negate_a": 13, "negate_b": 14, "mn_a": 15,
        "mn_b": 16, "ue8m0": 23, "sfb": 4, "sfa": 29, "long": 31,
    }  # fmt: skip
    for name, value in fields.items():
        word |= value << places[name]
    return word


def cells_of(numbers: Array, d: str) -> Array:
    """Elements of D as cells."""
    if d == "s32":
        return numbers.astype(np.int32).view(np.uint32)
    if d == "f16":
        return numbers.astype(np.float16).view(np.uint16).astype(np.uint32)
    return numbers.astype(np.float32).view(np.uint32)


class Case:
    """One product and the memory around it.

    Args:
        kind: ``"f16"``.
        types: The types of D, A and B.
        m, n: The shape.
        blocks: 1 or 2.
        swizzle, mn: Of A and B in shared memory.
        left: A is in tensor memory.
        stationary: With ``.ws``.
        sparse: With ``.sp``.
    """

    def __init__(
        self,
        kind: str,
        types: tuple[str, str, str],
        m: int,
        n: int,
        *,
        blocks: int = 1,
        swizzle: tuple[int, int] = (128, 128),
        mn: tuple[bool, bool] = (False, False),
        left: bool = False,
        stationary: bool = False,
        sparse: bool = False,
        accumulate: bool = True,
        base: int = 0,
        tail: str = "",
        words: str = "",
        depth: int = 0,
        **fields: int,
    ) -> None:
        self.kind, self.types, self.m, self.n, self.blocks = kind, types, m, n, blocks
        self.container = CONTAINERS.get(kind, 8)
        self.k = depth or 256 // self.container * (2 if sparse else 1)
        self.stationary, self.sparse, self.left, self.base = stationary, sparse, left, base
        self.accumulate, self.tail, self.words, self.fields = accumulate, tail, words, fields
        d, a, b = types
        seed = m + n + blocks
        self.a = whole(a, (m, self.k // 2 if sparse else self.k), seed)
        self.b = whole(b, (n, self.k), seed + 1)
        self.c = whole("s8", (m, n), seed + 2)
        self.where = layout(m, n, blocks, stationary=stationary, sparse=sparse, base=base)
        # columns: D from 0 on, then A, the metadata, and scale factors
        self.parts = int(self.where[0].max()) // (m // blocks) + 1
        self.width = max(n // self.parts if self.parts > 1 and not self.half else n, 32)
        self.columns = 1 << (self.width + 64 - 1).bit_length()
        self.images = np.zeros((blocks, 2, ROOM), np.uint8)
        self.memory = np.random.default_rng(5).integers(0, 1 << 32, (blocks, 128, self.columns))
        self.memory = self.memory.astype(np.uint32)
        rows, lines = m // blocks, n // blocks
        for block in range(blocks):
            mine = self.a[block * rows : (block + 1) * rows]
            if left:
                self._put_left(block, words_of(codes_of(mine, a), a, self.container))
            else:
                self.images[block, 0], fields_a = placed(
                    mine, a, self.container, swizzle[0], mn=mn[0]
                )
            part = self.b[block * lines : (block + 1) * lines]
            self.images[block, 1], fields_b = placed(part, b, self.container, swizzle[1], mn=mn[1])
            self.memory[block][self.where] = cells_of(self.c[block * rows : (block + 1) * rows], d)
        self.descriptors = (0 if left else fields_a, fields_b)
        self.mn = mn
        self.before = ""  # more instructions on the descriptors

    @property
    def half(self) -> bool:
        rows = self.m // self.blocks
        return rows == 64 and not self.stationary and (self.blocks == 1 or self.sparse)

    def _put_left(self, block: int, words: Array) -> None:
        """A in tensor memory, in the lanes of D, as often as D has parts."""
        rows = np.arange(len(words))
        if self.half:
            lanes = [self.base + rows % 16 + rows // 16 * 32]
        else:
            lanes = [rows + first for first in range(0, 128, len(words))]
        for each in lanes:
            self.memory[block, each, self.width : self.width + words.shape[1]] = words

    def run(self, **options: Any) -> Array:
        """D after the product; the other cells have to be unchanged."""
        d, a, b = self.types
        word = descriptor(self.kind, d, a, b, self.m, self.n, sparse=int(self.sparse),
                          mn_a=int(self.mn[0]), mn_b=int(self.mn[1]), **self.fields)  # fmt: skip
        name = "tcgen05.mma" + ".ws" * self.stationary + ".sp" * self.sparse
        name += f".cta_group::{self.blocks}.kind::{self.kind}{self.words}"
        left = f"[%at+{self.width}]" if self.left else "%v0"
        sparse = f", [%at+{self.width + 32}]" if self.sparse else ""
        body = f"""
    shr.u32 %i, %a, 4;
    cvt.u64.u32 %w, %i;
    add.u64 %v0, %v0, %w;
    shr.u32 %i, %b, 4;
    cvt.u64.u32 %w, %i;
    add.u64 %v1, %v1, %w;
    {self.before}
    mov.u32 %i, {word};
    add.u32 %at, %t, {self.base << 16};
    .reg .pred %enable;
    mov.pred %enable, {int(self.accumulate)};
    {name} [%at], {left}, %v1{sparse}, %i{self.tail};
"""
        found = execute(body, self.images, self.memory, self.descriptors, group=self.blocks,
                        **options)  # fmt: skip
        rows = self.m // self.blocks
        values = []
        for block in range(self.blocks):
            cells = found[block][self.where]
            kind = {"s32": "i4", "f32": "f4", "f16": "f2"}[d]
            values.append(cells.astype(f"u{kind[1]}").view(kind))
            rest = found[block] != self.memory[block]
            rest[self.where] = False
            assert not rest.any()
        assert sum(map(len, values)) == self.blocks * rows
        return np.concatenate(values).astype(np.float64)

    def expected(self) -> Array:
        product = self.a @ self.b.T
        return product + self.c if self.accumulate else product


def check(case: Case, **options: Any) -> None:
    np.testing.assert_array_equal(case.run(**options), case.expected())


ENABLE = ", %enable"
