"""Run scenarios of calls and record what each call returns, in a form that two drivers share.

A scenario is a function that gets a `Probe` and makes calls, many of them wrong. Addresses are
recorded relative to the memory that the scenario has named; other handles as ``handle``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = dict[str, Any]
Scenario = Callable[["Probe"], None]

_LARGE = 1 << 32  # an unnamed number from here on is an address, or an amount of free memory
_ADDRESS_TYPES = ("CUdeviceptr",)

# Results after which a process cannot use the device.
STICKY = frozenset({*range(700, 703), 710, *range(714, 722), 999})


class Probe:
    """One run of a scenario.

    Args:
        driver: ``cuda.bindings.driver`` or the emulator's module.
        runtime: ``cuda.bindings.runtime`` or the emulator's module.
        write: Receives each step as it ends.
        skipped: The indices of calls not to make: they end the process.
        before: Receives the text of each call before it is made.
    """

    def __init__(
        self,
        driver: Any,
        runtime: Any,
        write: Callable[[Step], None],
        *,
        skipped: dict[int, Step] | None = None,
        before: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.cu, self.rt = driver, runtime
        self._write, self._before = write, before
        self._skipped = skipped or {}
        self._count = 0
        self._names: list[tuple[int, int, str]] = []
        self._kept: list[Any] = []

    # --- memory ----------------------------------------------------------------------------------

    def name(self, name: str, address: Any, size: int) -> Any:
        """Name memory; return its address, or ``None`` if the call before failed."""
        if address is not None:
            address = int(address)
            self._names.insert(0, (address, max(size, 1), name))
        return address

    def host(self, size: int, name: str = "host", *, aligned: int = 4096) -> int:
        """Return the address of zeroed memory that no driver knows."""
        memory = np.zeros(size + aligned, np.uint8)
        self._kept.append(memory)
        address = -(-memory.ctypes.data // aligned) * aligned
        return int(self.name(name, address, size))

    def device(self, size: int, name: str = "device") -> Any:
        """Allocate device memory with ``cudaMalloc``, unrecorded."""
        return self.name(name, self.made(self.rt.cudaMalloc(size)), size)

    def pinned(self, size: int, name: str = "pinned", flags: int = 0) -> Any:
        """Allocate page-locked memory, unrecorded."""
        return self.name(name, self.made(self.rt.cudaHostAlloc(size, flags)), size)

    def managed(self, size: int, name: str = "managed") -> Any:
        """Allocate managed memory, unrecorded."""
        return self.name(name, self.made(self.rt.cudaMallocManaged(size, 1)), size)

    @staticmethod
    def made(answer: tuple[Any, ...]) -> Any:
        """Return the values of a call that must succeed."""
        error, *values = answer
        if int(error):
            raise RuntimeError(f"preparation failed: {error!r}")
        return values[0] if len(values) == 1 else tuple(values) or None

    # --- recorded calls --------------------------------------------------------------------------

    def __call__(
        self,
        name: str,
        *arguments: Any,
        fields: tuple[str, ...] | None = None,
        silent: bool = False,
        relation: Callable[[Any], object] | None = None,
    ) -> Any:
        """Make a call of the runtime (``cuda…``) or of the driver (``cu…``) and record it.

        Args:
            name: The call.
            *arguments: Its arguments.
            fields: Record these fields of the structure that it returns.
            silent: Record no values: they depend on the machine.
            relation: Record this function of the value instead of it.

        Returns:
            The value or values, or ``None`` if it failed.
        """
        module = self.rt if name.startswith("cuda") else self.cu
        text = f"{name}({', '.join(str(self.shown(each)) for each in arguments)})"
        index, self._count = self._count, self._count + 1
        if index in self._skipped:
            self._write(self._skipped[index])
            return None
        self._before(text)
        try:
            result, *values = getattr(module, name)(*arguments)
        except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError) as error:
            self._write({"call": text, "result": type(error).__name__})
            return None
        step: Step = {"call": text, "result": result.name}
        value = values[0] if len(values) == 1 else tuple(values) or None
        if not int(result) and values and not silent:
            if relation is not None:
                step["value"] = relation(value)
            elif fields is not None:
                step["value"] = [self.shown(_field(value, field)) for field in fields]
            else:
                step["value"] = self.shown(value)
        self._write(step)
        return None if int(result) else value

    def fact(self, name: str, value: object) -> None:
        """Record a fact about memory, such as whether bytes arrived."""
        self._write({"fact": name, "value": value})

    def shown(self, value: Any) -> Any:
        """Return a value in a form that is the same for two drivers."""
        if value is None or isinstance(value, bool | str | float):
            return value
        if hasattr(value, "name") and hasattr(value, "value"):
            return value.name
        if isinstance(value, bytes):
            return value.split(b"\0")[0].decode("latin1")
        if isinstance(value, list | tuple):
            return [self.shown(each) for each in value]
        kind = type(value).__name__
        if not hasattr(value, "__int__"):
            return kind
        number = int(value)
        named = next(
            (found for found in self._names if found[0] <= number <= found[0] + found[1]), None
        )
        if named is not None:
            offset = number - named[0]
            return f"{named[2]}+{offset}" if offset else named[2]
        is_number = isinstance(value, int | np.integer) or kind in _ADDRESS_TYPES
        if not number or (is_number and abs(number) < _LARGE):
            return number
        return "address" if is_number else "handle"


def _field(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name)
    return value


def record(scenario: Scenario, driver: Any, runtime: Any) -> list[Step]:
    """Run a scenario in this process."""
    steps: list[Step] = []
    scenario(Probe(driver, runtime, steps.append))
    return steps
