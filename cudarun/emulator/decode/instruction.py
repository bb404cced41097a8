"""Decoding of one instruction: its form is selected and its operands are resolved."""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    ConstantUse,
    KernelParameterUse,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Role,
    SinkUse,
    Use,
)
from cudarun.emulator.decode.operands import OperandMismatch, Operands, Unimplemented
from cudarun.emulator.decode.rules import check_operands, check_selector, check_words
from cudarun.emulator.decode.scope import CARRY
from cudarun.emulator.isa.form import InstructionForm, OperandForm
from cudarun.emulator.isa.manual import illegal, missing
from cudarun.emulator.isa.move import copy, copy_all
from cudarun.emulator.isa.table import Candidate, candidates
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.types import TYPES, Type, TypeKind
from cudarun.emulator.words import Words
from cudarun.ptx import tree

# For copies, the word with the space of each address; else it is the instruction's.
_PLACES = {"d": "to", "m": "to", "a": "source"}
_WIDE = 256  # bits of the stores that may leave out elements
_METADATA = "metadata"  # of sparse matrices, never a constant


def decode(instruction: tree.Instruction, operands: Operands) -> list[Operation]:
    """Return the operations that implement an instruction other than control flow.

    Raises:
        Unimplemented: PTX has the instruction, but no form has this opcode and these modifiers.
        OperandMismatch: The instruction is not PTX, or the operands do not match the form.
    """
    found = candidates(instruction.opcode, instruction.modifiers)
    if not found:
        wrong = illegal(instruction.opcode, instruction.modifiers)
        if wrong is not None:
            raise OperandMismatch(wrong)
        raise Unimplemented(*missing(instruction.opcode, instruction.modifiers))
    parts = _stored_elements(instruction)
    if parts:
        decode(_without_gaps(instruction), operands)  # only to check it
        return [operation for part in parts for operation in decode(part, operands)]
    check_operands(instruction)
    problem: OperandMismatch | None = None
    for candidate in found:
        operands.before.clear()
        try:
            operation = _Resolution(candidate, instruction, operands).operation()
        except OperandMismatch as misfit:
            problem = problem or misfit
        else:
            return [*operands.before, operation]
    assert problem is not None
    raise problem


def _stored_elements(instruction: tree.Instruction) -> list[tree.Instruction]:
    """Return a store of 256 bits without some elements, ``{%r0, _, ...}``, as stores of the others.

    Without ``_``, and of other widths, there are none.
    """
    match instruction:
        case tree.Instruction(
            "st", operands=(tree.Address() as place, tree.Vector(given), *policy)
        ):
            words = instruction.modifiers
        case _:
            return []
    wide = [word for word in words if word in TYPES and TYPES[word].bits * len(given) == _WIDE]
    if not wide or not any(isinstance(element, tree.Sink) for element in given):
        return []
    scalar = tuple(word for word in words if word != f"v{len(given)}" and "L2::evict" not in word)
    step = TYPES[wide[0]].bytes
    return [
        replace(
            instruction,
            modifiers=scalar,
            operands=(replace(place, offset=place.offset + number * step), element, *policy),
        )
        for number, element in enumerate(given)
        if not isinstance(element, tree.Sink)
    ]


def _without_gaps(instruction: tree.Instruction) -> tree.Instruction:
    """Return a store with an element in the place of each ``_``."""
    match instruction.operands:
        case place, tree.Vector(given), *policy:
            some = next(each for each in given if not isinstance(each, tree.Sink))
            elements = (some if isinstance(each, tree.Sink) else each for each in given)
            return replace(instruction, operands=(place, tree.Vector(tuple(elements)), *policy))
    return instruction


# --- the operands of a form ----------------------------------------------------------------------


