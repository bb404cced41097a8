"""Buffers of a launch on a driver that does not know what was never written, as a GPU's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import NAMED, SCALARS
from cudarun.session.driver.transfers import LARGE
from cudarun.session.launch.buffers import Buffers
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]


def _half_written(spec: BufferSpec, session: Session) -> tuple[int | None, int, int]:
    """The unwritten elements by count, and the unwritten items of a copy and of two of its rows."""
    session.driver.traits = replace(session.driver.traits, unwritten_bytes=None)
    buffers = Buffers(session, session.devices[0], [spec], bare=False)
    buffers.fill(0, (), {})
    session.driver.cuMemsetD8(buffers.addresses[spec.name], 1, spec.nbytes // 2)
    [result] = buffers.verified()
    masks = []
    half = spec.shape[0] // 2
    for copied in (buffers.array, partial(buffers.rows, rows=range(half - 1, half + 1))):
        copied(spec.name)
        mask = buffers.unwritten(spec.name)
        assert mask is not None
        masks.append(int(np.count_nonzero(mask)))
    return (result.never_written, *masks)


@pytest.mark.parametrize(
    ("element", "items", "of_rows"),
    [(SCALARS["i32"], 1, 1), (NAMED["float4"], 4, 4), (SCALARS["u8"], 1, 0)],
)
def test_what_was_never_written_is_counted_part_by_part(
    in_session: InSession, element: Any, items: int, of_rows: int
) -> None:
    count = 2 * LARGE // element.size
    spec = BufferSpec("x", element, (count,), None)
    found = in_session(partial(_half_written, spec))
    assert found == (count // 2, items * count // 2, of_rows)
