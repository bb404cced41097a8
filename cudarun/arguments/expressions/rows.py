"""The rows of arrays that an expression needs, as far as its text determines them.

A row is one index of the first axis. ``y[:4]`` needs four rows, however large ``y`` is. An array
that is not indexed by literal numbers is needed whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.syntax import IndexItem

ALL = slice(None)
_NONE = slice(0)


def rows_wanted(node: IndexItem) -> Iterator[tuple[str, slice]]:
    """Yield each name of an expression with the rows that are needed of it after the launch.

    >>> from cudarun.arguments.expressions.parser import parse_expression
    >>> list(rows_wanted(parse_expression("y[-2:] == x").node))
    [('y', slice(-2, None, None)), ('x', slice(None, None, None))]
    """
    match node:
        case tree.Name(name):
            yield name, ALL
        case tree.Index(tree.Name(name), items):
            yield name, _written(items[0])
            for item in items:
                yield from rows_wanted(item)
        case tree.Old(operand):  # values from before the launch
            yield from ((name, _NONE) for name, _ in rows_wanted(operand))
        case _:
            for child in tree.children(node):
                yield from rows_wanted(child)


def span(wanted: Iterable[slice], length: int) -> range:
    """Return the range from the first needed row to the last, of an array of ``length`` rows."""
    ranges = [range(length)[rows] for rows in wanted]
    ends = [row for rows in ranges if rows for row in (rows[0], rows[-1])]
    return range(min(ends), max(ends) + 1) if ends else range(0)


def _written(item: IndexItem) -> slice:
    """Return the rows that an index selects; all rows unless it consists of literal numbers."""
    if isinstance(item, tree.Slice):
        ends = [None if end is None else _integer(end) for end in (item.start, item.stop)]
        in_numbers = ends.count(None) == (item.start, item.stop).count(None)
        return slice(*ends) if in_numbers and item.step is None else ALL
    row = None if isinstance(item, (tree.Rest, tree.NewAxis)) else _integer(item)
    return ALL if row is None else slice(row, row + 1 or None)


def _integer(node: tree.Node) -> int | None:
    match node:
        case tree.Number(int(value)):
            return value
        case tree.Unary("-", tree.Number(int(value))):
            return -value
    return None
