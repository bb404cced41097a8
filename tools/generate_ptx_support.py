"""Write ``docs/reference/ptx-support.md``: the PTX that the emulated device supports.

Every instruction of the manual is there, with the rows of the tables that belong to it, or with the
word that it is refused. `tests/test_ptx_support.py` keeps the document up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from cudarun.emulator.isa.form import InstructionForm, OperandForm
from cudarun.emulator.isa.table import module_forms
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS
from tools.ptx_chapters import (
    CHAPTERS,
    CONTROL_FORMS,
    REFUSED_FOR_LATER,
    REFUSED_FOR_SM_90,
    REFUSED_FOR_VERSIONS,
    Chapter,
    RefusedForms,
)

ROOT = Path(__file__).resolve().parent.parent
_ATTRIBUTE = "unified"  # it follows an address
TARGET = ROOT / "docs" / "reference" / "ptx-support.md"

_HEAD = """\
# PTX on the emulated device

Written by `python -m tools.generate_ptx_support` from the instruction tables in
`cudarun/emulator/isa`: change those, not this file.

The device `cpu` has architecture sm_90, and with a [profile](profiles.md) that of another GPU. It
accepts every `.version` up to 9.5 and implements PTX
9.0, and of later versions the conversions and arithmetic of 9.1 and 9.2, `clmad` and `.mmio` with
`.acquire` and `.release` of 9.3, and `.2pi` of 9.5. This page lists the instructions
by the manual's sections, with the supported forms in the manual's notation. Parts in
braces are optional. `cudarun/emulator/isa/required_versions.txt` has the `.target` and `.version`
that a form needs, as ptxas decides it. A dotted word is either literal
or one of the words listed below the line.
Modifiers can be in any order that ptxas takes: words of the instruction's name come first
(`mul.wide`, `cp.async.bulk`), types, state spaces and layouts keep their order among themselves,
and all others are free, as in `ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16`.

Everything else is refused. An instruction or modifier that is not in the PTX ISA refuses the module
when it is loaded, with the message of ptxas. An unsupported one is *not implemented* and refuses
the kernels that can reach it: `cudarun load` lists them with the lines, and `cudarun launch` runs
the others. The device does not silently skip or approximate an instruction.

