"""Which rows of its arrays an expression looks at, as far as its text tells.

A row is what one index of the first axis names. Of ``y[:4]`` four are wanted, however large ``y``
is; wherever an array is used otherwise than by an index written in numbers, all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cudarun.arguments.syntax import Index, Name, Node, Number, Old, Rest, Slice, Unary, children

ALL = slice(None)
_NONE = slice(0)


def rows_wanted(node: Node | Slice | Rest) -> Iterator[tuple[str, slice]]:
    """Every name in an expression, each time with the rows that are wanted of it after the run.

    >>> from cudarun.arguments.expressions import parse_expression
    >>> list(rows_wanted(parse_expression("y[-2:] == x").node))
    [('y', slice(-2, None, None)), ('x', slice(None, None, None))]
    """
    match node:
        case Name(name):
            yield name, ALL
        case Index(Name(name), items):
            yield name, _written(items[0])
            for item in items:
                yield from rows_wanted(item)
        case Old(operand):  # from before the run
            yield from ((name, _NONE) for name, _ in rows_wanted(operand))
        case _:
            for child in children(node):
                yield from rows_wanted(child)


def span(wanted: Iterable[slice], length: int) -> range:
    """The rows from the first wanted one to the last, of an array with so many."""
    ranges = [range(length)[rows] for rows in wanted]
    ends = [row for rows in ranges if rows for row in (rows[0], rows[-1])]
    return range(min(ends), max(ends) + 1) if ends else range(0)


def _written(item: Node | Slice | Rest) -> slice:
    """The rows that an index names; all of them unless it is written in numbers."""
    if isinstance(item, Slice):
        ends = [None if end is None else _integer(end) for end in (item.start, item.stop)]
        in_numbers = ends.count(None) == (item.start, item.stop).count(None)
        return slice(*ends) if in_numbers and item.step is None else ALL
    row = None if isinstance(item, Rest) else _integer(item)
    return ALL if row is None else slice(row, row + 1 or None)


def _integer(node: Node) -> int | None:
    match node:
        case Number(int(value)):
            return value
        case Unary("-", Number(int(value))):
            return -value
    return None
