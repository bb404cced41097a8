"""Cases of the instructions that compute lane by lane, made from the tables themselves.

Every way to fill in a row is a case: each type, rounding and modifier. Where a row has too many,
its words take turns instead of meeting all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cudarun.emulator.isa.form import InstructionForm, OperandForm
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words
from tests.golden.isa.case import Case

_MOST = 130  # cases of a row; beyond, some of its words take turns
_AMOUNTS = {
    ("shl", "b"), ("shr", "b"), ("shf", "c"), ("bfe", "b"), ("bfe", "c"), ("bfi", "c"),
    ("bfi", "e"), ("szext", "b"), ("bmsk", "a"), ("bmsk", "b"), ("fns", "b"),
}  # fmt: skip
_EVERY = {"e4m3x2", "e5m2x2"}


def cases(forms: tuple[InstructionForm, ...]) -> Iterator[Case]:
    """The cases of the rows that compute lane by lane; others have builders of their own."""
    for form in forms:
        if form.action is None and _plain(form):
            yield from _of_form(form)


def _plain(form: InstructionForm) -> bool:
    return all(operand.shape == "value" for operand in form.operands) and form.writes == 1


def _of_form(form: InstructionForm) -> Iterator[Case]:
    for index, modifiers in enumerate(spellings(form)):
        words = form.match(modifiers)
        if words is None:
            continue  # words that do not go together
        name = ".".join((form.opcode, *modifiers))
        whole = sum(not operand.optional for operand in form.operands)
        yield _case(form, words, name, form.operands[:whole], paired=index % 2 == 0)


def spellings(form: InstructionForm, most: int = _MOST) -> Iterator[tuple[str, ...]]:
    """The modifiers of the instructions that a row stands for."""
    choices = [
        [*sorted(form.classes.get(word, {word})), *([""] if optional else [])]
        for word, optional in form.words
    ]
    total = 1
    for choice in choices:
        total *= len(choice)
    step = -(-total // most)
    for number, words in enumerate(product(*choices)):
        places = (choice.index(word) for choice, word in zip(choices, words, strict=True))
        if step == 1 or sum(places) % step == number // total % step:
            yield tuple(".".join(filter(None, words)).split("."))


def _case(
    form: InstructionForm,
    words: Words,
    name: str,
    operands: tuple[OperandForm, ...],
    *,
    paired: bool,
) -> Case:
    sources: list[str] = []
    results: list[str] = []
    given: list[str] = []
    for place, operand in enumerate(operands):
        ptx_type = words.type_named(operand.type)
        if place < form.writes:
            given.append(f"%d{len(results)}")
            results.append(_result(ptx_type, relaxed=operand.relaxed))
            if operand.pair is not None and (paired or not operand.spare):
                given[-1] += f"|%d{len(results)}"
                results.append(operand.second)
        else:
            given.append(f"%a{len(sources)}")
            sources.append(_pool(form.opcode, operand, ptx_type))
    if len(sources) == 1 and ":" not in sources[0] and sources[0] != "pred":
        sources[0] += ":one"
    if form.opcode in ("sin", "cos"):
        sources = ["f32:angle"]
    text = f"{name} {', '.join(given)};"
    if form.reads_carry:
        sources.append("u32")
        text = f"{_set_carry(form, len(sources) - 1)} {text}"
    if form.writes_carry:
        text += f" {'subc' if form.opcode.startswith('sub') else 'addc'}.u32 %d1, 0, 0;"
        results.append("u32")
    return Case(name, text, tuple(sources), tuple(results))


def _set_carry(form: InstructionForm, source: int) -> str:
    """A carry where the source is not 0, or a borrow."""
    if form.opcode.startswith("sub"):
        return f"sub.cc.u32 %t0, 0, %a{source};"
    return f"add.cc.u32 %t0, %a{source}, 0xFFFFFFFF;"


def _pool(opcode: str, operand: OperandForm, ptx_type: Type) -> str:
    if (opcode, operand.name) in _AMOUNTS:
        return "amount"
    if ptx_type.name in _EVERY:
        return "u16:every"
    if operand.relaxed and ptx_type.bits < 32 and ptx_type.kind is not TypeKind.FLOAT:
        return "u32"  # a wider register, whose upper bits do not count
    return ptx_type.name


def _result(ptx_type: Type, *, relaxed: bool) -> str:
    if relaxed and ptx_type.bits < 32 and ptx_type.kind is not TypeKind.FLOAT:
        return "s32" if ptx_type.signed else "u32"
    return ptx_type.name
