"""The C++ variables in scope where lanes have stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.dtypes import DType, scalar_type
from cudarun.base.errors import RequestError
from cudarun.debugger.locations import variable_name
from cudarun.debugger.values import CppValue
from cudarun.images.debug_variables import (
    DebugLocation,
    DebugVariable,
    DebugVariables,
    UndescribedType,
)
from cudarun.images.dwarf import UnusableDwarf

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import LaneAccess


def shared_variables(types: Mapping[str, tuple[DType, int]]) -> Iterator[DebugVariable]:
    """Yield shared variables, from the types of their elements and their bytes by symbol."""
    for symbol, (dtype, size) in types.items():
        scalar = scalar_type(dtype)
        if scalar is not None:
            count = size // dtype.itemsize
            type_ = UndescribedType(scalar.name, dtype.itemsize, (count,) if count > 1 else ())
            yield DebugVariable(variable_name(symbol), type_, (DebugLocation(symbol=symbol),))


class VariableScope(Mapping[str, CppValue]):
    """The variables in scope; one that is hidden by another of its name is not in it.

    Args:
        debug: The debug information; without it there are no variables.
    """

    def __init__(
        self, debug: DebugVariables | None, function: str, line: int, accessor: LaneAccess
    ) -> None:
        self._line = line
        self._accessor = accessor
        self.local: dict[str, DebugVariable] = {}  # those of the function
        self.common: dict[str, DebugVariable] = {}  # those outside of functions
        self.problem: str | None = None  # why the debug information cannot be used
        if debug is not None:
            try:
                self.local = {each.name: each for each in debug.local(function, line)}
                self.common = {each.name: each for each in debug.common(function)}
            except UnusableDwarf as error:
                self.problem = str(error)
        self._all = {**self.common, **self.local}

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def register_of(self, name: str) -> str | None:
        """Return the register that has a variable here; ``None`` of another place."""
        location = self._all[name].location(self._line) if name in self._all else None
        return None if location is None or location.is_address else location.register

    def __getitem__(self, name: str) -> CppValue:
        """Return the value of a variable.

        Raises:
            KeyError: There is none of this name.
            RequestError: It has no value here.
        """
        variable = self._all[name]
        location = variable.location(self._line)
        if location is None:
            why = "is not available here" if variable.locations else "was optimized out"
            raise RequestError(f"{name} {why}")
        type_, accessor = variable.type, self._accessor
        value = CppValue(accessor, type_, type_.extents)
        if location.constant is not None:
            data = (location.constant % (1 << 8 * type_.size)).to_bytes(type_.size, "little")
            row = np.frombuffer(data, np.uint8)
            return replace(value, contents=np.broadcast_to(row, (accessor.lanes, len(row))))
        try:
            if location.register is None:
                space, addresses = accessor.symbol(location.symbol or "")
            else:
                words = np.ascontiguousarray(accessor.register(location.register))
                if not location.is_address:
                    contents = words.view(np.uint8).reshape(accessor.lanes, -1)
                    if contents.shape[1] < type_.size:
                        raise RequestError(f"{name} is larger than {location.register}")
                    return replace(value, contents=contents[:, : type_.size]).referred()
                # nvcc has addresses of parameters, too, as if they were generic ones.
                is_generic = accessor.read("generic", words, 1)[1].any()
                space, addresses = "generic" if is_generic else "param", words
        except KeyError as missing:
            problem = f"{name} is in {missing.args[0]}, which is not used"
            raise RequestError(problem) from None
        addresses = addresses + np.uint64(location.offset)
        return replace(value, space=space, addresses=addresses).referred()
