"""The static shared memory and the undefined symbols of kernels in PTX, which a compiler states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from cudarun.base.process import without_collection
from cudarun.images.ptx_facts import ptx_text
from cudarun.images.ptx_usage import names_in
from cudarun.ptx import tree
from cudarun.ptx.layout import VariableLayout, alignment_of, size_of
from cudarun.ptx.parser import lazy_module


def static_use(data: bytes) -> dict[str, tuple[int, frozenset[str]]]:
    """Return by kernel the bytes of static shared memory of a block, and all names that it uses.

    They are those of the kernel and of the functions that it may call.

    Raises:
        PtxError: The text does not parse.
    """
    with without_collection():
        lazy = lazy_module(ptx_text(data))
        bodies = {}
        for declared in lazy.module.functions:
            if declared.body is not None:
                statements = [*lazy.read(declared).statements()]
                code = (each for each in statements if isinstance(each, tree.Instruction))
                names = frozenset(chain.from_iterable(names_in(each.operands) for each in code))
                bodies[declared.name] = [*_shared(statements)], names
    found = {}
    for kernel in (each.name for each in lazy.module.functions if each.is_entry):
        if kernel in bodies:
            reached = [kernel]  # and the functions that it may call
            for name in reached:
                called = sorted(bodies[name][1] & bodies.keys())
                reached += [each for each in called if each not in reached]
            names = frozenset().union(*(bodies[name][1] for name in reached))
            outside = (each for each in _shared(lazy.module.variables) if each.name in names)
            layout = VariableLayout()
            for each in chain(outside, *(bodies[name][0] for name in reached)):
                layout.place(size_of(each), alignment_of(each))
            found[kernel] = layout.size, names
    return found


def _shared(statements: Iterable[tree.Statement]) -> Iterator[tree.Variable]:
    """Yield the variables in static shared memory."""
    for each in statements:
        match each:
            case tree.Variable(space="shared", dimensions=extents) if extents[:1] != (None,):
                yield each
