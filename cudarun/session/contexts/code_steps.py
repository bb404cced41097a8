"""Steps of context scripts on memory and code: contents, checks, launches, streams and events."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from cudarun.arguments.binding import bind
from cudarun.arguments.dimensions import evaluate_extent, evaluate_size
from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.statements import Check
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.initializers import contents, in_memory, seeded
from cudarun.arguments.packing import BufferSpec, HandleOwner, VariableElement, write_addresses
from cudarun.arguments.values import Argument
from cudarun.base.errors import ImageRefused, RequestError, errors_of
from cudarun.images.facts import ImageFacts
from cudarun.session.contexts.answers import CallAnswer, NotSupported, ScriptObject, StepBase
from cudarun.session.contexts.script import Symbol
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.image import Image
from cudarun.session.load.jit import Logs

_SEED = 0  # of random initializers, as the default of --seed

Known = Mapping[str, BufferSpec]  # the types and shapes of memory by name
_NOTHING: Known = {}


class CodeSteps(StepBase):
    """The verbs on memory and code."""

    # --- memory ---

    def _do_alloc(self, name: str, memory: int | BufferSpec, known: Known = _NOTHING) -> CallAnswer:
        if isinstance(memory, int):
            return self.addressed(self.ask("cuMemAlloc", memory), name, "buffer")
        return self.allocated(name, memory, known)

    def allocated(self, name: str, spec: BufferSpec, known: Known) -> CallAnswer:
        """Allocate memory, and write its initial contents, if it has any."""
        answer = self.addressed(self.ask("cuMemAlloc", spec.nbytes), name, "buffer")
        if not answer.succeeded or spec.initial is None:
            return answer
        written = self._do_write(name, spec, known)
        return answer if written.succeeded else written

    def _do_write(self, buffer: str, value: BufferSpec, known: Known = _NOTHING) -> CallAnswer:
        data = self.data_of(replace(value, name=buffer), known)
        return self.ask("cuMemcpyHtoD", self.handle_of(buffer), data, len(data))

    def data_of(self, spec: BufferSpec, known: Known) -> bytes:
        """Return initial contents as bytes."""
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
        """
        return {each: self._place(each, known.get(each.name)) for each in elements}

    def _place(self, element: VariableElement, spec: BufferSpec | None) -> int:
        address = self.value_of(element.name)
        if not element.index:
            return address
        if spec is None:
            raise RequestError(f"{element}: the type of {element.name} is unknown")
        return address + element.offset(spec.type, math.prod(spec.shape))

    def _do_read(self, buffer: str, as_type: BufferSpec) -> CallAnswer:
        copied = self._copied(buffer, as_type)
        return copied.valued(lambda data: (data, _formatted(_array(as_type, data))))

    def _copied(self, name: str, spec: BufferSpec) -> CallAnswer:
        """Copy memory from the device, which the answer returns."""
        data = bytearray(spec.nbytes)
        answer = self.ask("cuMemcpyDtoH", data, self.handle_of(name), len(data))
        return replace(answer, returned=(bytes(data),))

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
            answer = self._copied(name, spec)
            if not answer.succeeded:
                break
            values[name] = _array(spec, *answer.returned)
        return answer, values

    def _do_memory(self) -> CallAnswer:
        answer = self.ask("cuMemGetInfo")
        return answer.valued(lambda free, total: (free, f"{free / 2**20:.1f} MiB free"))

    # --- code ---

    def _do_module(self, name: str, image: str) -> CallAnswer:
        code, logs, keys, values = self._code(image)
        asked = self.ask("cuModuleLoadDataEx", code, len(keys), keys, values)
        return self.made(asked, name, "module", self.images[image]).giving(None, log=logs.error)

    def _do_library(self, name: str, image: str) -> CallAnswer:
        code, logs, keys, values = self._code(image)
        asked = self.ask("cuLibraryLoadData", code, keys, values, len(keys), [], [], 0)
        return self.made(asked, name, "library", self.images[image]).giving(None, log=logs.error)

    def _code(self, image: str) -> tuple[bytes, Logs, list[object], list[object]]:
        """Return an image as the driver takes it, the logs, and the options that pass them."""
        self._logs.append(logs := Logs())
        options = logs.options(self.driver)
        return self.images[image].code + b"\0", logs, [*options], [*options.values()]

    def _do_function(self, name: str, symbol: Symbol) -> CallAnswer:
        answer = self._ask_owner(symbol, "cuModuleGetFunction", "cuLibraryGetKernel")
        image = self.object_of(symbol.owner).image
        if answer.succeeded:
            facts = _facts(image)
            kernel = None if facts is None else facts.kernel(symbol.name)
            self.objects[name] = ScriptObject("function", int(*answer.returned), image, kernel)
            return answer
        return answer.giving(None, log=_mangled_names(image, symbol.name))

    def _do_global(self, name: str, symbol: Symbol) -> CallAnswer:
        asked = self._ask_owner(symbol, "cuModuleGetGlobal", "cuLibraryGetGlobal")
        return self.addressed(asked, name, "variable")

    def _do_managed(self, name: str, symbol: Symbol) -> CallAnswer:
        if self.object_of(symbol.owner).kind == "module":
            raise NotSupported("managed variables require a library, not a module")
        return self.addressed(self._ask_owner(symbol, "", "cuLibraryGetManaged"), name, "variable")

    def _ask_owner(self, symbol: Symbol, of_module: str, of_library: str) -> CallAnswer:
        name = symbol.name.encode()
        return self.ask_about(symbol.owner, name, module=of_module, library=of_library)

    def _do_launch(
        self,
        function: str,
        arguments: tuple[Argument, ...] = (),
        grid: tuple[Expression, ...] = (),
        block: tuple[Expression, ...] = (),
        smem: Expression | None = None,
        stream: str | None = None,
        known: Known | None = None,
    ) -> CallAnswer:
        found = self.object_of(function)
        if found.kernel is None:
            raise RequestError(f"{function}: the image does not contain this kernel's parameters")
        parameters = found.kernel.parameters
        if found.image is not None:
            parameters, _ = DebugReader(found.image).read(found.kernel.name, parameters)
        binding = bind(arguments, parameters, kernel=found.kernel.demangled)
        extents: list[int] = []
        for option, wanted in (("grid=", grid), ("block=", block)):
            with errors_of(option=option):
                extents += (*evaluate_extent(wanted, binding.integers, least=0), 1, 1, 1)[:3]
        with errors_of(option="smem="):
            shared_bytes = 0 if smem is None else evaluate_size(smem, binding.integers)
        for spec in binding.buffers:
            answer = self.allocated(spec.name, spec, known or {})
            if not answer.succeeded:
                return answer
        addresses = {spec.name: self.value_of(spec.name) for spec in binding.buffers}
        packed = binding.pack(addresses, self.places(binding.variables, known or {}))
        buffer = ctypes.create_string_buffer(packed, max(1, len(packed)))
        start = ctypes.addressof(buffer)
        pointers = [start + parameter.offset for parameter in parameters]
        array = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        return self.ask(
            "cuLaunchKernel", self.handle_of(function), *extents, shared_bytes,
            self.handle_of(stream, "stream"), ctypes.addressof(array), 0,
        )  # fmt: skip

    def _do_unload(self, owner: str) -> CallAnswer:
        return self.ask_about(owner, module="cuModuleUnload", library="cuLibraryUnload")

    # --- streams and events ---

    def _do_record(self, event: str, stream: str | None = None) -> CallAnswer:
        handles = self.handle_of(event), self.handle_of(stream, "stream")
        return self.ask("cuEventRecord", *handles)


def _array(spec: BufferSpec, data: bytes) -> Any:
    """Return data as an array of its type and shape, or as a scalar."""
    return np.frombuffer(data, spec.dtype()).reshape(spec.array_shape)[()]


def _formatted(value: object) -> str:
    """Format data for display in one line: ``5``, ``[1, 2]``."""
    if isinstance(value, np.ndarray):
        text = np.array2string(value, separator=", ", max_line_width=1 << 20)
        return text.replace("\n", "")
    return str(value)


def _mangled_names(image: Image | None, name: str) -> str | None:
    """Return the mangled name of a kernel if ``name`` is its C++ name."""
    from cudarun.images.demangler import spellings

    facts = _facts(image)
    names = [] if facts is None else [kernel.name for kernel in facts.kernels]
    found = [mangled for mangled in names if name in spellings(mangled)[1:]]
    if not found or name in names:
        return None
    return f"the driver accepts only mangled names: {', '.join(found)}"


def _facts(image: Image | None) -> ImageFacts | None:
    """Return the facts of an image; ``None`` if it cannot be read."""
    with suppress(ImageRefused):
        return None if image is None else image.read_facts()
    return None