The recorded results of all forms that an H200 has are bit-identical to its results, approximations
included ([accuracy](../explanation/accuracy.md)). Forms of other GPUs are not recorded:
[other architectures](../explanation/accuracy.md#other-architectures).
[`tests/golden/`](../../tests/golden/README.md) describes
the recordings from a GPU and the comparison of each form.
"""


def document() -> str:
    """The whole document."""
    parts = [_HEAD, _summary(), *map(_section, CHAPTERS), _refused_forms(), _registers()]
    return "\n".join(parts)


def belongs(chapter: Chapter) -> dict[str, list[str]]:
    """The lines of each instruction of a chapter; none for those that are refused."""
    found: dict[str, list[str]] = {name: [] for name in chapter.instructions}
    for module, rows in module_forms().items():
        if module in chapter.tables:
            for row in rows:
                name = _name_of(row.opcode, [w for w, _ in row.words], chapter)
                if name is not None:
                    found[name] += _row(row)
    if "control" in chapter.tables:
        for line in CONTROL_FORMS:
            head = line.split()[0].replace("{.cta}", "").replace("{", "").replace("}", "")
            opcode, *words = head.split(".")
            name = _name_of(opcode, words, chapter)
            if name is not None:
                found[name].append(f"{line};")
    return found


def _name_of(opcode: str, words: list[str], chapter: Chapter) -> str | None:
    """What a chapter calls an instruction with these words, unless another has a nearer name."""
    parts = {*words, *(word.split("::")[0] for word in words)}
    fitting = {
        name
        for other in CHAPTERS
        for name in other.instructions
        if name.split(".")[0] == opcode and set(name.split(".")[1:]) <= parts
    }
    nearest = max(fitting, key=lambda name: name.count("."), default=None)
    return nearest if nearest in chapter.instructions else None


# --- rows in the manual's notation ---------------------------------------------------------------


def _row(row: InstructionForm) -> list[str]:
    words = "".join(
        f"{{.{word}}}" if optional else f".{word}" for word, optional in row.words
        if word != _ATTRIBUTE
    )  # fmt: skip
    attribute = any(word == _ATTRIBUTE for word, _ in row.words)
    operands = ""
    for place, operand in enumerate(row.operands):
        text = ("" if place == 0 else ", ") + _operand(operand)
        if attribute and operand.shape == "address":
            text += f"{{.{_ATTRIBUTE}}}"
        operands += f"{{{text}}}" if operand.optional else text
    line = f"{row.opcode}{words}  {operands}".rstrip() + ";"
    selectors = [operand.selector for operand in row.operands if operand.selector]
    used = [word for word in [*(word for word, _ in row.words), *selectors] if word in row.classes]
    return [line, *(f"    .{word} = {_choices(row.classes[word])}" for word in used)]


def _operand(operand: OperandForm) -> str:
    name = operand.name
    if operand.shape in ("texture", "tensor"):
        return f"[{name}, {{{operand.pair}, ...}}]"
    if operand.pair is not None:
        name += f"{{|{operand.pair}}}" if operand.spare else f"|{operand.pair}"
    if operand.selector:
        name += f"{{.{operand.selector}}}"
    if operand.minus:
        name = f"{{-}}{name}"
    return {"address": f"[{name}]", "vector": f"{{{name}, ...}}"}.get(operand.shape, name)


def _choices(words: frozenset[str]) -> str:
    def order(word: str) -> tuple[str, int, str]:
        digits = "".join(filter(str.isdigit, word))
        return word[:1] if digits else "", int(digits or 0), word

    return "{ " + ", ".join(f".{word}" for word in sorted(words, key=order)) + " }"


# --- the parts of the document -------------------------------------------------------------------


def _summary() -> str:
    lines = ["| section | supported | refused |", "|---|---|---|"]
    for chapter in CHAPTERS:
        found = belongs(chapter)
        taken = sum(1 for rows in found.values() if rows)
        lines.append(
            f"| [{chapter.section} {chapter.title}](#{_anchor(chapter)}) | {taken} "
            f"| {len(found) - taken} |"
        )
    return "\n".join([*lines, ""])


def _anchor(chapter: Chapter) -> str:
    heading = f"{chapter.section} {chapter.title}".lower()
    return "".join(c for c in heading if c.isalnum() or c in " -").replace(" ", "-")


def _section(chapter: Chapter) -> str:
    lines = [f"## {chapter.section} {chapter.title}", ""]
    found = belongs(chapter)
    for name, rows in found.items():
        if rows:
            lines += [f"### {name}", "", "```text", *_without_repetition(rows), "```", ""]
    refused = [f"`{name}`" for name, rows in found.items() if not rows]
    if refused:
        lines += [f"Refused: {', '.join(refused)}.", ""]
    return "\n".join(lines)


def _without_repetition(rows: list[str]) -> Iterator[str]:
    """The lines; what a word stands for is told once where lines that follow have the same."""
    last: dict[str, str] = {}
    for line in rows:
        name, _, words = line.partition(" = ")
        if not words:
            yield line
        elif last.get(name) != words:
            last[name] = words
            yield line


def _refused_forms() -> str:
    lines = ["## Refused forms", "", "Forms that ptxas accepts for sm_90:", ""]
    lines += [*_reasons(REFUSED_FOR_SM_90), "", "Forms of later architectures:", ""]
    title = "Forms of later versions of PTX, for sm_75 to sm_121:"
    lines += [*_reasons(REFUSED_FOR_LATER), "", title]
    return "\n".join([*lines, "", *_reasons(REFUSED_FOR_VERSIONS), ""])


def _reasons(rows: tuple[RefusedForms, ...]) -> Iterator[str]:
    yield from ("| forms | reason |", "|---|---|")
    for row in rows:
        yield f"| {', '.join(f'`{form}`' for form in row.forms)} | {row.reason} |"


def _registers() -> str:
    many = ("%envreg", "%pm")
    names = ", ".join(f"`{name}`" for name in SPECIAL_REGISTERS if not name.startswith(many))
    return (
        f"## 10 Special registers\n\nSupported: {names}, `%envreg0` to `%envreg31`, and `%pm0` to "
        "`%pm7` and `%pm0_64` to `%pm7_64`, which are 0 as on a GPU without a profiler.\n"
    )


def main() -> int:
    """Write the document, and say so when that changed it."""
    text = document()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
