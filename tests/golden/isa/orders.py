"""Every recorded instruction with its modifiers in other orders.

Forms with at most four modifiers are tried in all orders, others in the given one and in 24 that
are chosen at random, always the same. Each variant is one line of a module, so that a compiler's
log tells them apart.
"""

from __future__ import annotations

import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.golden import map_fields, tensor_kernels
from tests.golden.isa.case import Case
from tests.golden.isa.enumeration import CHAPTERS, cases
from tests.golden.isa.kernel import HEAD, declarations

RECORD = Path(__file__).parent.parent / "modifier-orders.xz"
VERSION, TARGET = "9.0", "sm_90a"
OTHERS = "others"
"""The chapter of instructions that no case has."""

_ALL = 4  # modifiers of which every order is tried
_CHOSEN = 24
_FIRST, _STEP = 12, 16  # of like forms, these many first ones and one of so many more
_INSTRUCTION = re.compile(r"(?<![\w.%$])([a-z]\w*)((?:\.[\w:]+)+)(?=[\s;])")
_DECLARATIONS = ("reg", "shared", "local")
_TEXEL = "{%t0, %t1, %t2, %t3}, [%w0, {%t4, %t5}]"
# Instructions of rows that no case has: they need a texture, or change what the kernel may use.
_OTHERS = (
    f"tex.2d.v4.f32.f32 {_TEXEL};",
    f"tex.base.2d.v4.u32.s32 {_TEXEL};",
    f"tex.level.2d.v4.f32.f32 {_TEXEL}, %t6;",
    f"tex.grad.2d.v4.f32.f32 {_TEXEL}, {{%t6, %t7}}, {{%t6, %t7}};",
    "txq.width.b32 %t0, [%w0];",
    "setmaxnreg.inc.sync.aligned.u32 40;",
    "setmaxnreg.dec.sync.aligned.u32 40;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    " [%t0], [%t1], 16, [%t2];",
    "prefetch.tensormap [%w0];",
    "prefetch.const.tensormap [%w0];",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%w0], [%t0], 128;",
    "fence.proxy.tensormap::generic.release.gpu;",
    "fence.proxy.tensormap::generic.acquire.gpu [%w0], 128;",
)


@dataclass(frozen=True)
class Variant:
    """An instruction with its modifiers in one order, in its case."""

    form: str
    modifiers: tuple[str, ...]
    case: Case

    @property
    def name(self) -> str:
        """The instruction as it is written."""
        return ".".join((self.form.split(".")[0], *self.modifiers))

    @property
    def line(self) -> str:
        """A scope with the registers and the text of the case, in one line."""
        text = " ".join([*declarations(self.case), *self.case.text.split("\n")])
        return f"{{ {text} }}"


@cache
def forms(*, every: bool = False) -> Mapping[str, Mapping[str, tuple[Case, int]]]:
    """By chapter, instructions that no chapter before has: a case, and the place in its text.

    Without ``every`` only some of the many that have as many modifiers of the same opcode.
    """
    seen: set[str] = set()
    like: Counter[tuple[str, int]] = Counter()
    found: dict[str, dict[str, tuple[Case, int]]] = {}
    for chapter, known in [*((name, cases(name)) for name in CHAPTERS), (OTHERS, _others())]:
        own = found[chapter] = {}
        for case in known:
            for instruction in _INSTRUCTION.finditer(case.text):
                name, opcode = instruction[0], instruction[1]
                if opcode in _DECLARATIONS or name in seen:
                    continue
                seen.add(name)
                kind = opcode, name.count(".")
                like[kind] += 1
                if every or like[kind] <= _FIRST or like[kind] % _STEP == 0:
                    own[name] = case, instruction.start()
    return found


def _others() -> list[Case]:
    return [Case(text, text, (), ()) for text in (*_OTHERS, *_tensors())]


# The registers of cases, by those of the kernels of tensor memory access.
_REGISTERS = {
    **{f"c{place}": f"t{place + 1}" for place in range(5)},
    **{f"x{place}": f"t{place + 1}" for place in range(4)},
    **{f"y{place}": f"w{place + 2}" for place in range(4)},
    **{f"o{place}": f"h{place}" for place in range(3)},
    "dst": "t0",
    "there": "t0",
    "bar": "t6",
    "bart": "t6",
    "size": "t7",
    "m": "h3",
    "map": "w0",
    "g": "w1",
}


def _tensors() -> Iterator[str]:
    """Yield the instructions of the kernels of tensor memory access, with registers of cases."""
    for text in tensor_kernels.forms().values():
        yield re.sub(r"%(\w+)", lambda name: f"%{_REGISTERS[name[1]]}", text)
    for field in map_fields.fields():
        text = field.instruction("%t0" if field.space == "shared" else "%w0")
        yield text.replace("%w,", "%w1,").replace("%w;", "%w1;").replace("%v;", "%t1;")


def variants(chapter: str, *, every: bool = False) -> list[Variant]:
    """All variants of a chapter's forms; the orders of a form are sorted."""
    return list(_variants(forms(every=every)[chapter]))


def _variants(chosen: Mapping[str, tuple[Case, int]]) -> Iterator[Variant]:
    for form, (case, start) in chosen.items():
        opcode, *modifiers = form.split(".")
        for order in _orders(form, tuple(modifiers)):
            name = ".".join((opcode, *order))
            text = case.text[:start] + name + case.text[start + len(form) :]
            yield Variant(form, order, replace(case, text=text))


def _orders(form: str, modifiers: tuple[str, ...]) -> list[tuple[str, ...]]:
    if len(modifiers) <= _ALL:
        return sorted(set(permutations(modifiers)))
    chance, chosen = random.Random(form), {modifiers}
    for _ in range(_CHOSEN):  # words may repeat, and then there are few orders
        chosen.add(tuple(chance.sample(modifiers, len(modifiers))))
    return sorted(chosen)


def module(chosen: Sequence[Variant]) -> tuple[str, int]:
    """A module with a line for each variant, and the number of the first of these lines."""
    head = HEAD.format(version=VERSION, target=TARGET).splitlines()
    lines = [*head, *(variant.line for variant in chosen), "ret;", "}", ""]
    return "\n".join(lines), len(head) + 1


def refusals(chosen: Sequence[Variant]) -> dict[int, str]:
    """The emulated device's complaints about variants, by their indices."""
    text, first = module(chosen)
    try:
        compile_module(parse(text))
    except PtxError as error:
        return {found.position.line - first: found.message for found in error.diagnostics}
    return {}


# --- the record ----------------------------------------------------------------------------------


def write(verdicts: Mapping[str, str]) -> None:
    """Write the record: each form with a letter for each order, ``y`` where ptxas takes it."""
    text = "".join(f"{form} {letters}\n" for form, letters in verdicts.items())
    RECORD.write_bytes(lzma.compress(text.encode(), preset=9))


@cache
def recorded() -> Mapping[str, str]:
    """The letters of each form in the record."""
    lines = lzma.decompress(RECORD.read_bytes()).decode().splitlines()
    return dict(line.split(" ") for line in lines)
