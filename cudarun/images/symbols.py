"""The symbols of linker inputs: definitions and references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.images.contents import Data
from cudarun.images.facts import OF_THE_DRIVER
from cudarun.images.fatbin import best_entry, read_entries
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.ptx_facts import ptx_text
from cudarun.images.reader import fatbins_in
from cudarun.ptx.parser import parse
from cudarun.ptx.tree import Module

Role = Literal["defined", "weak", "wanted"]


@dataclass(frozen=True, slots=True)
class LinkSymbol:
    """A symbol of an input; a ``weak`` definition can be replaced by another one.

    ``line`` is its line in a PTX text, from 1.
    """

    name: str
    role: Role
    line: int | None = None


def link_symbols(data: Data, origin: str, architecture: int) -> tuple[LinkSymbol, ...]:
    """Return the global symbols of an input.

    Args:
        origin: Its name in messages.
        architecture: 90 for sm_90; selects the entry of a fatbin.

    Returns:
        Nothing if the input cannot be read: LTO-IR, PTX that does not parse, a damaged file.
        The linker reports the errors of those.
    """
    try:
        return tuple(_symbols(data, origin, architecture))
    except ImageRefused:
        return ()


_NAME = re.compile(r"[\w$%]+")


def _symbols(data: Data, origin: str, architecture: int) -> Iterator[LinkSymbol]:
    kind = identify(data)
    if kind is ImageKind.PTX:
        text = ptx_text(bytes(data))
        mentions = Counter(_NAME.findall(text))
        for each in _declared(parse(text)):
            if each.role != "wanted" or mentions[each.name] > 1:  # else it is declared only
                yield each
    elif kind is ImageKind.CUBIN:
        from cudarun.images.cubin import linkable
        from cudarun.images.elf import read_elf

        for symbol in linkable(read_elf(data, origin, ImageKind.CUBIN)):
            role: Role = "weak" if symbol.binding == "STB_WEAK" else "defined"
            yield LinkSymbol(symbol.name, role if symbol.is_defined else "wanted")
    elif kind in CONTAINERS:
        for fatbin in fatbins_in(data, origin):
            entry = best_entry(architecture, read_entries(fatbin, origin))
            if entry is not None:
                yield from _symbols(entry.content(origin), origin, architecture)


# Linkage directives of PTX, section 11.6; without one a symbol is its file's own.
_ROLES: dict[str, Role] = {
    "visible": "defined",
    "weak": "weak",
    "common": "weak",
    "extern": "wanted",
}


def _declared(module: Module) -> Iterator[LinkSymbol]:
    """Yield the symbols that a text declares."""
    defined = {function.name for function in module.functions if function.body is not None}
    for function in module.functions:
        if function.body is None:
            is_wanted = function.linkage == "extern" and function.name not in OF_THE_DRIVER
            if is_wanted and function.name not in defined:
                yield LinkSymbol(function.name, "wanted", function.position.line)
        elif function.is_entry or function.linkage in ("visible", "weak"):
            own: Role = "weak" if function.linkage == "weak" else "defined"
            yield LinkSymbol(function.name, own, function.position.line)
    for variable in module.variables:
        role = _ROLES.get(variable.linkage or "")
        if role is not None and not (role == "wanted" and variable.space == "shared"):
            yield LinkSymbol(variable.name, role, variable.position.line)
