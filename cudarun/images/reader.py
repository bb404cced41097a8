"""The entry point of the package: the facts of any image, from its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.records import dataclass, derived
from cudarun.images.contents import Buffer, Data
from cudarun.images.facts import ImageFacts, KernelFacts, Part, VariableFacts
from cudarun.images.fatbin import Entry, read_entries, split_containers
from cudarun.images.kinds import (
    ARCHIVE_MAGIC,
    CONTAINERS,
    SIGNATURE_BYTES,
    Damaged,
    ImageKind,
    identify,
    identify_by_signature,
    refused_if_damaged,
)
from cudarun.images.ptx_facts import read_ptx

# Sections of fatbins in a host object: final code, and code to be linked (-rdc=true).
_FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_IN_ARCHIVES = (ImageKind.FATBIN, ImageKind.HOST_OBJECT)

_USUAL_RATIO = 32
"""Code decompresses to at most 24 times its size in NVIDIA's libraries; in a bomb to thousands."""

_Fact = TypeVar("_Fact", KernelFacts, VariableFacts)


def read_image(
    data: Data, origin: str, limit: int | None = None, *, whole: bool = True
) -> ImageFacts:
    """Return the contents of an image.

    Args:
        origin: Its name in messages.
        limit: See `check_sizes`.
        whole: Whether to parse the code of PTX, for its errors, and not only the declarations.

    Raises:
        ImageRefused: It is not an image, it is damaged, or nothing in it can be read;
            PtxError if the PTX does not parse.
    """
    kind = identify(data)
    if kind not in CONTAINERS:
        return _read_code(kind, data, origin, whole=whole)
    parts = image_entries(data, origin, limit)
    if not parts:
        raise no_device_code(kind, origin)
    read: list[Part] = []
    refusals = []
    for part in parts:
        try:
            read.append(read_part(part, origin, whole=whole))
        except ImageRefused as error:
            refusals.append(error)
            read.append(unread_part(part, error))
    if len(refusals) == len(parts):
        raise refusals[0]
    return combined(kind, tuple(read))


def _read_code(kind: ImageKind, data: Data, origin: str, *, whole: bool) -> ImageFacts:
    if kind is ImageKind.PTX:
        return read_ptx(bytes(data), origin, whole=whole)
    if kind is ImageKind.CUBIN:
        from cudarun.images.cubin import read_cubin

        return read_cubin(data, origin)
    raise _not_readable(kind, origin)


def image_entries(data: Data, origin: str, limit: int | None = None) -> tuple[Entry, ...]:
    """Return the entries of a fatbin, a host object or an archive of those, one per target.

    Only headers are read.

    Raises:
        ImageRefused: It has another kind, is damaged, or is larger than the limit.
    """
    entries = file_parts(data, origin)
    check_sizes(entries, len(data), origin, limit)
    return entries


def file_parts(data: Data, origin: str) -> tuple[Entry, ...]:
    """Return the entries, and raise the errors, of `image_entries`; no size is checked."""
    parts: list[Entry] = []
    for fatbin, (place, container) in enumerate(_containers(data, origin), start=1):
        for entry in read_entries(container, place):
            parts.append(replace(entry, number=len(parts) + 1, fatbin=fatbin))
    return tuple(parts)


def check_sizes(entries: Iterable[Entry], file_size: int, origin: str, limit: int | None) -> None:
    """Refuse a decompression bomb; `ImageRefused` if it is larger than the limit.

    Args:
        file_size: The size of the file that contains them, in bytes.
        origin: Its name in messages.
        limit: The most bytes of an entry when decompressed, and of all of them together unless
            these are less than 32 times the size of the file; ``None``: any.
    """
    sizes = [entry.size for entry in entries]
    if limit is None or not sizes:
        return
    most, total = max(sizes), sum(sizes)
    if most <= limit and total <= max(limit, _USUAL_RATIO * file_size):
        return
    larger = most if most > limit else total
    what = "a part of it has" if most > limit else "its code has"
    raise ImageRefused(
        f"{what} {larger} bytes when decompressed; the limit is {limit}",
        hint=f"raise the limit: --max-image {larger}",
        origin=origin,
    )


