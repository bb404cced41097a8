"""All instruction forms by opcode."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import field
from functools import cache, lru_cache
from importlib import import_module

from cudarun.base.records import dataclass
from cudarun.emulator.isa.form import InstructionForm
from cudarun.emulator.isa.modifiers import misplaced
from cudarun.emulator.numerics.temporaries import Function
from cudarun.emulator.words import Words

# The instructions of each module of the tables: opcodes, with the words that all of its rows have.
_INSTRUCTIONS = {
    name: tuple(names.split())
    for name, names in {
        "integer": "abs add addc bfe bfi bfind bmsk brev clz div dp2a dp4a fns mad mad24 madc max "
        "min mul mul24 neg popc rem sad sub subc szext",
        "floating": "abs add copysign cos div ex2 fma lg2 mad max min mul neg rcp rsqrt sin sqrt "
        "sub tanh testp",
        "half": "abs add ex2 fma max min mul neg sub tanh",
        "later_integer": "add.s8x4 add.sat add.u8x4 clmad max.s8x4 max.u8x4 min.s8x4 min.u8x4 "
        "neg.s8x4 sub.s8x4 sub.u8x4",
        "later_floating": "add.f32x2 cos.2pi fma.f32x2 max.f32 min.f32 mul.f32x2 sin.2pi sub.f32x2",
        "mixed_precision": "add.f32.bf16 add.f32.f16 fma.f32.bf16 fma.f32.f16 sub.f32.bf16 "
        "sub.f32.f16",
        "compare": "selp set setp slct",
        "logic": "and cnot lop3 not or prmt shf shl shr xor",
        "convert": "cvt",
        "narrow": "cvt.e2m1x2 cvt.e2m3x2 cvt.e3m2x2 cvt.e4m3x2.bf16x2 cvt.e5m2x2.bf16x2 cvt.rs "
        "cvt.s2f6x2 cvt.satfinite.tf32 cvt.ue8m0x2",
        "move": "cvta isspacep mov",
        "memory": "cp.async ld ldu prefetch prefetchu st",
        "atomics": "atom fence membar red",
        "warp": "activemask elect match redux shfl vote",
        "matrix": "ldmatrix mma movmatrix stmatrix wmma",
        "warpgroup": "wgmma",
        "mbarrier": "cp.async.mbarrier mbarrier",
        "bulk": "cp.async.bulk red.async st.async st.bulk",
        "tensor": "cp.async.bulk.tensor fence.proxy prefetch.tensormap tensormap",
        "tensor_memory": "tcgen05",
        "cluster": "clusterlaunchcontrol getctarank mapa",
        "stack": "alloca stackrestore stacksave",
        "scalar_video": "vabsdiff vadd vmad vmax vmin vset vshl vshr vsub",
        "texture": "istypep suld suq sured sust tex tld4 txq",
        "video": "vabsdiff2 vabsdiff4 vadd2 vadd4 vavrg2 vavrg4 vmax2 vmax4 vmin2 vmin4 vset2 "
        "vset4 vsub2 vsub4",
        "hints": "applypriority createpolicy discard griddepcontrol nanosleep pmevent setmaxnreg",
    }.items()
}


@cache
def opcodes(module: str | None = None) -> frozenset[str]:
    """Return the opcodes that have rows, of one module or of all."""
    modules = _INSTRUCTIONS if module is None else (module,)
    return frozenset(name.split(".")[0] for each in modules for name in _INSTRUCTIONS[each])


def module_forms() -> dict[str, tuple[InstructionForm, ...]]:
    """Return all rows by module."""
    return {name: _rows(name) for name in _INSTRUCTIONS}


@cache
def forms(opcode: str) -> tuple[InstructionForm, ...]:
    """Return the rows of an opcode."""
    return tuple(_forms(opcode, None))


def _forms(opcode: str, modifiers: tuple[str, ...] | None) -> Iterator[InstructionForm]:
    """Return the rows of an opcode that can have these modifiers.

    Only the modules that have such rows are imported: all of them take a third of a launch.
    """
    for module, names in _INSTRUCTIONS.items():
        parts = (name.split(".") for name in names)
        if any(
            first == opcode and (modifiers is None or set(words).issubset(modifiers))
            for first, *words in parts
        ):
            yield from (form for form in _rows(module) if form.opcode == opcode)


def _rows(module: str) -> tuple[InstructionForm, ...]:
    rows: tuple[InstructionForm, ...] = import_module(f"{__package__}.{module}").FORMS
    return rows


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form that has the modifiers of an instruction."""

    form: InstructionForm
    words: Words  # the modifiers by the words of the form's syntax line
    name: str  # the instruction with its modifiers in the order of that line
    _made: dict[Hashable, Function] = field(default_factory=dict)

    def function(self, words: Words) -> Function:
        """Return the function over lanes of an instruction; those with equal words have one."""
        make = self.form.make
        if make is None:
            assert self.form.function is not None
            return self.form.function
        key = words.operands
        function = self._made.get(key)
        if function is None:
            function = self._made[key] = make(words)
        return function


@lru_cache(maxsize=4096)
def candidates(opcode: str, modifiers: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return the forms that have these modifiers; they differ in their operands."""
    return tuple(_candidates(opcode, modifiers)) if misplaced(opcode, modifiers) is None else ()


def _candidates(opcode: str, modifiers: tuple[str, ...]) -> Iterator[Candidate]:
    for form in _forms(opcode, modifiers):
        words = form.match(modifiers)
        if words is not None:
            parts = (part for word, _ in form.words for part in word.split("."))
            given = (words[part] for part in parts)
            yield Candidate(form, words, ".".join((opcode, *filter(None, given))))
