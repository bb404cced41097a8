"""The static shared memory and the undefined symbols of kernels in PTX, which a compiler states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from cudarun.base.process import without_collection
from cudarun.base.records import dataclass
from cudarun.images.ptx_facts import ptx_text
from cudarun.images.ptx_usage import names_in
from cudarun.ptx import tree
from cudarun.ptx.layout import VariableLayout, alignment_of, size_of
from cudarun.ptx.parser import lazy_module


@dataclass(frozen=True, slots=True)
class _Body:
    shared: tuple[tree.Variable, ...]
    names: frozenset[str]


def static_use(data: bytes) -> dict[str, tuple[int, frozenset[str]]]:
    """Return by kernel the bytes of static shared memory of a block, and all names that it uses.

    They are those of the kernel and of the functions that it may call.

    Raises:
        PtxError: The text does not parse.
    """
    with without_collection():
        lazy = lazy_module(ptx_text(data))
        bodies = {
            declared.name: _body(tuple(lazy.read(declared).statements()))
            for declared in lazy.module.functions
            if declared.body is not None
        }
    found = {}
    for kernel in (each.name for each in lazy.module.functions if each.is_entry):
        if kernel in bodies:
            reached = [bodies[name] for name in _reached(kernel, bodies)]
            names = frozenset().union(*(body.names for body in reached))
            outside = (each for each in _shared(lazy.module.variables) if each.name in names)
            own = chain.from_iterable(body.shared for body in reached)
            found[kernel] = _bytes((*outside, *own)), names
    return found


def _body(statements: Iterable[tree.Statement]) -> _Body:
    instructions = (each for each in statements if isinstance(each, tree.Instruction))
    names = chain.from_iterable(names_in(each.operands) for each in instructions)
    return _Body(tuple(_shared(statements)), frozenset(names))


def _shared(statements: Iterable[tree.Statement]) -> Iterator[tree.Variable]:
    """Yield the variables in static shared memory."""
    for each in statements:
        match each:
            case tree.Variable(space="shared", dimensions=extents) if extents[:1] != (None,):
                yield each


def _reached(kernel: str, bodies: dict[str, _Body]) -> list[str]:
    """Return the kernel and the functions that it may call."""
    found = {kernel: None}
    waiting = [kernel]
    while waiting:
        new = [each for each in bodies[waiting.pop()].names & bodies.keys() if each not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return [*found]


def _bytes(variables: Iterable[tree.Variable]) -> int:
    layout = VariableLayout()
    for variable in variables:
        layout.place(size_of(variable), alignment_of(variable))
    return layout.size
