"""The fatbins inside a file, and the entry of each that a device takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.images.contents import MappedFile
from cudarun.images.facts import ImageFacts
from cudarun.images.fatbin import Entry, best_entry, read_entries
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.reader import (
    check_sizes,
    fatbins_in,
    kernels_of,
    no_device_code,
    read_entry,
    read_image,
)
from cudarun.session.driver.calls import Driver
from cudarun.session.image.diagnosis import device_target
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import require_kernels

_VARIABLE = re.compile(rb"^\s*(?:\.\w+\s+)*\.(?:global|const)\b", re.MULTILINE)
_ELF_TYPE, _RELOCATABLE = (16, 18), b"\x01\x00"


@dataclass(frozen=True, slots=True)
class UsedFatbin:
    """A fatbin with code."""

    number: int  # its number in the file, from 1
    target: str | None  # the target of the entry that the device takes; ``None`` without one
    # The kernels of that entry, or else of the first entry that can be read.
    kernels: tuple[str, ...] = ()
    is_relocatable: bool = False  # whether its code was an input of the linker that built the file


def fatbin_count(image: Image) -> int | None:
    """Return the number of fatbins in a file; ``None`` if it is no container.

    Raises:
        ImageRefused: It is damaged.
    """
    return len(fatbins_of(image)) if identify(image.data) in CONTAINERS else None


def fatbins_of(image: Image) -> tuple[memoryview, ...]:
    """Return the fatbins in a container."""
    if isinstance(image.data, MappedFile):
        return _listed(image.data, image.origin)
    return fatbins_in(image.data, image.origin)


@lru_cache(maxsize=4)
def _listed(data: MappedFile, origin: str) -> tuple[memoryview, ...]:
    return fatbins_in(data, origin)


def used_fatbins(driver: Driver, image: Image) -> tuple[UsedFatbin, ...]:
    """Return the fatbins with code, at least one.

    Every executable contains some without code, from the objects that a linker adds.
    """
    device = device_target(driver)
    fatbins = fatbins_of(image)
    if not fatbins:
        raise no_device_code(identify(image.data), image.origin)
    entries = [read_entries(fatbin, image.origin) for fatbin in fatbins]
    every = (entry for some in entries for entry in some)
    check_sizes(every, len(image.data), image.origin, image.limit)
    found = []
    for number, some in enumerate(entries, start=1):
        best = entry_for(device, some)
        used = _used(number, best, some, image.origin)
        if used is not None:
            found.append(used)
        if isinstance(image.data, MappedFile):
            image.data.forget()
    return tuple(found) or (UsedFatbin(1, None),)


def loadable(image: Image, fatbins: Sequence[UsedFatbin]) -> tuple[UsedFatbin, ...]:
    """Return the fatbins that a program loads: of a linked file not the inputs of its linker.

    A library built with ``-rdc=true`` keeps these in a section that the runtime does not use.
    """
    linked = tuple(fatbin for fatbin in fatbins if not fatbin.is_relocatable)
    is_linked = identify(image.data) is ImageKind.HOST_OBJECT and linked
    return linked if is_linked else tuple(fatbins)


def entry_for(device: LoadTarget, entries: Iterable[Entry]) -> Entry | None:
    """Return the entry that a device takes."""
    return best_entry(device.architecture or 0, entries, machine_code=device.runs_machine_code)


def facts_for(driver: Driver, image: Image) -> ImageFacts:
    """Return the facts of an image; of a fatbin those of the code that the device takes.

    Raises:
        ImageRefused: It is damaged, or has no code for the device.
    """
    if identify(image.data) is not ImageKind.FATBIN:
        return read_image(image.data, image.origin, image.limit, whole=False)
    device = device_target(driver)
    best = entry_for(device, read_entries(image.data, image.origin))
    if best is None:
        raise ImageRefused(f"it contains no code for {device.name}", origin=image.origin)
    return read_entry(best, image.origin, whole=False)


def with_kernels(fatbins: Sequence[UsedFatbin], wanted: str, origin: str) -> tuple[UsedFatbin, ...]:
    """Return the fatbins that contain kernels with a name, which are their only ``kernels``."""
    names = sorted({name for each in fatbins for name in each.kernels})
    chosen = require_kernels(names, wanted, origin)
    kept = (replace(f, kernels=tuple(k for k in f.kernels if k in chosen)) for f in fatbins)
    return tuple(each for each in kept if each.kernels)


def _used(
    number: int, best: Entry | None, entries: Sequence[Entry], origin: str
) -> UsedFatbin | None:
    """Return the fatbin if an entry of it has code or cannot be read."""
    target = best.target if best else None
    others = sorted((entry for entry in entries if entry is not best), key=lambda e: e.size)
    for entry in [best, *others] if best else others:
        try:
            kernels = kernels_of(entry, origin)
            has_code = bool(kernels)
            if not has_code and entry.kind is ImageKind.PTX:
                has_code = _VARIABLE.search(entry.content(origin)) is not None
            elif not has_code:  # it can have functions to be linked
                facts = read_entry(entry, origin, whole=False)
                has_code = bool(facts.variables or facts.is_relocatable)
            if has_code:
                return UsedFatbin(number, target, kernels, is_relocatable(entries, origin))
        except ImageRefused:
            return UsedFatbin(number, target)
    return None


def is_relocatable(entries: Iterable[Entry], origin: str) -> bool:
    """Return whether the first machine code of a fatbin has yet to be linked."""
    cubin = next((entry for entry in entries if entry.kind is ImageKind.CUBIN), None)
    if cubin is None:
        return False
    [type_] = cubin.contents(origin).fetch([_ELF_TYPE])
    return bytes(type_) == _RELOCATABLE
