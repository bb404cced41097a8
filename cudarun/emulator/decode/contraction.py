"""Contraction of ``mul`` and ``add`` without a rounding modifier to fused multiply-adds.

The manual permits it (9.7.3, ``mul``: they "may be optimized to use fused-multiply-add"). The rules
are those of ptxas 13.0, read from its machine code, and are the same for all types:

- A product is fused with its readers if all are sums in its basic block. Barriers and shuffles do
  not end one, nor guarded arithmetic; other guarded instructions are branches and do. So do calls,
  but not branches that skip nothing with an effect. The product must not be guarded; its readers
  may be.
- ``.ftz`` must be the same in both. A product with ``.sat`` is not fused, a sum with ``.sat`` is.
- Products with one reader are fused first, unless they are pairs. Of a sum of two products, the
  one with fewer readers is fused, else the first. The other one is an addend, and no later sum is
  fused with it.
- ``div.full`` and ``div.approx`` are products of the dividend and a reciprocal.
- Readers of a copy or of the negation of a product are readers of the product. Those whose results
  have no effect are not.
- Factors may change before a reader. They are kept in registers of their own.

An explicit ``.rn``, as emitted by ``nvcc -fmad=false``, prevents it; with ``.target debug`` nothing
is optimized.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import cache

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    BlockCode,
    FunctionCode,
    Lanewise,
    Operation,
    RegisterUse,
    Role,
    Use,
)
from cudarun.emulator.decode.analysis import needed_registers
from cudarun.emulator.isa.approximations import factors
from cudarun.emulator.isa.move import copy
from cudarun.emulator.isa.table import candidates
from cudarun.emulator.machine.control import Branch, FunctionCall, Jump
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, temporaries_of, with_temporaries

_TYPES = ("f32", "ftz.f32", "f64", "f16", "ftz.f16", "f16x2", "ftz.f16x2", "bf16", "bf16x2",
          "f32x2", "ftz.f32x2")  # fmt: skip
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


_COPIES = {f"mov.{kind}{bits}" for kind in "bfsu" for bits in (16, 32, 64)}


@dataclass(slots=True)
class _Product:
    """A product in a basic block of PTX."""

    operation: Lanewise  # the multiplication
    # The operations that read it, the place of the operand, and whether it is negated.
    readers: list[tuple[Operation, int, bool]] = field(default_factory=list)
    copies: list[Operation] = field(default_factory=list)  # copies and negations of it
    changed: set[int] = field(default_factory=set)  # the registers of factors that have changed
    # The registers of factors that had changed before a reader, and where they are kept.
    kept: dict[int, int] = field(default_factory=dict)
    is_closed: bool = False  # whether its basic block has ended
    is_value: bool = False  # whether a reader is not fused

    @property
    def factors(self) -> set[int]:
        """The registers of the factors."""
        return {*map(_slot, self.operation.sources)} - {-1}

    def keep(self, code: FunctionCode) -> list[Operation]:
        """Return the copies of factors to new registers."""
        copies: list[Operation] = []
        for use in self.operation.sources:
            if isinstance(use, RegisterUse) and self.kept.get(use.slot) == -1:
                self.kept[use.slot] = len(code.slots)
                code.slots.append(replace(code.slots[use.slot], role=Role.REGISTER))
                target = replace(use, slot=self.kept[use.slot])
                copies.append(Lanewise(copy, (use,), (target,), self.operation.site, "mov"))
        return copies

    @property
    def is_early(self) -> bool:
        """True if it is fused before products of other kinds."""
        return len(self.readers) == 1 or self.operation.name.endswith("x2")

    def fits_all(self) -> bool:
        """Return whether it is a product of sums alone, which it can be fused with."""
        words = _PRODUCTS[self.operation.name]
        return not self.is_value and all(
            isinstance(reader, Lanewise)
            and reader.name in _SUMS
            and reader.name[4:].replace("sat.", "") == words
            and sum(each is reader for each, _, _ in self.readers) == 1
            for reader, _, _ in self.readers
        )

    def is_copied(self, reader: Lanewise) -> bool:
        """Return whether a reader copies or negates it."""
        is_whole = len(reader.sources) == len(reader.destinations) == 1
        return is_whole and reader.name in _COPIES | {f"neg.{_PRODUCTS[self.operation.name]}"}


def contract(code: FunctionCode) -> None:
    """Contract multiplications and additions of a function."""
    names = {each.name for each in code.operations if isinstance(each, Lanewise)}
    if names.isdisjoint(_PRODUCTS.keys()) or names.isdisjoint(_SUMS):
        return
    useless, after = needed_registers(code)
    for blocks in _basic_blocks(code, useless):
        changes = _changes(code, blocks, _products(blocks, useless, after))
        for block, _ in blocks:
            block.operations = [
                new for each in block.operations for new in changes.get(id(each), (each,))
            ]


def _basic_blocks(code: FunctionCode, useless: set[int]) -> Iterator[list[tuple[BlockCode, bool]]]:
    """Yield the blocks of each basic block of ptxas, and whether they are guarded."""
    targets = _targets(code, useless)
    before: dict[int, set[int]] = {}
    for index, after in targets.items():
        for target in after:
            before.setdefault(target, set()).add(index)
    done = set[int]()
    for first in targets:
        following = {first}
        found: list[tuple[BlockCode, bool]] = []
        inside: dict[int, set[int]] = {}  # the ways that do not leave a basic block, by target
        guarded = set[int]()
        while following := following - done:
            block = code.blocks[min(following)]
            done.add(block.index)
            found.append((block, block.index in guarded))
            ending, after = block.terminator, targets[block.index]
            is_jump = ending.site is not None and ending.site.name.startswith("br")
            is_guard = isinstance(ending, Branch) and not is_jump
            if not isinstance(ending, FunctionCall) and (len(after) == 1 or is_guard):
                guarded.update(range(block.index + 1, max(ending.successors)) if is_guard else ())
                for target in after:
                    inside.setdefault(target, set()).add(block.index)
            following = {each for each, ways in inside.items() if ways == before[each]}
        if found:
            yield found


def _targets(code: FunctionCode, useless: set[int]) -> dict[int, set[int]]:
    """Return the blocks that follow each block, without those that have no effect.

    These are on ways that meet again, where ptxas sees no branch. Their operations are removed.
    """
    has_effect = [
        block.sync_mask is not None
        or not isinstance(block.terminator, Jump)
        or block.terminator.target <= block.index
        or any(id(each) not in useless for each in block.operations)
        for block in code.blocks
    ]
    targets: dict[int, set[int]] = {}
    remaining = [0]
    while remaining:
        index = remaining.pop()
        if index in targets:
            continue
        targets[index] = set()
        for target in code.blocks[index].terminator.successors:
            while not has_effect[target]:
                (target,) = code.blocks[target].terminator.successors
            targets[index].add(target)
        remaining.extend(targets[index])
    for block in code.blocks:
        if block.index not in targets:
            block.operations = []
    return dict(sorted(targets.items()))


def _products(
    blocks: list[tuple[BlockCode, bool]], useless: set[int], after: list[set[int]]
) -> list[_Product]:
    """Return the products of a basic block with their readers.

    Args:
        blocks: The blocks, and whether they are guarded.
        useless: The operations without effect.
        after: The registers that are needed after each block of the function.
    """
    found: list[_Product] = []
    known: dict[int, tuple[_Product, bool]] = {}  # by slot, and whether it is negated there
    watched: dict[int, list[_Product]] = {}  # by the slots of their factors
    for block, guarded in blocks:
        for operation in block.operations:
            copied, has_effect = None, id(operation) not in useless
            for place, slot in enumerate(map(_slot, operation.sources)):
                if slot not in known or not has_effect:
                    continue
                product, negated = known[slot]
                is_part = not (guarded or product.is_closed)
                if isinstance(operation, Lanewise) and product.is_copied(operation) and is_part:
                    copied = product, negated ^ operation.name.startswith("neg")
                    product.copies.append(operation)
                else:
                    product.is_value |= product.is_closed
                    product.readers.append((operation, place, negated))
                    # A reader needs the factors as they were.
                    product.kept.update(dict.fromkeys(product.factors & product.changed, -1))
            if (
                isinstance(operation, Lanewise)
                and operation.name in _PRODUCTS
                and has_effect
                and not guarded
            ):
                copied = _Product(operation), False
                found.append(copied[0])
                for slot in copied[0].factors:
                    watched.setdefault(slot, []).append(copied[0])
            for slot in map(_slot, operation.destinations):
                if slot in known:
                    known.pop(slot)[0].is_value |= guarded and has_effect  # other lanes keep it
                for each in watched.get(slot, ()):
                    each.changed.add(slot)
                if copied is not None:
                    known[slot] = copied
            if guarded and isinstance(operation, Action):
                _close(known)
        if guarded and not isinstance(block.terminator, Jump):
            _close(known)
        for slot in map(_slot, block.terminator.reads):
            if slot in known:
                known[slot][0].is_value = True
    for slot, (product, _) in known.items():
        product.is_value |= slot in after[blocks[-1][0].index]
    return found


def _close(known: dict[int, tuple[_Product, bool]]) -> None:
    for product, _ in known.values():
        product.is_closed = True


def _changes(
    code: FunctionCode, blocks: list[tuple[BlockCode, bool]], products: list[_Product]
) -> dict[int, list[Operation]]:
    """Return the fused operations in place of sums, and nothing in place of needless products."""
    operands: dict[int, list[tuple[int, _Product, bool]]] = {}
    for product in products:
        for reader, place, negated in product.readers:
            operands.setdefault(id(reader), []).append((place, product, negated))
    chosen: dict[int, tuple[Lanewise, int, _Product, bool]] = {}
    for is_last in (False, True):
        for reader in (each for block, _ in blocks for each in block.operations):
            given = operands.get(id(reader), [])
            able = [each for each in given if (is_last or each[1].is_early) and each[1].fits_all()]
            if able and id(reader) not in chosen and isinstance(reader, Lanewise):
                first = min(able, key=lambda each: (len(each[1].readers), each[0]))
                chosen[id(reader)] = reader, *first
                for each in given:
                    each[1].is_value |= each != first
    found: dict[int, list[Operation]] = {}
    fused = {id(product) for _, _, product, _ in chosen.values()}
    for product in products:
        if id(product) in fused:
            found[id(product.operation)] = product.keep(code)
            if product.is_value:
                found[id(product.operation)].append(product.operation)
            else:
                found.update((id(each), []) for each in product.copies)
    for reader, place, product, negated in chosen.values():
        found[id(reader)] = [_fused(reader, product, place, negated=negated)]
    return found


def _slot(use: Use) -> int:
    return use.slot if isinstance(use, RegisterUse) else -1


def _fused(operation: Lanewise, product: _Product, place: int, *, negated: bool) -> Lanewise:
    """Return the fused operation, in place of the sum."""
    function, name = _function(operation.name[4:]), product.operation.name
    is_difference = operation.name.startswith("sub")
    if negated ^ (is_difference and place == 1):
        function = _negating(function, 0, operation.name)
    if is_difference and place == 0:
        function = _negating(function, 2, operation.name)
    if name in _QUOTIENTS:
        function = _dividing(function, name)
    factors_before = (
        replace(use, slot=product.kept.get(use.slot, use.slot))
        if isinstance(use, RegisterUse)
        else use
        for use in product.operation.sources
    )
    sources = (*factors_before, operation.sources[1 - place])
    return Lanewise(function, sources, operation.destinations, operation.site)


@cache
def _function(words: str) -> Function:
    """Return the function of ``fma.rn`` with these words."""
    candidate, *_ = candidates("fma", ("rn", *words.split(".")))
    assert candidate.form.make is not None
    return candidate.form.make(candidate.words)


@cache
def _negating(function: Function, place: int, name: str) -> Function:
    """Return a function of three sources with one of them negated first; NaN stay in f64."""
    is_half = "f16" in name
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
