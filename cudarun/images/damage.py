"""Damage to the structure of a file, reported in one line."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from cudarun.base.errors import ImageRefused
from cudarun.images.kinds import ImageKind


class Damaged(Exception):
    """The file is damaged; the message is the reason."""


@contextmanager
def refused_if_damaged(kind: ImageKind, origin: str, truncated: str) -> Iterator[None]:
    """Refuse a file that is damaged: ``broken.cubin: not a cubin: it has no sections``.

    Args:
        kind: The kind of file.
        origin: Its name in messages.
        truncated: The reason if a structure ends past the end of the data.

    Raises:
        ImageRefused: It is damaged.
    """
    article = "an" if kind is ImageKind.ARCHIVE else "a"
    try:
        yield
    except (Damaged, struct.error) as error:
        cause = str(error) if isinstance(error, Damaged) else truncated
        what = f"not {article} {kind.value}"
        raise ImageRefused(what, cause=cause, origin=origin) from None
