"""Contraction of ``mul`` and ``add`` without a rounding modifier to fused multiply-adds.

The manual permits it (9.7.3, ``mul``: they "may be optimized to use fused-multiply-add"). ptxas
fuses if the product has no other reader; of a sum of two products the first operand's is fused.
With this rule, programs recorded on an H200 are reproduced bit for bit. An explicit ``.rn``, as
emitted by ``nvcc -fmad=false``, prevents it; with ``.target debug`` nothing is optimized.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import BlockCode, FunctionCode, Lanewise, Operation, RegisterUse, Use
from cudarun.emulator.isa.table import FORMS
from cudarun.emulator.numerics.temporaries import Function, temporaries_of, with_temporaries

Array = npt.NDArray[Any]

_PRODUCTS = {"mul.f32", "mul.ftz.f32", "mul.f64"}
_SUMS = {
    f"{opcode}.{words}"
    for opcode in ("add", "sub")
    for words in ("f32", "ftz.f32", "sat.f32", "ftz.sat.f32", "f64")
}


def contract(code: FunctionCode) -> None:
    """Contract multiplications and additions in each block of a function."""
    reads: Counter[int] | None = None
    for block in code.blocks:
        names = {each.name for each in block.operations if isinstance(each, Lanewise)}
        if names.isdisjoint(_PRODUCTS) or names.isdisjoint(_SUMS):
            continue
        if reads is None:
            reads = Counter(_reads(code))
        _contract_block(block, reads)


def _contract_block(block: BlockCode, reads: Counter[int]) -> None:
    products: dict[int, int] = {}  # by the slot of the result: index in the block
    operations: list[Operation | None] = list(block.operations)
    for index, operation in enumerate(block.operations):
        place = _place_of_product(operation, products, block.operations)
        if place is not None:
            assert isinstance(operation, Lanewise)
            at = products.pop(_slot(operation.sources[place]))
            product = block.operations[at]
            assert isinstance(product, Lanewise)
            operations[at], operations[index] = None, _fused(operation, product, place)
        if products:
            written = set(map(_slot, operation.destinations))
            products = {
                slot: at
                for slot, at in products.items()
                if slot not in written
                and written.isdisjoint(map(_slot, block.operations[at].sources))
            }
        if isinstance(operation, Lanewise) and operation.name in _PRODUCTS:
            slot = _slot(operation.destinations[0])
            if reads[slot] == 1:
                products[slot] = index
    block.operations = [operation for operation in operations if operation is not None]


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


def _place_of_product(
    operation: Operation, products: dict[int, int], operations: list[Operation]
) -> int | None:
    """Return the source of a sum that is a product that can be fused with it."""
    if not products or not isinstance(operation, Lanewise) or operation.name not in _SUMS:
        return None
    wanted = operation.name[4:].replace("sat.", "")
    for place, use in enumerate(operation.sources):
        at = products.get(_slot(use))
        if at is None:
            continue
        product = operations[at]
        if isinstance(product, Lanewise) and product.name[4:] == wanted:
            return place
    return None


def _fused(operation: Lanewise, product: Lanewise, place: int) -> Lanewise:
    """Return the fused operation, in place of the sum."""
    function = _function(operation.name[4:])
    if operation.name.startswith("sub"):
        function = _negating(function, 0 if place == 1 else 2, operation.name)
    sources = (*product.sources, operation.sources[1 - place])
    return Lanewise(function, sources, operation.destinations, operation.site)


@cache
def _function(words: str) -> Function:
    """Return the function of ``fma.rn`` with these words."""
    modifiers = ("rn", *words.split("."))
    for form in FORMS["fma"]:
        found = form.match(modifiers)
        if found is not None and form.make is not None:
            return form.make(found)
    raise LookupError(modifiers)


@cache
def _negating(function: Function, place: int, name: str) -> Function:
    """Return a function of three sources with one of them negated first; NaN are unchanged."""
    dtype = np.dtype(np.float64 if name.endswith("f64") else np.float32)
    minus = dtype.type(-1)

    def operate(a: Array, b: Array, c: Array, d: Array, *scratch: Array) -> None:
        sources = [a, b, c]
        sources[place] = np.multiply(sources[place], minus, out=scratch[-1])
        function(*sources, d, *scratch[:-1])

    return with_temporaries(operate, (*temporaries_of(function), dtype))