def check_structure(
    data: Data,
    origin: str,
    limit: int | None = None,
    is_used: Callable[[Entry], bool] = lambda entry: True,
) -> None:
    """Refuse a damaged file: drivers and linkers crash or hang on some.

    Entries are decompressed one at a time. PTX and LTO-IR are left to their compilers.

    Args:
        origin: Its name in messages.
        limit: See `check_sizes`.
        is_used: Returns whether an entry of a container will be used; others are not read.
    """
    kind = identify(data)
    if kind is ImageKind.CUBIN:
        from cudarun.images.cubin import check_cubin

        check_cubin(data, origin)
    elif kind in CONTAINERS:
        for entry in image_entries(data, origin, limit):
            if not entry.is_scrambled and is_used(entry):
                contents = entry.contents(origin)
                if entry.kind is ImageKind.CUBIN:
                    from cudarun.images.cubin import check_cubin

                    check_cubin(contents, origin)


def fatbins_in(data: Data, origin: str) -> tuple[memoryview, ...]:
    """Return the fatbins inside a host object or an archive of those, as a driver takes them."""
    return tuple(container for _, container in _containers(data, origin))


def _containers(data: Data, origin: str) -> Iterator[tuple[str, memoryview]]:
    """Yield each container of a file, after the name of its place in messages."""
    for place, fatbins in _fatbin_data(data, origin):
        for container in split_containers(fatbins, place):
            yield place, container


def _fatbin_data(data: Buffer, origin: str) -> Iterator[tuple[str, memoryview]]:
    """Return the bytes of consecutive containers, and the name of that place in messages."""
    kind = identify(data)
    if kind is ImageKind.FATBIN:
        yield origin, memoryview(data)
    elif kind is ImageKind.HOST_OBJECT:
        from cudarun.images.elf import read_elf

        sections = [s for s in read_elf(data, origin, kind).sections if s.name in _FATBIN_SECTIONS]
        if sum(len(section.data) for section in sections) > len(data):
            raise ImageRefused(f"not a {kind.value}", cause="its sections overlap", origin=origin)
        yield from ((origin, section.data) for section in sections if len(section.data))
    elif kind is ImageKind.ARCHIVE:
        for member in read_members(data, origin):
            if identify_by_signature(bytes(member.data[:SIGNATURE_BYTES])) in _IN_ARCHIVES:
                yield from _fatbin_data(member.data, f"{origin}({member.name})")
    else:
        raise _not_readable(kind, origin)


def read_entry(entry: Entry, origin: str, *, whole: bool = True) -> ImageFacts:
    """Return the contents of an entry."""
    contents = entry.contents(origin)
    [start] = contents.fetch([(0, SIGNATURE_BYTES)])
    if identify_by_signature(bytes(start)) is ImageKind.CUBIN:
        from cudarun.images.cubin import read_cubin

        return read_cubin(contents, origin)
    content = entry.content(origin)
    return _read_code(identify(content), content, origin, whole=whole)


def kernels_of(entry: Entry, origin: str) -> tuple[str, ...]:
    """Check the structure of an entry, and return the names of its kernels. PTX is not parsed.

    Raises:
        ImageRefused: It is damaged or cannot be read.
    """
    if entry.kind is ImageKind.CUBIN:
        from cudarun.images.cubin import kernel_names

        return kernel_names(entry.contents(origin), origin)
    content = entry.content(origin)
    kind = identify(content)
    if kind is not ImageKind.PTX:
        raise _not_readable(kind, origin)
    from cudarun.images.ptx_search import kernel_names as names_in_ptx

    return names_in_ptx(content)


def unread_part(entry: Entry, error: CudarunError | None = None) -> Part:
    """Return an entry without its contents, and the reason if it cannot be read."""
    reason = None if error is None else error.message
    return derived(Part, entry, unread=reason, stored=len(entry.stored))


def read_part(entry: Entry, origin: str, *, whole: bool = True) -> Part:
    """Return an entry with its contents; raises what `read_entry` raises."""
    return replace(unread_part(entry), facts=read_entry(entry, origin, whole=whole))


