"""Copies of buffers in a file that another process reads."""

from __future__ import annotations

from functools import partial
from io import RawIOBase

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.model.launch import BufferCopy
from cudarun.session.launch.buffers import Buffers

_ALIGNMENT = 64  # bytes; of numpy's own arrays at least 16


def write_copies(path: str, buffers: Buffers) -> tuple[BufferCopy, ...]:
    """Write all buffers of a launch to a file.

    Args:
        path: The file, which exists already.
        buffers: The buffers, after the launch.
    """
    copies: list[BufferCopy] = []
    with open(path, "r+b", buffering=0) as file:
        for spec in buffers.specs:
            offset = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
            file.seek(offset)
            buffers.deliver(spec.name, partial(write_chunk, file))
            copies.append(BufferCopy(spec.name, offset, spec.dtype(), spec.array_shape))
    return tuple(copies)


def write_chunk(file: RawIOBase, part: Array, first: int) -> None:
    """Write a chunk of a buffer at the position of an unbuffered file."""
    data = part.view(np.uint8).data.cast("B")
    while data:  # a raw file may write only a part
        data = data[file.write(data) or 0 :]
