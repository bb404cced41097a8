"""``--check-strength``: whether checks that pass would also pass if the kernel had done nothing.

All checks are evaluated again with the outputs replaced by zeros, and by what they were before the
launch. Outputs are the buffers that the launch changed, and those without an initializer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cudarun.arguments.contents import RepeatedContents
from cudarun.arguments.dtypes import Array, Values
from cudarun.arguments.expressions.evaluation import Unwritten, nothing_unwritten
from cudarun.base.errors import RequestError
from cudarun.session.driver.fill_pattern import fill_pattern


def weaknesses(
    passes: Callable[[dict[str, Any], Unwritten], bool],
    values: Values,
    after: Mapping[str, Array],
    old: Values,
) -> tuple[str, ...]:
    """Return the replacements of the outputs with which all checks still pass.

    Args:
        passes: Evaluates all checks over values by name, with the elements that were never
            written; raises where they cannot be evaluated.
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
    for name, replaced, unwritten in _replacements(outputs, old):
        try:
            if passes({**values, **replaced}, unwritten):
                found.append(name)
        except RequestError:  # such as a division by zero: these checks do notice
            continue
    return tuple(found)


def _replacements(
    outputs: Mapping[str, Array], old: Values
) -> Iterator[tuple[str, Mapping[str, Array], Unwritten]]:
    """Yield replacements with their names, and which of their elements were never written."""
    zeros = {name: np.zeros_like(array) for name, array in outputs.items()}
    yield "zeros", zeros, nothing_unwritten
    inputs = {name: old[name] if name in old else _pattern(outputs[name]) for name in outputs}
    unwritten = {name: np.ones(outputs[name].shape, np.bool_) for name in outputs.keys() - old}
    yield "their inputs", inputs, unwritten.get


def _pattern(array: Array) -> Array:
    item = np.frombuffer(fill_pattern(array.dtype), array.dtype)
    return RepeatedContents(item, array.size).array().reshape(array.shape)
