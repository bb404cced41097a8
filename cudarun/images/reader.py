"""The entry point of the package: the facts of any image, from its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from cudarun.errors import ImageRefused
from cudarun.images.archive import read_members
from cudarun.images.facts import ImageFacts, KernelFacts, Part, VariableFacts
from cudarun.images.fatbin import Entry, NoDecompressor, read_entries, split_containers
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.ptx_facts import read_ptx

# Sections of fatbins in a host object: final code, and code to be linked (-rdc=true).
_FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
CONTAINERS = (ImageKind.FATBIN, ImageKind.HOST_OBJECT, ImageKind.ARCHIVE)
"""What holds other images."""

_Fact = TypeVar("_Fact", KernelFacts, VariableFacts)


def read_image(
    data: bytes, origin: str, limit: int | None = None, *, whole: bool = True
) -> ImageFacts:
    """Return the contents of an image.

    Args:
        data: The whole file.
        origin: Its name in messages.
        limit: The most bytes of all code in a container when decompressed; ``None``: any.
        whole: Whether to parse the code of PTX, for its errors, and not only the declarations.

    Raises:
        ImageRefused: It is not an image, it is damaged, or nothing in it can be read;
            PtxError if the PTX does not parse.
    """
    kind = identify(data)
    if kind in CONTAINERS:
        return _read_container(kind, image_entries(data, origin, limit), origin)
    return _read_code(kind, data, origin, whole=whole)


def _read_code(kind: ImageKind, data: bytes, origin: str, *, whole: bool = True) -> ImageFacts:
    if kind is ImageKind.PTX:
        return read_ptx(data, origin, whole=whole)
    if kind is ImageKind.CUBIN:
        from cudarun.images.cubin import read_cubin  # imports pyelftools, which PTX needs not

        return read_cubin(data, origin)
    raise _not_readable(kind, origin)


def image_entries(data: bytes, origin: str, limit: int | None = None) -> tuple[Entry, ...]:
    """Return the entries of a fatbin, a host object or an archive of those, one per target.

    Args:
        data: The whole file.
        origin: Its name in messages.
        limit: The most bytes of all entries when decompressed; ``None``: any.

    Raises:
        ImageRefused: It has another kind, is damaged, or is larger than the limit.
    """
    entries = tuple(_entries(data, origin))
    size = sum(entry.size for entry in entries)
    if limit is not None and size > limit:
        raise ImageRefused(
            f"its code has {size} bytes when decompressed; the limit is {limit}",
            hint=f"raise the limit: --max-image {size}",
            origin=origin,
        )
    return entries


def check_structure(data: bytes, origin: str, limit: int | None = None) -> None:
    """Refuse a damaged file: drivers and linkers crash or hang on some.

    Entries are decompressed one at a time. PTX and LTO-IR are left to their compilers.

    Raises:
        ImageRefused: It is damaged, or larger than the limit.
    """
    kind = identify(data)
    if kind is ImageKind.CUBIN:
        from cudarun.images.cubin import check_cubin

        check_cubin(data, origin)
    elif kind in CONTAINERS:
        for entry in image_entries(data, origin, limit):
            if not entry.is_scrambled:
                _check_entry(entry, origin)


def _check_entry(entry: Entry, origin: str) -> None:
    try:
        content = entry.content(origin)
    except NoDecompressor:
        return
    if entry.kind is ImageKind.CUBIN:
        from cudarun.images.cubin import check_cubin

        check_cubin(content, origin)


def _entries(data: bytes, origin: str) -> Iterator[Entry]:
    for place, fatbins in _fatbin_data(data, origin):
        yield from read_entries(fatbins, place)


def fatbins_in(data: bytes, origin: str) -> tuple[bytes, ...]:
    """Return the fatbins inside a host object or an archive of those, as a driver takes them.

    Raises:
        ImageRefused: It has another kind, or is damaged.
    """
    return tuple(
        container
        for place, fatbins in _fatbin_data(data, origin)
        for container in split_containers(fatbins, place)
    )


def _fatbin_data(data: bytes, origin: str) -> Iterator[tuple[str, bytes]]:
    """Return the bytes of consecutive containers, and the name of that place in messages."""
    kind = identify(data)
    if kind is ImageKind.FATBIN:
        yield origin, data
    elif kind is ImageKind.HOST_OBJECT:
        from cudarun.images.elf import read_elf

        for section in read_elf(data, origin, kind).sections:
            if section.name in _FATBIN_SECTIONS and section.data:
                yield origin, bytes(section.data)
    elif kind is ImageKind.ARCHIVE:
        for member in read_members(data, origin):
            if identify(member.data) in (ImageKind.FATBIN, ImageKind.HOST_OBJECT):
                yield from _fatbin_data(member.data, f"{origin}({member.name})")
    else:
        raise _not_readable(kind, origin)


def _read_container(kind: ImageKind, entries: tuple[Entry, ...], origin: str) -> ImageFacts:
    if not entries:
        raise ImageRefused(f"the {kind.value} contains no device code", origin=origin)
    parts = []
    refusals = []
    for entry in entries:
        try:
            content = entry.content(origin)
            facts = _read_code(identify(content), content, origin)
        except ImageRefused as error:
            refusals.append(error)
            parts.append(Part(entry.kind, entry.target, entry.size, unread=error.message))
        else:
            parts.append(Part(entry.kind, entry.target, entry.size, facts))
    if len(refusals) == len(entries):
        raise refusals[0]
    read = [part.facts for part in parts if part.facts is not None]
    return ImageFacts(
        kind=kind,
        kernels=_first_of_each(kernel for facts in read for kernel in facts.kernels),
        variables=_first_of_each(variable for facts in read for variable in facts.variables),
        targets=tuple(dict.fromkeys(part.target for part in parts)),
        ptx_version=next((facts.ptx_version for facts in read if facts.ptx_version), None),
        parts=tuple(parts),
        externs=tuple(dict.fromkeys(name for facts in read for name in facts.externs)),
    )


def _first_of_each(facts: Iterable[_Fact]) -> tuple[_Fact, ...]:
    named: dict[str, _Fact] = {}
    for fact in facts:
        named.setdefault(fact.name, fact)
    return tuple(named.values())


def _not_readable(kind: ImageKind, origin: str) -> ImageRefused:
    match kind:
        case ImageKind.EMPTY:
            return ImageRefused("the file is empty", origin=origin)
        case ImageKind.CUDA_SOURCE:
            return ImageRefused(
                "CUDA source must be compiled before it can be loaded",
                hint="compile it first: nvcc -ptx, or NVRTC",
                origin=origin,
            )
        case ImageKind.LTO_IR:
            return ImageRefused(
                "LTO-IR must be linked before it can be loaded",
                hint="link it first: cudarun link",
                origin=origin,
            )
        case ImageKind.UNKNOWN:
            return ImageRefused(
                "not an image",
                hint="an image is PTX text, a cubin, a fatbin, or a host object or archive that "
                "contains one",
                origin=origin,
            )
    return ImageRefused(f"the file is a {kind.value}, which is not supported here", origin=origin)
