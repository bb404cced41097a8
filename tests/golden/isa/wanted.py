"""Cases of what hardware has and our tables have not: to be recorded, and then built against.

A case moves to its chapter when the emulated device takes it; a test says when that is so.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def wanted() -> Iterator[Case]:
    """None at present."""
    yield from ()