def combined(kind: ImageKind, parts: tuple[Part, ...]) -> ImageFacts:
    """Return what the parts of a container have in common."""
    read = [part.facts for part in parts if part.facts is not None]
    return ImageFacts(
        kind=kind,
        kernels=_first_of_each(kernel for facts in read for kernel in facts.kernels),
        variables=_first_of_each(variable for facts in read for variable in facts.variables),
        unnamed=_first_of_each(variable for facts in read for variable in facts.unnamed),
        targets=tuple(dict.fromkeys(part.target for part in parts)),
        ptx_version=next((facts.ptx_version for facts in read if facts.ptx_version), None),
        parts=parts,
        externs=tuple(dict.fromkeys(name for facts in read for name in facts.externs)),
        has_unread_code=any(facts.has_unread_code for facts in read),
    )


def no_device_code(kind: ImageKind, origin: str) -> ImageRefused:
    """Return the refusal of a container without entries."""
    return ImageRefused(f"the {kind.value} contains no device code", origin=origin)


def _first_of_each(facts: Iterable[_Fact]) -> tuple[_Fact, ...]:
    named: dict[str, _Fact] = {}
    for fact in facts:
        named.setdefault(fact.name, fact)
    return tuple(named.values())


_REFUSED = {
    ImageKind.EMPTY: ("the file is empty", None),
    ImageKind.CUDA_SOURCE: (
        "CUDA source must be compiled before it can be loaded",
        "compile it first: nvcc -ptx, or NVRTC",
    ),
    ImageKind.LTO_IR: (
        "LTO-IR must be linked before it can be loaded",
        "link it first: cudarun link",
    ),
    ImageKind.UNKNOWN: (
        "not an image",
        "an image is PTX text, a cubin, a fatbin, or a host object or archive that contains one",
    ),
}


def _not_readable(kind: ImageKind, origin: str) -> ImageRefused:
    other = f"the file is a {kind.value}, which is not supported here", None
    what, hint = _REFUSED.get(kind, other)
    return ImageRefused(what, hint=hint, origin=origin)


# --- static libraries ----------------------------------------------------------------------------


_HEADER_BYTES = 60
_MALFORMED = "a member's header is malformed"
_LONGEST = 1024  # bytes of a name
_HEADER_END = b"`\n"
_INDEXES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED")  # symbol tables, for linkers


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file in an archive; its data are a view."""

    name: str
    data: memoryview


def read_members(data: Buffer, origin: str) -> tuple[ArchiveMember, ...]:
    """Return the files in an archive, the Unix ``ar`` format with GNU and BSD long names, in order.

    Raises:
        ImageRefused: It is damaged or truncated.
    """
    with refused_if_damaged(ImageKind.ARCHIVE, origin, _MALFORMED):
        return tuple(_members(memoryview(data)))


def _members(data: memoryview) -> Iterator[ArchiveMember]:
    long_names = b""
    at = len(ARCHIVE_MAGIC)
    while at < len(data):
        header = bytes(data[at : at + _HEADER_BYTES])
        if len(header) < _HEADER_BYTES or not header.endswith(_HEADER_END):
            raise Damaged(_MALFORMED)
        name = header[:16].decode("latin-1").rstrip()
        size = _number(header[48:58])
        start = at + _HEADER_BYTES
        if start + size > len(data):
            raise Damaged("a member extends past the end of the file")
        content = data[start : start + size]
        at = start + size + size % 2
        if name == "//":
            long_names = bytes(content)
        elif name.startswith("#1/"):  # BSD: the name precedes the content
            length = _number(name[3:].encode("latin-1"))
            name = bytes(content[:length]).rstrip(b"\0").decode("latin-1")
            if name not in _INDEXES:
                yield ArchiveMember(name, content[length:])
        elif name not in _INDEXES:
            if name.startswith("/") and name[1:].isdecimal():  # GNU: where a long name starts
                start = int(name[1:])
                end = long_names.find(b"\n", start, start + _LONGEST)  # names may share their ends
                if end < 0:
                    raise Damaged("a member's name is malformed")
                name = long_names[start:end].decode("latin-1")
            yield ArchiveMember(name.removesuffix("/"), content)


def _number(digits: bytes) -> int:
    if not digits.strip().isdigit():
        raise Damaged(_MALFORMED)
    return int(digits)
