"""Contraction of ``mul`` and ``add`` without a rounding modifier to fused multiply-adds.

The manual permits it (9.7.3, ``mul``: they "may be optimized to use fused-multiply-add"). The rules
are those of ptxas 13.0, read from its machine code, and are the same for all types:

- A product is fused with its readers if all are sums in its basic block, which no guarded
  instruction, barrier or shuffle ends. The product must not be guarded; its readers may be.
- ``.ftz`` must be the same in both. A product with ``.sat`` is not fused, a sum with ``.sat`` is.
- Of a sum of two products, the one with fewer readers is fused, else the first. The other one is
  an addend, and no later sum is fused with it.
- ``div.full`` and ``div.approx`` are products of the dividend and a reciprocal.

An explicit ``.rn``, as emitted by ``nvcc -fmad=false``, prevents it; with ``.target debug`` nothing
is optimized. Unlike ptxas, this does not follow copies and negations of a product, nor factors that
change before its reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import (
    BlockCode,
    FunctionCode,
    Lanewise,
    Operation,
    RegisterUse,
    Terminator,
    Use,
)
from cudarun.emulator.isa.approximations import factors
from cudarun.emulator.isa.table import forms
from cudarun.emulator.machine.control import Branch, FunctionCall
from cudarun.emulator.numerics.temporaries import Function, temporaries_of, with_temporaries
from cudarun.records import dataclass

Array = npt.NDArray[Any]

_TYPES = ("f32", "ftz.f32", "f64", "f16", "ftz.f16", "f16x2", "ftz.f16x2", "bf16", "bf16x2")
_QUOTIENTS = {
    f"div.{kind}.{words}": words for kind in ("full", "approx") for words in ("f32", "ftz.f32")
}
_PRODUCTS = {f"mul.{words}": words for words in _TYPES} | _QUOTIENTS
"""The types and ``.ftz`` of products."""
_SUMS = {
    f"{opcode}.{words}"
    for opcode in ("add", "sub")
    for each in _TYPES
    for words in (each, ".".join([*each.split(".")[:-1], "sat", each.split(".")[-1]]))
}


@dataclass(slots=True)
class _Product:
    """A product in a basic block of PTX.

    Attributes:
        operation: The multiplication.
        readers: The operations that read it, one for each operand.
        changed: Whether a factor has changed, so that later readers cannot be fused.
        is_value: Whether a reader is not fused.
    """

    operation: Lanewise
    readers: list[Operation] = field(default_factory=list)
    changed: bool = False
    is_value: bool = False

    @property
    def slot(self) -> int:
        """The register that it is written to."""
        return _slot(self.operation.destinations[0])

    def fits_all(self) -> bool:
        """Return whether all readers are sums that it can be fused with."""
        words = _PRODUCTS[self.operation.name]
        return all(
            isinstance(reader, Lanewise)
            and reader.name in _SUMS
            and reader.name[4:].replace("sat.", "") == words
            and list(map(_slot, reader.sources)).count(self.slot) == 1
            for reader in self.readers
        )


def contract(code: FunctionCode) -> None:
    """Contract multiplications and additions of a function."""
    operations = (each for block in code.blocks for each in block.operations)
    names = {each.name for each in operations if isinstance(each, Lanewise)}
    if names.isdisjoint(_PRODUCTS.keys()) or names.isdisjoint(_SUMS):
        return
    reads = Counter(_reads(code))
    for blocks in _basic_blocks(code):
        changes = _changes(blocks, _products(blocks, reads))
        for block, _ in blocks:
            changed = [changes.get(id(each), each) for each in block.operations]
            block.operations = [each for each in changed if each is not None]


def _basic_blocks(code: FunctionCode) -> Iterator[list[tuple[BlockCode, bool]]]:
    """Yield the blocks of each basic block of PTX, and whether they are guarded."""
    before: dict[int, set[int]] = {}
    for block in code.blocks:
        for successor in block.terminator.successors:
            before.setdefault(successor, set()).add(block.index)
    found: list[tuple[BlockCode, bool]] = []
    inside: set[tuple[int, int]] = set()  # the ways that do not leave a basic block
    guarded_to = 0
    for block in code.blocks:
        ways = {(each, block.index) for each in before.get(block.index, ())}
        if not ((block.index - 1, block.index) in ways and ways <= inside):
            yield found
            found, inside = [], set()
        found.append((block, block.index < guarded_to))
        ending = block.terminator
        if isinstance(ending, FunctionCall) or _is_jump(ending):
            continue
        inside.update((block.index, each) for each in ending.successors)
        if isinstance(ending, Branch):  # around guarded instructions
            guarded_to = max(ending.successors)
    yield found


def _is_jump(ending: Terminator) -> bool:
    return ending.site is not None and ending.site.name.startswith("br")


def _products(blocks: list[tuple[BlockCode, bool]], reads: Counter[int]) -> list[_Product]:
    """Return the products of a basic block with their readers.

    Args:
        blocks: The blocks, and whether they are guarded.
        reads: The number of reads of each slot in the function.
    """
    found: list[_Product] = []
    known: dict[int, _Product] = {}  # by slot
    own = Counter[int]()  # reads of what the basic block has written, by slot
    for block, guarded in blocks:
        for operation in block.operations:
            for slot in map(_slot, operation.sources):
                if slot in own:
                    own[slot] += 1
                if slot in known:
                    known[slot].readers.append(operation)
                    known[slot].is_value |= known[slot].changed
            for slot in map(_slot, operation.destinations):
                if slot in known:
                    known.pop(slot).is_value |= guarded  # other lanes keep it
                if not guarded:
                    own.setdefault(slot, 0)
                for each in known.values():
                    each.changed |= slot in map(_slot, each.operation.sources)
            if isinstance(operation, Lanewise) and operation.name in _PRODUCTS and not guarded:
                product = _Product(operation)
                product.changed = product.slot in map(_slot, operation.sources)
                known[product.slot] = product
                found.append(product)
    for slot, product in known.items():
        product.is_value |= own[slot] != reads[slot]
    return found


def _changes(
    blocks: list[tuple[BlockCode, bool]], products: list[_Product]
) -> dict[int, Operation | None]:
    """Return the fused operations in place of sums, and ``None`` in place of needless products."""
    operands: dict[int, list[_Product]] = {}
    for product in products:
        for reader in product.readers:
            operands.setdefault(id(reader), []).append(product)
    found: dict[int, Operation | None] = {}
    for reader in (each for block, _ in blocks for each in block.operations):
        given = operands.get(id(reader), [])
        able = [each for each in given if not each.is_value and each.fits_all()]
        slots = list(map(_slot, reader.sources))
        able.sort(key=lambda each: (len(each.readers), slots.index(each.slot)))
        for each in given:
            each.is_value |= each not in able[:1]
        if able and isinstance(reader, Lanewise):
            found[id(reader)] = _fused(reader, able[0].operation, slots.index(able[0].slot))
    for product in products:
        if product.readers and not product.is_value:
            found[id(product.operation)] = None
    return found


def _slot(use: Use) -> int:
    return use.slot if isinstance(use, RegisterUse) else -1


def _reads(code: FunctionCode) -> Iterator[int]:
    """Return the number of reads of each slot."""
    yield from code.results
    for block in code.blocks:
        yield from map(_slot, block.terminator.reads)
        for operation in block.operations:
            for use in operation.sources:
                if isinstance(use, RegisterUse):
                    yield use.slot


def _fused(operation: Lanewise, product: Lanewise, place: int) -> Lanewise:
    """Return the fused operation, in place of the sum."""
    function = _function(operation.name[4:])
    if operation.name.startswith("sub"):
        function = _negating(function, 0 if place == 1 else 2, operation.name)
    if product.name in _QUOTIENTS:
        function = _dividing(function, product.name)
    sources = (*product.sources, operation.sources[1 - place])
    return Lanewise(function, sources, operation.destinations, operation.site)


@cache
def _function(words: str) -> Function:
    """Return the function of ``fma.rn`` with these words."""
    modifiers = ("rn", *words.split("."))
    for form in forms("fma"):
        found = form.match(modifiers)
        if found is not None and form.make is not None:
            return form.make(found)
    raise LookupError(modifiers)


@cache
def _negating(function: Function, place: int, name: str) -> Function:
    """Return a function of three sources with one of them negated first; NaN stay in f64."""
    is_half = not name.endswith(("f32", "f64"))
    dtype = np.dtype("u2" if is_half else "f8" if name.endswith("f64") else "f4")

    def operate(a: Array, b: Array, c: Array, d: Array, *scratch: Array) -> None:
        sources, minus = [a, b, c], scratch[-1]
        if is_half:
            np.bitwise_xor(sources[place].view(dtype), dtype.type(0x8000), out=minus)
        else:
            np.multiply(sources[place], dtype.type(-1), out=minus)
        sources[place] = minus.view(a.dtype)
        function(*sources, d, *scratch[:-1])

    return with_temporaries(operate, (*temporaries_of(function), dtype))


@cache
def _dividing(function: Function, name: str) -> Function:
    """Return a function of three sources, the second of which is the divisor of the first."""
    full, ftz = "full" in name, "ftz" in name

    def operate(a: Array, b: Array, c: Array, d: Array, *scratch: Array) -> None:
        function(*factors(a, b, full=full, ftz=ftz), c, d, *scratch)

    return with_temporaries(operate, temporaries_of(function))
