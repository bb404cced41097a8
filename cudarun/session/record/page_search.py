"""The search for the pages of memory that a launch needs, by tests of groups of pages.

A test replays the launch without the contents of a block of pages, and of all pages that were found
to be unneeded before. A block without which the replay fails is split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from cudarun.session.recording.manifest import Manifest, RecordedRange, is_of_object

PAGE = 4096  # bytes of a page

Block: TypeAlias = tuple[int, int]
"""The number of the first page, and of the page after the last one."""

_AT_BOUNDARY = 16
"""How much larger a block counts beside unneeded pages, where the end of needed memory is."""


class RecordedPages:
    """The memory of a recording in pages, which are numbered over all ranges."""

    def __init__(self, manifest: Manifest) -> None:
        self.ranges: list[tuple[RecordedRange, int]] = []
        """The ranges, each with the number of its first page."""
        self.count = 0
        self._manifest = manifest
        for each in manifest.memory:
            self.ranges.append((each, self.count))
            self.count += -(-each.size // PAGE)

    def unchanged(self) -> list[Block]:
        """Return the pages that the recorded launch did not change, and that no object shows."""
        changed: list[Block] = []
        for each, first in self.ranges:
            spans = [(piece.offset, piece.offset + piece.size) for piece in each.after]
            spans += [(0, each.size)] if is_of_object(each, self._manifest) else []
            changed += [(first + low // PAGE, first + -(-high // PAGE)) for low, high in spans]
        return [*_between(sorted(changed), self.count)]

    def spans(self, number: int, blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
        """Yield the offsets of the bytes of a range that are in blocks."""
        each, first = self.ranges[number]
        for start, end in blocks:
            low, high = (start - first) * PAGE, (end - first) * PAGE
            low, high = max(low, 0), min(high, each.size)
            if low < high:
                yield low, high

    def without(self, blocks: Sequence[Block]) -> Iterator[tuple[RecordedRange, int, int]]:
        """Yield ranges with the offsets of their bytes that are not in blocks."""
        kept = [*_between(sorted(blocks), self.count)]
        for number, (each, _) in enumerate(self.ranges):
            for low, high in self.spans(number, kept):
                yield each, low, high


def _between(blocks: Sequence[Block], count: int) -> Iterator[Block]:
    """Yield the blocks of other pages than those of sorted blocks."""
    end = 0
    for start, stop in [*blocks, (count, count)]:
        if start > end:
            yield end, start
        end = max(end, stop)


class PageSearch:
    """A search, which asks for one test after the other.

    Its questions depend on the answers only, so that another process can continue it.

    Args:
        blocks: The pages that may be unneeded.
        most: The largest number of tests. Blocks that are then not tested are kept.
    """

    def __init__(self, blocks: Sequence[Block], most: int) -> None:
        self.unneeded: list[Block] = []
        self._pending: dict[Block, bool] = dict.fromkeys(blocks, False)
        """Whether each block is known to contain a needed page."""
        self._sibling: dict[Block, Block] = {}
        self._left = most
        self._edges: set[int] = set()

    def next(self) -> Block | None:
        """Return the block to test next; ``None`` at the end."""
        while self._pending and self._left > 0:
            block = max(self._pending, key=self._priority)
            if not self._pending[block]:
                return block
            self._split(block)
        return None

    def answer(self, block: Block, *, is_unneeded: bool) -> None:
        """Note the result of the test of a block that `next` returned."""
        self._left -= 1
        if not is_unneeded:
            self._split(block)
            return
        del self._pending[block]
        self.unneeded.append(block)
        self._edges.update(block)
        other = self._sibling.get(block)
        if other in self._pending:
            self._pending[other] = True  # one of the two halves is needed

    def _priority(self, block: Block) -> tuple[int, int]:
        start, end = block
        at_boundary = start in self._edges or end in self._edges
        return (end - start) * (_AT_BOUNDARY if at_boundary else 1), -start

    def _split(self, block: Block) -> None:
        """Replace a block that is needed by its halves; a page is needed itself."""
        del self._pending[block]
        start, end = block
        if end - start == 1:
            return
        middle = (start + end) // 2
        halves = (start, middle), (middle, end)
        self._pending.update(dict.fromkeys(halves, False))
        self._sibling |= {halves[0]: halves[1], halves[1]: halves[0]}
