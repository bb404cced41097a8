"""Steps of context scripts on memory: contents, checks and prints, as of ``launch``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.statements import Check
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.initializers import contents, in_memory, seeded
from cudarun.arguments.packing import BufferSpec, HandleOwner, VariableElement, write_addresses
from cudarun.base.errors import RequestError
from cudarun.session.contexts.answers import CallAnswer, StepBase, valued

_SEED = 0  # of random initializers, as the default of --seed

Known = Mapping[str, BufferSpec]
"""The types and shapes of memory by name."""
_NOTHING: Known = {}


class MemorySteps(StepBase):
    """The verbs on memory."""

    def _do_alloc(self, name: str, memory: int | BufferSpec, known: Known = _NOTHING) -> CallAnswer:
        if isinstance(memory, int):
            return self.addressed(self.ask("cuMemAlloc", memory), name, "buffer")
        return self.allocated(name, memory, known)

    def allocated(self, name: str, spec: BufferSpec, known: Known) -> CallAnswer:
        """Allocate memory, and write its initial contents, if it has any."""
        answer = self.addressed(self.ask("cuMemAlloc", spec.nbytes), name, "buffer")
        if not answer.succeeded or spec.initial is None:
            return answer
        written = self.written(name, spec, known)
        return answer if written.succeeded else written

    def written(self, name: str, spec: BufferSpec, known: Known) -> CallAnswer:
        """Write contents to memory."""
        data = self.data_of(replace(spec, name=name), known)
        return self.ask("cuMemcpyHtoD", self.handle_of(name), data, len(data))[0]

    def data_of(self, spec: BufferSpec, known: Known) -> bytes:
        """Return initial contents as bytes.

        Raises:
            RequestError: A file cannot be read, or an address is out of bounds.
        """
        assert spec.initial is not None, "the parser requires contents"
        with in_memory(str(spec)):
            made = contents(spec.initial, spec.type, spec.shape, seeded(_SEED, spec.name))
            data = bytearray(made.array().tobytes())
        pointees = (each for _, each in spec.pointers if isinstance(each, VariableElement))
        write_addresses(data, spec.pointers, {}, self.places(pointees, known))
        return bytes(data)

    def places(self, elements: Iterable[VariableElement], known: Known) -> dict[HandleOwner, int]:
        """Return the addresses of elements of memory with a name.

        Raises:
            NotRun: The memory was not allocated.
            RequestError: An index is out of bounds.
        """
        return {each: self._place(each, known.get(each.name)) for each in elements}

    def _place(self, element: VariableElement, spec: BufferSpec | None) -> int:
        address = self.value_of(element.name)
        if not element.index:
            return address
        shown = f"&{element.name}[{element.index}]"
        if spec is None:
            raise RequestError(f"{shown}: the type of {element.name} is unknown")
        count = math.prod(spec.shape)
        if not 0 <= element.index <= count:
            raise RequestError(
                f"{shown} is out of bounds: {element.name} has {count} element{'s' * (count != 1)}"
            )
        return address + element.index * spec.type.size

    def _do_write(self, buffer: str, value: BufferSpec, known: Known = _NOTHING) -> CallAnswer:
        return self.written(buffer, value, known)

    def _do_read(self, buffer: str, as_type: BufferSpec) -> CallAnswer:
        copied = self._copied(buffer, as_type)
        return valued(copied, lambda data: (data, _formatted(_array(as_type, data))))

    def _copied(self, name: str, spec: BufferSpec) -> tuple[CallAnswer, bytes]:
        """Copy memory from the device."""
        data = bytearray(spec.nbytes)
        answer, _ = self.ask("cuMemcpyDtoH", data, self.handle_of(name), len(data))
        return answer, bytes(data)

    def _do_check(self, check: Check, known: Known) -> CallAnswer:
        answer, values = self._values(check.expression, known)
        if not answer.succeeded:
            return answer
        tolerance = Tolerance().overridden(check.rtol, check.atol)
        result = run_check(check.expression, values, {}, tolerance)
        return replace(answer.giving(result.passed), check=result)

    def _do_print(self, expression: Expression, known: Known) -> CallAnswer:
        answer, values = self._values(expression, known)
        if not answer.succeeded:
            return answer
        return answer.giving(None, _formatted(Evaluator(expression, values, {}).result()))

    def _values(self, expression: Expression, known: Known) -> tuple[CallAnswer, dict[str, Any]]:
        """Return the values of the names in an expression, copied from the device."""
        answer = CallAnswer("", self.driver.CUresult.CUDA_SUCCESS, 0.0)
        values: dict[str, Any] = {}
        for name in sorted(expression.names):
            spec = known.get(name)
            if spec is None:
                values[name] = np.uint64(self.value_of(name))
                continue
            answer, data = self._copied(name, spec)
            if not answer.succeeded:
                break
            values[name] = _array(spec, data)
        return answer, values

    def _do_free(self, buffer: str) -> CallAnswer:
        return self.ask("cuMemFree", self.handle_of(buffer))[0]

    def _do_memory(self) -> CallAnswer:
        asked = self.ask("cuMemGetInfo")
        return valued(asked, lambda free: (free, f"{free / 2**20:.1f} MiB free"))


def _array(spec: BufferSpec, data: bytes) -> Any:
    """Return data as an array of its type and shape, or as a scalar."""
    return np.frombuffer(data, spec.dtype()).reshape(spec.array_shape)[()]


def _formatted(value: Any) -> str:
    """Format data for display in one line: ``5``, ``[1, 2]``."""
    if isinstance(value, np.ndarray):
        text = np.array2string(value, separator=", ", max_line_width=1 << 20)
        return text.replace("\n", "")
    return str(value)
