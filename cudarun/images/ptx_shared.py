"""The static shared memory of the kernels in a PTX text, which only a compiler states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from cudarun.base.process import without_collection
from cudarun.images.ptx_facts import alignment_of, ptx_text, size_of
from cudarun.ptx import tree
from cudarun.ptx.parser import lazy_module


def static_shared(data: bytes) -> dict[str, int]:
    """Return the bytes of static shared memory of a block, by kernel.

    They are those of the variables that a kernel and the functions that it may call refer to.

    Raises:
        PtxError: The text does not parse.
    """
    with without_collection():
        lazy = lazy_module(ptx_text(data))
        own: dict[str, list[tree.Variable]] = {}
        named: dict[str, set[str]] = {}
        for declared in lazy.module.functions:
            if declared.body is not None:
                statements = tuple(lazy.read(declared).statements())
                own[declared.name] = [*_shared(statements)]
                named[declared.name] = set(_symbols(statements))
    shared = {each.name: each for each in _shared(lazy.module.variables)}
    found = {}
    for kernel in (each.name for each in lazy.module.functions if each.is_entry):
        if kernel in own:
            reached = _reached(kernel, named)
            names = set().union(*(named[each] for each in reached))
            outside = [shared[name] for name in shared if name in names]
            found[kernel] = _bytes([*outside, *chain.from_iterable(own[each] for each in reached)])
    return found


def _shared(statements: Iterable[tree.Statement]) -> Iterator[tree.Variable]:
    """Yield the variables in static shared memory."""
    for each in statements:
        match each:
            case tree.Variable(space="shared", dimensions=extents) if extents[:1] != (None,):
                yield each


def _reached(kernel: str, named: dict[str, set[str]]) -> list[str]:
    """Return the kernel and the functions that it may call."""
    found = {kernel: None}
    waiting = [kernel]
    while waiting:
        new = [each for each in named[waiting.pop()] if each in named and each not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return [*found]


def _bytes(variables: list[tree.Variable]) -> int:
    end = 0
    for variable in variables:
        alignment = alignment_of(variable)
        end = -(-end // alignment) * alignment + size_of(variable)
    return end


def _symbols(statements: tuple[tree.Statement, ...]) -> Iterator[str]:
    """Yield the variables and functions that instructions name."""
    for statement in statements:
        if isinstance(statement, tree.Instruction):
            for operand in statement.operands:
                yield from _named(operand)


def _named(operand: tree.Operand | None) -> Iterator[str]:
    match operand:
        case tree.SymbolReference(name):
            yield name
        case tree.Address(base):
            yield from _named(base)
        case tree.SymbolOffset(symbol):
            yield symbol.name
        case tree.Vector(elements):
            yield from chain.from_iterable(map(_named, elements))
        case tree.TupleAddress(address, rest):
            yield from chain.from_iterable(map(_named, (address, *rest)))