@dataclass(slots=True)
class _Resolution:
    """The operands of one instruction, resolved for one form."""

    candidate: Candidate
    instruction: tree.Instruction
    operands: Operands
    form: InstructionForm = field(init=False)
    words: Words = field(init=False)
    sources: list[Use] = field(default_factory=list)
    destinations: list[Use] = field(default_factory=list)
    parameter: KernelParameterUse | ParameterUse | None = None

    def __post_init__(self) -> None:
        self.form = self.candidate.form
        self.words = Words(self.candidate.words)

    def operation(self) -> Operation:
        """Return the operation of the form on these operands."""
        given = self.instruction.operands
        if not self.form.required <= len(given) <= len(self.form.operands):
            raise self.operands.mismatch()
        for index, (expected, operand) in enumerate(zip(self.form.operands, given, strict=False)):
            self.words.given.add(expected.name)
            self._operand(expected, operand, writes=index < self.form.writes)
        self._add_implicit_operands()
        is_barrier = self.instruction.opcode == "mbarrier"
        is_remote = is_barrier and self.words.get("space") == "shared::cluster"
        if is_remote and any(not isinstance(use, SinkUse) for use in self.destinations):
            raise OperandMismatch("Sink '_' is expected as a destination with '.shared::cluster'")
        check_words(self.instruction.opcode, self.words)
        return self._finished()

    def _operand(self, expected: OperandForm, operand: tree.Operand, *, writes: bool) -> None:
        match expected.shape:
            case "value":
                self._pair_or_value(expected, operand, writes=writes)
            case "constant":
                self.words.constants[expected.name] = self.operands.integer(operand)
            case "address":
                self._address(expected, operand)
            case "texture":
                self._texture(expected, operand)
            case "tensor":
                self._tensor(expected, operand)
            case "vector":
                self._vector(expected, operand, writes=writes)

    def _vector(self, expected: OperandForm, operand: tree.Operand, *, writes: bool) -> None:
        if isinstance(operand, tree.Pair) and expected.pair is not None:
            self._vector(expected, operand.first, writes=writes)
            self.words.given.add(expected.pair)
            ptx_type = self.words.type_named(expected.second)
            self.destinations.append(self.operands.destination(operand.second, ptx_type))
            return
        if expected.optional and not isinstance(operand, tree.Vector):
            operand = tree.Vector((operand,))  # an offset in one dimension
        if isinstance(operand, tree.Sink) and self.instruction.opcode == "atom":
            length = int(self.words["vec"].removeprefix("v"))
            self.destinations += [SinkUse(self.words.type_of(expected.type, length))] * length
            return
        if isinstance(operand, tree.Integer) and self.instruction.opcode == "mov" and not writes:
            operand = self._constant_vector(operand)
        if not isinstance(operand, tree.Vector):
            raise self.operands.mismatch()
        length = len(operand.elements)
        self.words.counts.append(length)
        vector = self.words.get("vec")
        if vector and length != int(vector[1:]):
            raise self.operands.mismatch()
        has_parts = "part" in (each.type for each in self.form.operands)
        if has_parts and (length not in (2, 4) or self.words.type.bits // length < 8):
            raise self.operands.mismatch()
        matrix = "shape" in self.words and "f16" not in self.words.values()
        halves = not matrix or expected.type == "f16x2"
        self.operands.check_vector(operand.elements, halves=halves)
        for place, element in enumerate(operand.elements):
            self._value(expected, element, self.words.type_of(expected.type, length), writes)
            if isinstance(element, tree.Integer):
                self.words.constants[f"{expected.name}{place}"] = element.value

    def _constant_vector(self, operand: tree.Integer) -> tree.Operand:
        """Return the constant of ``mov.v2.b32 d, 5`` as a vector: its parts, the lowest first.

        As ptxas makes it: elements are not copies of the constant, but a part of its bits each.
        """
        count = self.words.count
        bits = self.words.type.bits // count
        parts = (operand.value >> bits * place & ((1 << bits) - 1) for place in range(count))
        return tree.Vector(tuple(replace(operand, value=part) for part in parts))

    def _texture(self, expected: OperandForm, operand: tree.Operand) -> None:
        """Return object and coordinates of ``[a, {x, y}]``, or ``[a, x]`` in one dimension.

        A separate sampler may precede the coordinates: ``[a, b, {x, y}]``.
        """
        match operand:
            case tree.TupleAddress(tree.Address(tree.Register(name), 0), (given,)):
                self.sources.append(self.operands.register(name, TYPES[expected.type]))
            case tree.TupleAddress(
                tree.Address(tree.Register(name), 0), (tree.Register(sampler), given)
            ):
                self.sources.append(self.operands.register(name, TYPES[expected.type]))
                self.sources.append(self.operands.register(sampler, TYPES[expected.type]))
                self.words.given.add("sampler")
            case _:
                raise self.operands.mismatch()
        vector = given if isinstance(given, tree.Vector) else tree.Vector((given,))
        self.words.counts.append(len(vector.elements))
        self.operands.check_vector(vector.elements, halves=True)
        kind = self.words.type_named(expected.second)
        layered = self.words["geom"].startswith("a")
        for place, element in enumerate(vector.elements):
            layer = layered and place == 0
            self._value(expected, element, TYPES["u32"] if layer else kind, writes=False)

    def _tensor(self, expected: OperandForm, operand: tree.Operand) -> None:
        """Return the address of a tensor map, which has no offset, and the coordinates."""
        match operand:
            case tree.TupleAddress(tree.Address(_, 0) as address, (tree.Vector() as given,)):
                use, _ = self.operands.address(address, TYPES[expected.type], "")
            case _:
                raise self.operands.mismatch()
        self.sources.append(use)
        coordinates = replace(expected, type=expected.second, pair=None)
        self._vector(coordinates, given, writes=False)

    def _pair_or_value(self, expected: OperandForm, operand: tree.Operand, *, writes: bool) -> None:
        if type(operand) is tree.Register and expected.pair is None and not self.form.selects:
            # Most operands: the checks of other ones would take a tenth of the time of decoding.
            operands, ptx_type = self.operands, self.words.type_of(expected.type, 1)
            if writes:
                use = operands.destination(operand, ptx_type, relaxed=expected.relaxed)
                self.destinations.append(use)
            if not writes or expected.updates:
                use = operands.register(operand.name, ptx_type, relaxed=expected.relaxed)
                self.sources.append(use)
            return
        if isinstance(operand, tree.Vector) and len(operand.elements) == 1:
            (operand,) = operand.elements  # ptxas accepts {%r1} as %r1, and Triton emits it
        if not isinstance(operand, tree.Pair):
            if expected.pair is not None and not expected.spare:
                raise self.operands.mismatch()
            self._value(expected, operand, self.words.type_of(expected.type, 1), writes)
            return
        if expected.pair is None:
            raise self.operands.mismatch()
        self._value(expected, operand.first, self.words.type_of(expected.type, 1), writes)
        self.words.given.add(expected.pair)
        ptx_type = self.words.type_named(expected.second)
        self.destinations.append(self.operands.destination(operand.second, ptx_type))

    def _value(
        self, expected: OperandForm, operand: tree.Operand, ptx_type: Type, writes: bool
    ) -> None:
        if expected.name == _METADATA and not isinstance(operand, tree.Register):
            raise self.operands.mismatch()
        if self.form.selects:
            operand = self._selected(expected, operand)
        if writes:
            opcode, paired = self.instruction.opcode, expected.pair or expected.shape == "vector"
            if isinstance(operand, tree.Sink) and not paired and opcode not in ("atom", "mbarrier"):
                what = "Result discard mode is not allowed"
                raise OperandMismatch(f"{what} for instruction '{opcode}'")
            use = self.operands.destination(operand, ptx_type, relaxed=expected.relaxed)
            self.destinations.append(use)
        if not writes or expected.updates:
            if (
                isinstance(operand, tree.Float)
                and ptx_type.kind is TypeKind.BITS
                and self._counts()
            ):
                raise self.operands.mismatch()
            self.sources.append(self.operands.source(operand, ptx_type, relaxed=expected.relaxed))
            known = ptx_type.kind is TypeKind.PREDICATE or expected.name == "size"
            if isinstance(operand, tree.Integer) and known:
                self.words.constants[expected.name] = operand.value

    def _selected(self, expected: OperandForm, operand: tree.Operand) -> tree.Operand:
        """Return a video operand without its minus and its selector, which are recorded."""
        if isinstance(operand, tree.Minus) and expected.minus:
            self.words.negative.add(expected.name)
            operand = operand.operand
        if not isinstance(operand, tree.Register):
            return operand
        name, _, selector = operand.name.rpartition(".")
        if not name or self.operands.scope.find(name) is None:
            return operand
        check_selector(self.form, expected, selector, self.words)
        self.words.selectors[expected.name] = selector
        return tree.Register(name)

    def _counts(self) -> bool:
        """Return whether the instruction is one of integers or predicates."""
        name = self.words.get("type") or self.words.get("atype") or ""
        return name in TYPES and TYPES[name].kind not in (TypeKind.BITS, TypeKind.FLOAT)

    def _address(self, expected: OperandForm, operand: tree.Operand) -> None:
        place = _PLACES.get(expected.name)
        space = self.words.get(place, "") if place else ""
        space = space or self.words.space
        if expected.type == "b32":  # only addresses of tensor memory have 32 bits
            space = "tensor"
        variable = isinstance(operand, tree.Address) and isinstance(
            operand.base, tree.SymbolReference
        )
        if space.startswith("param") and self.instruction.opcode != "prefetch":
            count = int((self.words.get("vec") or "v1")[1:])  # the vector may follow
            self.parameter = self.operands.parameter(operand, self.words.type, count)
            if self.parameter is not None:
                return
            if self.instruction.opcode == "st" and not variable:
                raise OperandMismatch("st.param takes the name of a parameter as its address")
        if self.words.get("unified") and (variable or space not in ("", "global")):
            opcode = self.instruction.opcode
            raise OperandMismatch(f"Illegal use of attribute '.unified' for instruction '{opcode}'")
        if not space and "space" in self.words:
            # An address of a shared or local variable is in that space.
            space = self.words["space"] = self.operands.space_of_symbol(operand)
        use, offset = self.operands.address(operand, TYPES[expected.type], space)
        if space == "tensor" and not (isinstance(use, RegisterUse) and use.type.bits == 32):
            raise self.operands.mismatch()
        self.sources.append(use)
        self.words.offsets.append(offset)

    def _add_implicit_operands(self) -> None:
        """Add the carry flag, and the rank of the block where shared addresses have one."""
        if self.form.opcode == "isspacep" and self.words["space"] in ("shared", "shared::cta"):
            self.sources += self.operands.own_rank()
        if not (self.form.reads_carry or self.form.writes_carry):
            return
        slot = self.operands.declarations.implicit(CARRY, "pred", Role.REGISTER)
        use = RegisterUse(slot, TYPES["pred"])
        if self.form.reads_carry:
            self.sources.append(use)
        if self.form.writes_carry:
            self.destinations.append(use)

    def _finished(self) -> Operation:
        site, sources = self.operands.site, tuple(self.sources)
        destinations = tuple(self.destinations)
        if self.parameter is not None:
            return self._parameter_copy(self.parameter)
        if self.form.action is not None:
            if self.form.opcode == "wgmma" and sources and _is_false(sources[-1]):
                sums = sources[: len(destinations)]  # which are not read
                sources = (*map(_zeros, sums), *sources[len(destinations) :])
            return Action(self.form.action(self.words), sources, destinations, site)
        function = self.candidate.function(self.words)
        operation = Lanewise(function, sources, destinations, site, self.candidate.name)
        if not algebra.enabled:
            return operation
        from cudarun.emulator.isa.algebra import in_residues  # few launches need it

        return in_residues(operation, self.form.opcode, self.words)

    def _parameter_copy(self, first: KernelParameterUse | ParameterUse) -> Lanewise:
        """Return ``ld.param`` or ``st.param`` at a constant offset as a register copy."""
        count, step, site = self.words.count, self.words.type.bytes, self.operands.site
        places = tuple(replace(first, offset=first.offset + n * step) for n in range(count))
        function = copy if count == 1 else copy_all
        if self.form.opcode == "ld":
            return Lanewise(function, places, tuple(self.destinations), site)
        return Lanewise(function, tuple(self.sources[:count]), places, site)


def _is_false(use: Use) -> bool:
    return isinstance(use, ConstantUse) and not use.value.any()


def _zeros(use: Use) -> Use:
    if isinstance(use, RegisterUse) and use.type.elements == 1:
        return ConstantUse(np.zeros(1, use.type.dtype))
    return use
