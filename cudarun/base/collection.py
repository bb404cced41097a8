"""Python's collector of reference cycles, switched off where it only costs time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

keeps_frozen = True
"""Whether objects can be kept for long: not in a process that goes on to other work."""


@contextmanager
def without_collection(*, freeze: bool = False) -> Iterator[None]:
    """Suspend the collector in a block that creates many objects and keeps them.

    It would visit all of them again and again: up to half of the time of such a block.

    Args:
        freeze: Exclude the objects from later collections, too: they are kept for long.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        if freeze and keeps_frozen:
            gc.freeze()
    finally:
        gc.enable()
