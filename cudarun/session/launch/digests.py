"""Digests of buffers, by which runs are compared without their data.

Addresses differ between runs and padding has no defined value, so neither is part of a digest.
"""

from __future__ import annotations

import hashlib

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.packing import BufferSpec

_DIGEST_BYTES = 16
_ADDRESS = np.dtype(np.uint64).itemsize


class BufferDigest:
    """The BLAKE2b digest of a buffer, chunk by chunk; a `ChunkSink`."""

    def __init__(self, spec: BufferSpec) -> None:
        self._hash = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        self._addresses = [offset for offset, _ in spec.pointers]

    def __call__(self, part: Array, first: int) -> None:
        """Take the items from number ``first`` on."""
        if self._addresses:
            raw, start = bytearray(part.tobytes()), first * part.dtype.itemsize
            for offset in self._addresses:
                at = offset - start
                if 0 <= at <= len(raw) - _ADDRESS:
                    raw[at : at + _ADDRESS] = bytes(_ADDRESS)
            part = np.frombuffer(raw, part.dtype)
        self._add(part)

    def text(self) -> str:
        """Return the digest of all chunks, in hexadecimal."""
        return self._hash.hexdigest()

    def _add(self, part: Array) -> None:
        if part.dtype.names is None:
            self._hash.update(part.tobytes())
            return
        for name in part.dtype.names:  # what lies between the members is padding
            self._add(part[name])
