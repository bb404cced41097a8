"""``--check-strength``: whether checks that pass would also pass if the kernel had done nothing.

All checks are evaluated again with the outputs replaced by zeros, by what they were before the
launch, and by the fill pattern. Outputs are the buffers that the launch changed, and those without
an initializer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cudarun.arguments.dtypes import Array, Values
from cudarun.errors import RequestError
from cudarun.session.driver.memory import POISON


def weaknesses(
    passes: Callable[[dict[str, Any]], bool],
    values: Values,
    after: Mapping[str, Array],
    old: Values,
) -> tuple[str, ...]:
    """Return the replacements of the outputs with which all checks still pass.

    Args:
        passes: Evaluates all checks over values by name; raises where they cannot be evaluated.
        values: Arrays and numpy scalars by name, after the launch.
        after: The arrays of buffers among them.
        old: The same before the launch, for buffers with an initializer.
    """
    outputs = {
        name: array
        for name, array in after.items()
        if name not in old or array.tobytes() != np.asarray(old[name]).tobytes()
    }
    found = []
    for name, replaced in _replacements(outputs, old):
        try:
            if passes({**values, **replaced}):
                found.append(name)
        except RequestError:  # such as a division by zero: these checks do notice
            continue
    return tuple(found)


def _replacements(
    outputs: Mapping[str, Array], old: Values
) -> Iterator[tuple[str, Mapping[str, Array]]]:
    patterns = {name: _pattern(array) for name, array in outputs.items()}
    yield "zeros", {name: np.zeros_like(array) for name, array in outputs.items()}
    yield "their inputs", {name: old.get(name, patterns[name]) for name in outputs}
    yield "the fill pattern", patterns


def _pattern(array: Array) -> Array:
    return np.full(array.nbytes, POISON, np.uint8).view(array.dtype).reshape(array.shape)
