"""Cubins: machine code in an ELF file.

The format is not documented. It was derived from kernels compiled with ptxas 12.4 and 13.0 for
sm_75 to sm_120, their sources and the output of ``ptxas -v``; the tests compare with such files.

- ``e_machine`` is 190. In the older ABI (``EI_OSABI`` 51) the low byte of ``e_flags`` is the
  architecture and bit 11 the suffix ``a``; in that of CUDA 13 (65) bits 8 to 15 are the
  architecture, and record 9 of ``.nv.compat`` is 1 for the suffix ``a``. No sign of the suffix
  ``f`` was found.
- A kernel is a function symbol with bit 0x10 in ``st_other``; its code is in ``.text.<kernel>``. A
  managed variable is an object symbol with bit 0x04. Variables lie in ``.nv.global`` (zero),
  ``.nv.global.init`` and ``.nv.constant3``.
- ``.nv.info`` (on the module) and ``.nv.info.<kernel>`` are sequences of records: a format byte, an
  attribute byte, and a half word that is the value or, in format 4, the size of what follows.
- ``.note.nv.tkinfo`` (CUDA 13) names the tools that made it, the last one first, in strings: the
  tool, its release, its build, its options. Older ones have no such section.
- Of a kernel, FRAME_SIZE is its own frame and MIN_STACK_SIZE that with the frames of all it calls,
  which the driver gives as its local memory; -1 where recursion leaves it open. The linker writes
  the latter, from the pairs of caller and callee in ``.nv.callgraph`` (symbol indices, in groups
  that pairs of 0 and a negative number begin).
- ``.nv.shared.<kernel>`` is the static shared memory. Linked code for sm_90 and later has 1024
  bytes more there, which the driver reserves in every block.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from enum import IntEnum
from math import prod

from cudarun.images.contents import Buffer, CodeBytes
from cudarun.images.demangler import demangle, parameter_types
from cudarun.images.elf import Elf, ElfSection, ElfSymbol, read_elf
from cudarun.images.facts import OF_THE_DRIVER, Extent, ImageFacts, KernelFacts, VariableFacts
from cudarun.images.kinds import Damaged, ImageKind, refused_if_damaged
from cudarun.images.parameters import Parameter

_TRUNCATED = "a record of .nv.info is truncated"
_OLD_OS_ABI = 51
_ENTRY = 0x10  # st_other of a kernel
_MANAGED = 0x04  # st_other of a managed variable
_RESERVED_SHARED_BYTES = 1024
_FIRST_WITH_RESERVED_SHARED = 90
_TOOLKIT = re.compile(rb"\0(\w+)\0Cuda compilation tools, release ([\d.]+, V[\d.]+)\0")
_SPACES = {".nv.global": "global", ".nv.global.init": "global", ".nv.constant3": "const"}


class Attribute(IntEnum):
    """The attributes in ``.nv.info`` that are read (``EIATTR_…`` in cuobjdump)."""

    MAX_THREADS = 0x05  # x, y, z
    REQNTID = 0x10  # x, y, z
    FRAME_SIZE = 0x11  # symbol index, bytes
    MIN_STACK_SIZE = 0x12  # symbol index, bytes; of linked code
    KPARAM_INFO = 0x17  # index, ordinal and offset, then the size in bits 18 to 31
    REGCOUNT = 0x2F  # symbol index, registers
    CTA_PER_CLUSTER = 0x3D  # x, y, z
    KPARAM_INFO_V2 = 0x45  # the same where sizes need more bits: index, ordinal and offset, size


_EXTENTS = (Attribute.MAX_THREADS, Attribute.REQNTID, Attribute.CTA_PER_CLUSTER)
_VALUE_BYTES: dict[int, int] = {
    **dict.fromkeys((Attribute.FRAME_SIZE, Attribute.MIN_STACK_SIZE, Attribute.REGCOUNT), 8),
    **dict.fromkeys(_EXTENTS, 12),
    **dict.fromkeys((Attribute.KPARAM_INFO, Attribute.KPARAM_INFO_V2), 12),
}
_SIZED = 4  # the format whose half word is the size of the value that follows
_COMPAT_SUFFIX = 9
_OPEN = 0xFFFF_FFFF


def read_cubin(data: Buffer | CodeBytes, origin: str) -> ImageFacts:
    """Return the facts of a cubin; parameter types come from the kernel's mangled name.

    Raises:
        ImageRefused: It is damaged.
    """
    elf = read_elf(data, origin, ImageKind.CUBIN)
    with refused_if_damaged(ImageKind.CUBIN, origin, _TRUNCATED):
        architecture, suffix = _architecture(elf)
        return ImageFacts(
            kind=ImageKind.CUBIN,
            kernels=tuple(_kernels(elf, architecture)),
            variables=tuple(_variables(elf.symbols, unnamed=False)),
            unnamed=tuple(_variables(elf.symbols, unnamed=True)),
            targets=(f"sm_{architecture}{suffix}",),
            externs=tuple(s.name for s in linkable(elf) if not s.is_defined),
            toolkit=_toolkit(elf),
            is_relocatable=elf.is_relocatable,
            relocations=sum(
                section.size // entry_bytes
                for section in elf.sections
                for prefix, entry_bytes in ((".rela.", 24), (".rel.", 16))
                if section.name.startswith(prefix) and not section.name.startswith(f"{prefix}debug")
            ),
        )


def check_cubin(data: Buffer | CodeBytes, origin: str) -> None:
    """Check the structure of a cubin: all that `read_cubin` follows, at a fraction of its time."""
    _check_records(read_elf(data, origin, ImageKind.CUBIN, symbols=False), origin)


def kernel_names(data: Buffer | CodeBytes, origin: str) -> tuple[str, ...]:
    """Check the structure of a cubin as `check_cubin` does, and return its kernels."""
    elf = read_elf(data, origin, ImageKind.CUBIN)
    _check_records(elf, origin)
    return tuple(symbol.name for symbol in elf.symbols if _is_kernel(symbol))


def _check_records(elf: Elf, origin: str) -> None:
    with refused_if_damaged(ImageKind.CUBIN, origin, _TRUNCATED):
        for section in elf.sections:
            if section.name == ".nv.info" or section.name.startswith(".nv.info."):
                for attribute, value in _records(section):
                    if len(value) < _VALUE_BYTES.get(attribute, 0):
                        raise Damaged(_TRUNCATED)


def linkable(elf: Elf) -> Iterator[ElfSymbol]:
    """Return the symbols of interest to other files, without the driver's and ELF's own."""
    for symbol in elf.symbols:
        is_ours = symbol.name and symbol.name[0] not in ".$" and symbol.type != "STT_SECTION"
        is_seen = symbol.binding == "STB_GLOBAL" or (
            symbol.binding == "STB_WEAK" and symbol.is_defined
        )
        is_known_to_all = not symbol.is_defined and symbol.name in OF_THE_DRIVER
        if is_ours and is_seen and not is_known_to_all:
            yield symbol


def _toolkit(elf: Elf) -> str | None:
    section = elf.named.get(".note.nv.tkinfo")
    match = _TOOLKIT.search(bytes(section.data)) if section else None
    return f"{match[1].decode()} {match[2].decode()}" if match else None


def _kernels(elf: Elf, architecture: int) -> Iterator[KernelFacts]:
    registers = _by_symbol(elf, Attribute.REGCOUNT)
    # The stack of each function and its callees, if it is bounded.
    stacks = _by_symbol(elf, Attribute.FRAME_SIZE) | _by_symbol(elf, Attribute.MIN_STACK_SIZE)
    section = elf.named.get(".nv.callgraph")
    data = bytes(section.data) if section and elf.is_relocatable else b""
    callers = {caller for caller, _ in struct.iter_unpack("<II", data[: len(data) // 8 * 8])}
    stacks = {
        index: size for index, size in stacks.items() if size != _OPEN and index not in callers
    }
    constants = elf.named.get(".nv.constant3")
    kernels = {s.name: index for index, s in enumerate(elf.symbols) if _is_kernel(s)}
    for index in kernels.values():  # the records of a name are read once
        symbol = elf.symbols[index]
        records = [*_records(elf.named.get(f".nv.info.{symbol.name}"))]
        extents: dict[int, Extent] = {
            kind: struct.unpack("<III", value) for kind, value in records if kind in _EXTENTS
        }
        layout = []
        for attribute, value in records:
            if attribute in (Attribute.KPARAM_INFO, Attribute.KPARAM_INFO_V2):
                _, ordinal, offset, size = struct.unpack("<IHHI", value)
                size >>= 18 if attribute == Attribute.KPARAM_INFO else 0
                layout.append((ordinal, offset, size))
        types: tuple[str | None, ...] | None = parameter_types(demangle(symbol.name))
        if types is None or len(types) != len(layout):
            types = (None,) * len(layout)
        parameters = tuple(
            Parameter(ordinal, offset, size, type=type_)
            for (ordinal, offset, size), type_ in zip(sorted(layout), types, strict=True)
        )
        max_threads = extents.get(Attribute.MAX_THREADS)
        shared = elf.named.get(f".nv.shared.{symbol.name}")
        is_reserved = not elf.is_relocatable and architecture >= _FIRST_WITH_RESERVED_SHARED
        reserved_bytes = _RESERVED_SHARED_BYTES if is_reserved else 0
        yield KernelFacts(
            name=symbol.name,
            parameters=parameters,
            registers=registers.get(index),
            shared_bytes=0 if shared is None else max(0, shared.size - reserved_bytes),
            local_bytes=stacks.get(index),
            const_bytes=constants.size if constants else 0,
            max_threads=None if max_threads is None else prod(max_threads),
            required_block=extents.get(Attribute.REQNTID),
            required_cluster=extents.get(Attribute.CTA_PER_CLUSTER),
        )


def _is_kernel(symbol: ElfSymbol) -> bool:
    return symbol.type == "STT_FUNC" and bool(symbol.other & _ENTRY)


def _architecture(elf: Elf) -> tuple[int, str]:
    if elf.os_abi == _OLD_OS_ABI:
        return elf.flags & 0xFF, "a" if elf.flags & 0x800 else ""
    compat = dict(_records(elf.named.get(".nv.compat")))
    return elf.flags >> 8 & 0xFF, "a" if compat.get(_COMPAT_SUFFIX) == b"\x01\x00" else ""


def _records(section: ElfSection | None) -> Iterator[tuple[int, bytes]]:
    """Return the records of a section: attribute and value, two bytes unless it has a size."""
    data = bytes(section.data) if section else b""
    at = 0
    while at < len(data):
        layout, attribute, half = struct.unpack_from("<BBH", data, at)
        at += 4
        if layout == _SIZED:
            if at + half > len(data):
                raise Damaged(_TRUNCATED)
            yield attribute, data[at : at + half]
            at += half
        else:
            yield attribute, data[at - 2 : at]


def _by_symbol(elf: Elf, attribute: Attribute) -> dict[int, int]:
    """Return a number of each function, by the index of its symbol."""
    records = _records(elf.named.get(".nv.info"))
    return dict(struct.unpack("<II", value) for kind, value in records if kind == attribute)


def _variables(symbols: tuple[ElfSymbol, ...], *, unnamed: bool) -> Iterator[VariableFacts]:
    """Yield the variables, those whose names begin with ``$`` or the others."""
    for symbol in symbols:
        space = _SPACES.get(symbol.section or "")
        is_section = symbol.type == "STT_SECTION"
        if space is None or is_section or not symbol.name:
            continue
        if symbol.name.startswith("$") == unnamed:
            yield VariableFacts(
                symbol.name,
                space,
                symbol.size,
                managed=bool(symbol.other & _MANAGED),
                is_initialized=symbol.section != ".nv.global",
            )
