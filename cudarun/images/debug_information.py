"""The parameters of kernels in the debug information of an image: names, types, members.

``nvcc -G`` writes it as sections of a cubin and of PTX, and marks the entries of a fatbin that
contain it. ``-lineinfo`` writes lines only. It is read for one kernel at a time, on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from cudarun.base.errors import ImageRefused
from cudarun.images.contents import Data
from cudarun.images.debug_sections import ptx_sections
from cudarun.images.debug_types import DebugParameter, debug_parameters
from cudarun.images.demangler import demangle
from cudarun.images.dwarf import Dwarf, UnusableDwarf
from cudarun.images.elf import read_elf
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.parameters import Parameter
from cudarun.images.reader import image_entries

_SECTION = ".debug_info"
_SECTIONS = (
    _SECTION, ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets",
    ".debug_addr", ".debug_loclists", ".debug_rnglists",
)  # fmt: skip


class DebugInformation:
    """The debug information of an image."""

    def __init__(self, data: Data, limit: int | None = None) -> None:
        self._data = data  # the image: PTX, a cubin, or a container of them
        self._limit = limit  # the most bytes of all code in a container when decompressed

    def describe(
        self, kernel: str, parameters: Sequence[Parameter]
    ) -> tuple[tuple[Parameter, ...], str | None]:
        """Return a kernel's parameters with their names, types and members.

        The debug information is used only if it has as many parameters, of the same sizes.

        Args:
            parameters: The parameters, with the facts that the driver or the file has.

        Returns:
            The parameters, and a note if the debug information is not usable.
        """
        note = None
        for dwarf in self._parts if parameters else ():
            try:
                found = debug_parameters(dwarf, kernel)
            except UnusableDwarf as error:
                note = f"{error}: no parameter names"
                continue
            if not found:  # without parameters, as of line tables alone
                continue
            problem = _disagreement(found, parameters)
            if problem is None:
                is_c = demangle(kernel) == kernel
                described = tuple(
                    replace(
                        own,
                        name=own.name or other.name,
                        # C++ types of mangled names remain.
                        type=other.type
                        if is_c or own.type is None or other.is_enumeration
                        else own.type,
                        members=other.members,
                    )
                    for own, other in zip(parameters, found, strict=True)
                )
                return described, None
            note = f"{demangle(kernel)}: the debug information is not used: {problem}"
        return tuple(parameters), note

    @cached_property
    def _parts(self) -> list[Dwarf]:
        return [Dwarf(sections) for sections in _sections(self._data, self._limit)]


def _sections(data: Data, limit: int | None) -> Iterator[Mapping[str, bytes]]:
    """Yield the sections with debug information of each image, machine code first."""
    kind = identify(data)
    if kind in CONTAINERS:
        try:
            entries = image_entries(data, "", limit)
            marked = [each for each in entries if each.has_debug and not each.is_scrambled]
            for entry in sorted(marked, key=lambda each: each.kind is ImageKind.PTX):
                yield from _sections(entry.content(""), limit)
        except ImageRefused:  # damaged, or no decompressor: the driver decides
            return
    elif _SECTION.encode() not in data:
        return
    elif kind is ImageKind.CUBIN:
        try:
            named = read_elf(data, "", kind, symbols=False).named
        except ImageRefused:
            return
        yield {name: bytes(named[name].data) for name in _SECTIONS if name in named}
    elif kind is ImageKind.PTX:
        yield ptx_sections(bytes(data), _SECTIONS)


def _disagreement(found: Sequence[DebugParameter], parameters: Sequence[Parameter]) -> str | None:
    """Return the contradiction between debug information and layout; ``None`` without one."""
    if len(found) != len(parameters):
        return f"it has {len(found)} of {len(parameters)} parameters"
    for debugged, parameter in zip(found, parameters, strict=True):
        if debugged.size != parameter.size:
            size = "an unknown size" if debugged.size is None else f"{debugged.size} bytes"
            label = debugged.name or parameter.label
            return f"{label} has {size} in it, {parameter.size} bytes in the kernel"
    return None
