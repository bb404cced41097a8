"""Steps of context scripts on code: modules, libraries, launches; streams and events."""

from __future__ import annotations

import ctypes
from contextlib import suppress

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.dimensions import evaluate_extent, evaluate_size
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.values import Argument
from cudarun.base.errors import ImageRefused, RequestError, errors_of
from cudarun.images.facts import ImageFacts
from cudarun.session.contexts.answers import Asked, CallAnswer, NotSupported, ScriptObject
from cudarun.session.contexts.memory_steps import Known, MemorySteps
from cudarun.session.contexts.script import Symbol
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.image import Image
from cudarun.session.load.jit import Logs


class CodeSteps(MemorySteps):
    """The verbs on code."""

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
        answer, function = self._ask_owner(symbol, "cuModuleGetFunction", "cuLibraryGetKernel")
        image = self.object_of(symbol.owner).image
        if answer.succeeded:
            facts = _facts(image)
            kernel = None if facts is None else facts.kernel(symbol.name)
            self.objects[name] = ScriptObject("function", int(function), image, kernel)
            return answer
        return answer.giving(None, log=_mangled_names(image, symbol.name))

    def _do_global(self, name: str, symbol: Symbol) -> CallAnswer:
        asked = self._ask_owner(symbol, "cuModuleGetGlobal", "cuLibraryGetGlobal")
        return self.addressed(asked, name, "variable")

    def _do_managed(self, name: str, symbol: Symbol) -> CallAnswer:
        if self.object_of(symbol.owner).kind == "module":
            raise NotSupported("managed variables require a library, not a module")
        asked = self._ask_owner(symbol, "", "cuLibraryGetManaged")
        return self.addressed(asked, name, "variable")

    def _ask_owner(self, symbol: Symbol, of_module: str, of_library: str) -> Asked:
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
            parameters = DebugReader(found.image).read(found.kernel.name, parameters).parameters
        binding = bind(arguments, parameters, kernel=found.kernel.demangled)
        extents = (*_extent("grid=", grid, binding), *_extent("block=", block, binding))
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
            "cuLaunchKernel", self.handle_of(function), *extents, _size(smem, binding),
            self.handle_of(stream, "stream"), ctypes.addressof(array), 0,
        )[0]  # fmt: skip

    def _do_unload(self, owner: str) -> CallAnswer:
        return self.ask_about(owner, module="cuModuleUnload", library="cuLibraryUnload")[0]

    # --- streams and events ---

    def _do_stream(self, name: str) -> CallAnswer:
        return self.made(self.ask("cuStreamCreate", 0), name, "stream")

    def _do_event(self, name: str) -> CallAnswer:
        return self.made(self.ask("cuEventCreate", 0), name, "event")

    def _do_record(self, event: str, stream: str | None = None) -> CallAnswer:
        handles = self.handle_of(event), self.handle_of(stream, "stream")
        return self.ask("cuEventRecord", *handles)[0]


def _extent(option: str, wanted: tuple[Expression, ...], binding: Binding) -> tuple[int, ...]:
    """Evaluate a grid or a block over the integer arguments; one by default."""
    with errors_of(option=option):
        return (*evaluate_extent(wanted, binding.integers, least=0), 1, 1, 1)[:3]


def _size(wanted: Expression | None, binding: Binding) -> int:
    """Evaluate the shared memory over the integer arguments; none by default."""
    with errors_of(option="smem="):
        return 0 if wanted is None else evaluate_size(wanted, binding.integers)


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
