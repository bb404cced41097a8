"""Words of matrices in shared memory, as the descriptors of ``wgmma`` give them.

``machine/warpgroups.py`` describes descriptors, chunks, and the two ways in which these are used.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.compiled.lanes.permutations import counted, permuted
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector
from cudarun.emulator.compiled.products.elements import load, scaled, store
from cudarun.emulator.compiled.state.memory import pointer_to

_CHUNK = 16  # bytes
_WORDS = 4  # of a chunk
_EIGHT = 8  # lines whose chunks are a unit of the layout


class SharedMatrix:
    """The code that reads a matrix.

    Args:
        code: Where it goes. It has a variable ``%wrong``, which gets true if a chunk is beyond
            shared memory, and ``%shared``, ``%shared.start`` and ``%shared.bytes``.
        descriptor: The descriptor.
        parts: Chunks of a line along k.
    """

    def __init__(self, code: CodeBuilder, descriptor: str, parts: int) -> None:
        self._code = code
        self._parts = parts
        self._start, self._leading, self._stride = (
            self._field(descriptor, bit, 0x3FFF, _CHUNK) for bit in (0, 16, 32)
        )
        # Lines begin at the same places: memory begins at a multiple of those that are swizzled.
        self._start = code.scalar(f"sub i64 {self._start}, %shared.start")
        self._base = self._field(descriptor, 49, 7, 1)
        mode = self._field(descriptor, 62, 3, 1)
        bits = code.scalar(f"and i64 {code.scalar(f'sub i64 4, {mode}')}, 3")
        self._bits = bits  # of the index of a chunk that are swizzled
        width = code.scalar(f"shl i64 1, {bits}")
        self._low = code.scalar(f"sub i64 {width}, 1")
        self._row_shift = code.scalar(f"add i64 {bits}, 4")
        plain = code.scalar(f"icmp eq i64 {bits}, 0")
        self._across, self._along = (
            code.scalar(f"select i1 {plain}, i64 {a}, i64 {b}")
            for a, b in ((self._stride, self._leading), (self._leading, self._stride))
        )

    def _field(self, descriptor: str, bit: int, mask: int, unit: int) -> str:
        moved = self._code.scalar(f"lshr i64 {descriptor}, {bit}")
        found = self._code.scalar(f"and i64 {moved}, {mask}")
        return self._code.scalar(f"mul i64 {found}, {unit}")

    # --- reading ---------------------------------------------------------------------------------

    def lines(self, first: str, count: int, to: str) -> None:
        """Read lines along k; the words of one line after the other."""
        code = self._code
        with counted(code, count) as number:
            line = code.scalar(f"add i64 {first}, {number}")
            inner = code.scalar(f"and i64 {line}, {_EIGHT - 1}")
            inner = code.scalar(f"shl i64 {inner}, {self._row_shift}")
            eight = code.scalar(f"lshr i64 {line}, 3")
            outer = code.scalar(f"mul i64 {eight}, {self._stride}")
            place = code.scalar(f"add i64 {inner}, {outer}")
            for part in range(self._parts):
                pattern = code.scalar(f"lshr i64 {part}, {self._bits}")
                far = code.scalar(f"mul i64 {pattern}, {self._leading}")
                near = code.scalar(f"and i64 {part}, {self._low}")
                near = code.scalar(f"shl i64 {near}, 4")
                at = code.scalar(f"add i64 {place}, {code.scalar(f'add i64 {far}, {near}')}")
                chunk = self._chunk(at, "i32")
                store(code, chunk, to, scaled(code, number, _WORDS * self._parts, _WORDS * part))

    def columns(self, eight: str, to: str) -> None:
        """Read eight lines whose chunks are across k; the words of one line after the other."""
        words = self._across_words(eight)
        lines, number = np.divmod(np.arange(_EIGHT * len(words)), len(words))
        found = permuted(self._code, words, number * _EIGHT + lines)
        store(self._code, found, to, "0")

    def rows(self, eight: str, to: str, place: int, stride: int) -> None:
        """Read the same lines; by number of the word, at a place among ``stride`` lines."""
        for number, word in enumerate(self._across_words(eight)):
            store(self._code, word, to, str(number * stride + place))

    def _across_words(self, eight: str) -> list[LaneVector]:
        """Return the words of eight lines, by number."""
        code = self._code
        near = code.scalar(f"shl i64 {code.scalar(f'and i64 {eight}, {self._low}')}, 4")
        pattern = code.scalar(f"lshr i64 {eight}, {self._bits}")
        far = code.scalar(f"mul i64 {pattern}, {self._across}")
        start = code.scalar(f"add i64 {near}, {far}")
        chunks = []
        for k in range(_EIGHT * self._parts):
            row = code.scalar(f"shl i64 {k % _EIGHT}, {self._row_shift}")
            along = code.scalar(f"mul i64 {k // _EIGHT}, {self._along}")
            at = code.scalar(f"add i64 {start}, {code.scalar(f'add i64 {row}, {along}')}")
            chunks.append(self._chunk(at, "i16"))
        order = [place for lane in range(_EIGHT) for place in (lane, _EIGHT + lane)]
        return [
            code.bitcast(code.shuffle(a, order, b), "i32")
            for a, b in zip(chunks[::2], chunks[1::2], strict=True)
        ]

    def _chunk(self, place: str, element: str) -> LaneVector:
        """Load a chunk, by its place before swizzling relative to the start."""
        code = self._code
        address = code.scalar(f"add i64 {self._start}, {place}")
        line = code.scalar(f"sub i64 {code.scalar(f'lshr i64 {address}, 7')}, {self._base}")
        line = code.scalar(f"shl i64 {code.scalar(f'and i64 {line}, {self._low}')}, 4")
        address = code.scalar(f"xor i64 {address}, {line}")
        last = code.scalar(f"sub i64 %shared.bytes, {_CHUNK}")
        beyond = code.scalar(f"icmp ugt i64 {address}, {last}")
        before = code.scalar("load i1, ptr %wrong")
        code.line(f"store i1 {code.scalar(f'or i1 {before}, {beyond}')}, ptr %wrong")
        address = code.scalar(f"select i1 {beyond}, i64 0, i64 {address}")
        pointer = pointer_to(code, "%shared", address)
        return load(code, pointer, element, "0", 8 * _CHUNK // int(element[1:]))


def uniform(code: CodeBuilder, column: str, element: str) -> tuple[str, str]:
    """Return the first one of the values in a column, and whether all lanes have the same."""
    values = load(code, column, element, "0", WIDTH)
    first = code.scalar(f"extractelement {values.typed}, i32 0")
    same = code.to_mask(code.compare("eq", values, code.broadcast(element, first)))
    return first, code.scalar(f"icmp eq i32 {same}, -1")
