"""Permutations of elements of vectors by constant places, and loops in the code of a function.

LLVM is quick with shuffles of two of the processor's registers. A permutation of more vectors is
thus divided into such shuffles here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector

Places = npt.NDArray[np.int64]

_REGISTER_BITS = 512


def permuted(code: CodeBuilder, values: Sequence[LaneVector], places: Places) -> LaneVector:
    """Return elements of vectors of one type by their places.

    Args:
        places: For each element of the result its index in the vectors, one after the other.
    """
    size = min(_REGISTER_BITS // values[0].bits, values[0].count)
    parts = [
        code.shuffle(value, range(start, start + size))
        for value in values
        for start in range(0, value.count, size)
    ]
    flat = np.asarray(places).reshape(-1)
    found = [_piece(code, parts, flat[at : at + size]) for at in range(0, len(flat), size)]
    return joined(code, found)


def joined(code: CodeBuilder, values: list[LaneVector]) -> LaneVector:
    """Return the elements of vectors, one after the other; their number is a power of two."""
    while len(values) > 1:
        values = [
            code.shuffle(a, range(2 * a.count), b)
            for a, b in zip(values[::2], values[1::2], strict=True)
        ]
    return values[0]


def _piece(code: CodeBuilder, parts: list[LaneVector], places: Places) -> LaneVector:
    """Return elements of parts of equal size, as many as fit into a register."""
    size = parts[0].count
    owner, inside = places // size, places % size
    used = np.unique(owner).tolist()
    found: list[tuple[LaneVector, npt.NDArray[np.bool_]]] = []
    for at in range(0, len(used), 2):
        first, *rest = used[at : at + 2]
        known = np.isin(owner, used[at : at + 2])
        order = np.where(owner == first, inside, inside + size)
        other = parts[rest[0]] if rest else None
        found.append((_shuffled(code, parts[first], order, known, other), known))
    lanes = np.arange(len(places))
    while len(found) > 1:
        (a, first_known), (b, second_known) = found[:2]
        known = first_known | second_known
        order = np.where(first_known, lanes, lanes + len(lanes))
        found = [*found[2:], (_shuffled(code, a, order, known, b), known)]
    return found[0][0]


def _shuffled(
    code: CodeBuilder,
    a: LaneVector,
    order: Places,
    known: npt.NDArray[np.bool_],
    b: LaneVector | None,
) -> LaneVector:
    """Return a shuffle of two vectors; elements that are not known can be anything."""
    other = f"{a.type} poison" if b is None else b.typed
    each = ", ".join(
        f"i32 {place if is_known else 'poison'}"
        for place, is_known in zip(order.tolist(), known.tolist(), strict=True)
    )
    text = f"shufflevector {a.typed}, {other}, <{len(order)} x i32> <{each}>"
    return code.vector(text, a.element, len(order))


@contextmanager
def counted(code: CodeBuilder, count: int) -> Iterator[str]:
    """Repeat the code of the context, which gets its number from 0 on, ``count`` times."""
    before, head, latch, after = (code.fresh(stem) for stem in ("before", "head", "latch", "after"))
    index, following = f"%{code.fresh('index')}", f"%{code.fresh('following')}"
    code.line(f"br label %{before}")
    code.label(before)
    code.line(f"br label %{head}")
    code.label(head)
    code.line(f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{latch} ]")
    yield index
    code.line(f"br label %{latch}")
    code.label(latch)
    code.line(f"{following} = add i64 {index}, 1")
    more = code.scalar(f"icmp ult i64 {following}, {count}")
    code.line(f"br i1 {more}, label %{head}, label %{after}")
    code.label(after)
