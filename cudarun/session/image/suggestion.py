"""A complete ``cudarun launch`` command for a kernel, made from its signature."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from cudarun.arguments.types import NAMED
from cudarun.base.records import dataclass
from cudarun.images.demangler import demangle, parameter_types, spellings
from cudarun.images.facts import KernelFacts
from cudarun.images.parameters import Parameter
from cudarun.images.ptx_usage import KernelUsage, KernelUsages
from cudarun.session.image.image import STDIN, Image
from cudarun.session.image.suggested_values import ELEMENTS, FEWEST, SuggestedValues
from cudarun.session.image.triton import read_triton

_SHARED = "16Ki"
_WARP = 32
_BLOCK = 256  # the default with --threads
_ARRAY = re.compile(r"Array<(?P<element>[\w ]+), (?P<dimensions>[1-9]), ")
_ADDRESS = 4  # the index of the address among the parameters of an array
_EXTENT = 32


@dataclass(frozen=True, slots=True)
class GivenWords:
    """The parts of a command that the user gave."""

    kernel: str | None = None  # the value of ``-k``
    options: tuple[str, ...] = ()  # the options of the image, the device and the geometry, as words
    has_geometry: bool = False  # whether they include a geometry
    # The argument for each parameter; ``None`` where it is missing.
    arguments: tuple[str | None, ...] = ()
    integers: tuple[int, ...] = ()  # the values of integers among them


def image_words(image: Image) -> tuple[str, ...]:
    """Return the options that compile an image as it was compiled."""
    options = image.compilation
    if options is None:
        return ()
    words = [*(("-I", each) for each in options.include)]
    words += [("-D", each) for each in options.defines]
    words += [("--std", options.standard)] if options.standard else []
    words += [("--compile-option", each) for each in options.options]
    words += [] if options.compiler == "auto" else [("--compiler", options.compiler)]
    return tuple(word for pair in words for word in pair)


def device_words(label: str) -> tuple[str, ...]:
    """Return the option of a device; nothing for the default."""
    return () if label == "0" else ("-d", label)


class Suggestions:
    """The commands that launch the kernels of an image."""

    def __init__(self, image: Image, origin: str, usages: KernelUsages | None = None) -> None:
        self._image = image  # the image as loaded
        self._origin = origin  # the file as on the command line
        self._given_usages = usages  # the use of parameters in it, where it is known
        self._triton = read_triton(image)

    def collect(self) -> None:
        """Collect what the commands need while a driver of this process compiles the image."""
        self._usages.collect()

    def command(
        self, name: str, parameters: Sequence[Parameter], names: Iterable[str], given: GivenWords
    ) -> str:
        """Return the command for a kernel, in one line.

        Args:
            name: Its mangled name.
            names: The mangled names of all kernels of the image.
        """
        usage, texts = self._usages.of(name), dict[int, str]()
        geometry: list[str] | None = [] if given.has_geometry else None
        if self._triton is not None and self._triton.name == name:
            from cudarun.session.image.triton_arguments import suggested  # few images need it

            parameters, texts = suggested(self._triton, self._image, parameters)
            geometry = ["--grid", "1"] if geometry is None else geometry
        values = SuggestedValues(parameters, usage, given.integers, texts)
        if geometry is None:
            geometry = _geometry(self._facts.get(name), usage, values)
        words = ["cudarun", "launch", "-" if self._origin == STDIN else self._origin]
        chosen, every = given.kernel, tuple(names)
        if not chosen and len(every) > 1:  # the shortest spelling that only this kernel has
            owners = _owners(every)
            own_spellings = (each for each in spellings(name) if owners[each] == 1)
            chosen = min(own_spellings, key=len, default=name)
        words += ["-k", chosen] if chosen else []
        words += [*given.options, *geometry]
        arrays = _numba_arrays(name, len(parameters), usage)
        covered = 0  # the parameters before this index have an argument
        for parameter in parameters:
            index = parameter.index
            if index < covered:
                continue
            count, other = arrays.get(index, (1, None))
            covered = index + count
            own = given.arguments[index] if index < len(given.arguments) else None
            words.append(own or other or values.argument(parameter))
        return shlex.join(words)

    @cached_property
    def _facts(self) -> dict[str, KernelFacts]:
        kernels = self._image.facts.kernels if self._image.facts else ()
        return {each.name: each for each in kernels}

    @cached_property
    def _usages(self) -> KernelUsages:
        return self._given_usages or KernelUsages(self._image.data)


@lru_cache(maxsize=1)
def _owners(names: tuple[str, ...]) -> Counter[str]:
    """Return the number of kernels that have each spelling."""
    return Counter(spelling for name in dict.fromkeys(names) for spelling in spellings(name))


def _geometry(
    facts: KernelFacts | None, usage: KernelUsage | None, values: SuggestedValues
) -> list[str]:
    shared = ["--smem", _SHARED] if usage is not None and usage.has_dynamic_shared else []
    if facts is not None and facts.required_cluster is not None:
        grid = ["--grid", ",".join(map(str, facts.required_cluster))]
        return [*grid, *([] if facts.required_block else ["--block", "32"]), *shared]
    if facts is not None and facts.required_block is not None:
        return ["--grid", "1", *shared]
    dimensions = usage.dimensions if usage is not None else 1
    if dimensions > 1:
        side = str(values.count if dimensions == 2 else FEWEST)
        return ["--threads", ",".join([side] * dimensions), *shared]
    threads = values.count if values.is_flat else ELEMENTS
    extent = str(values.only.name if values.only else threads)
    return ["--threads", extent, *_block(usage), *shared]


def _block(usage: KernelUsage | None) -> list[str]:
    """Return a block of no more threads than the smallest array in shared memory has elements.

    An array of fewer elements than a warp has threads is no array of an element per thread.
    """
    if usage is None:
        return []
    counts = [size // usage.shared_access for size in usage.shared_arrays]
    fewest = min((count for count in counts if count >= _WARP), default=_BLOCK)
    return [] if fewest >= _BLOCK else ["--block", str(1 << (fewest.bit_length() - 1))]


def _numba_arrays(name: str, count: int, usage: KernelUsage | None) -> dict[int, tuple[int, str]]:
    """Return the arrays by the index of their first parameter; none for other kernels.

    An array has the number of its parameters, and the text of an argument for all of them.
    """
    found: dict[int, tuple[int, str]] = {}
    index = 0
    for each in parameter_types(demangle(name)) or ():
        match = _ARRAY.match(each)
        if match is None:
            index += 1
            continue
        element = NAMED.get(match["element"])
        if element is None:
            return {}
        dimensions = int(match["dimensions"])
        use = usage.pointers.get((index + _ADDRESS, 0)) if usage else None
        initial = "" if use is not None and not use.is_read else ":zeros"
        if initial and element.name in ("f32", "f64"):
            initial = ":rand"
        extents = ",".join([str(_EXTENT)] * dimensions)
        found[index] = 5 + 2 * dimensions, f"numba({element}[{extents}]{initial})"
        index += 5 + 2 * dimensions
    return found if index == count else {}
