"""The arrays of numba in a kernel's parameters, as its mangled name tells."""

from __future__ import annotations

import re

from cudarun.arguments.types import NAMED
from cudarun.base.records import dataclass
from cudarun.images.demangler import demangle, parameter_types
from cudarun.images.ptx_usage import KernelUsage

_ARRAY = re.compile(r"Array<(?P<element>[\w ]+), (?P<dimensions>[1-9]), ")
_ADDRESS = 4  # the index of the address among the parameters of an array
_EXTENT = 32


@dataclass(frozen=True, slots=True)
class ArrayParameters:
    """The parameters of one array: their number, and the text of an argument for all of them."""

    count: int
    text: str


def numba_arrays(name: str, count: int, usage: KernelUsage | None) -> dict[int, ArrayParameters]:
    """Return the arrays by the index of their first parameter; none for other kernels."""
    found: dict[int, ArrayParameters] = {}
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
        found[index] = ArrayParameters(5 + 2 * dimensions, f"numba({element}[{extents}]{initial})")
        index += 5 + 2 * dimensions
    return found if index == count else {}
