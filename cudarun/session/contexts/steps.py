"""The implementation of each step of a context script, usually one driver or runtime API call.

Every result code is a valid answer here. The method of a verb is `_do_` and its name. The table in
`verbs` describes it, and it receives the operands by the names of the parser.
"""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable, Mapping
from enum import IntEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.dimensions import evaluate_extent, evaluate_size
from cudarun.arguments.dtypes import by_value
from cudarun.arguments.syntax import Expression
from cudarun.arguments.types import SCALARS, Type
from cudarun.arguments.values import Argument, Scalar
from cudarun.bindings import context_arguments
from cudarun.errors import ImageRefused, RequestError
from cudarun.images.facts import KernelFacts
from cudarun.records import dataclass
from cudarun.session.contexts.handles import ScriptContexts
from cudarun.session.contexts.script import Limit, NameReference, Symbol
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.contexts import (
    LIMITS,
    cache_config,
    cache_word,
    flag_bits,
    flag_words,
)
from cudarun.session.driver.devices import Device
from cudarun.session.driver.drivers import DriverChoice, DriverTraits
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.image import Image

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

_LOG_BYTES = 1 << 16
_PROBE_BYTES = 256  # the size that runtime-current allocates


class NotSupported(Exception):
    """The step cannot be carried out here; the message says what is missing."""


class NotRun(Exception):
    """The step's object was never created; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a call.

    Attributes:
        call: The function's name.
        result: A ``CUresult`` or ``cudaError_t``.
        milliseconds: The duration.
        value: The value for later steps and comparisons: an int, a word, words, bytes.
        text: The value for display.
        log: The compiler's log.
    """

    call: str
    result: IntEnum
    milliseconds: float
    value: Any = None
    text: str | None = None
    log: str | None = None

    @property
    def succeeded(self) -> bool:
        """Return whether the result is success."""
        return int(self.result) == 0

    def giving(self, value: object, text: str | None = None, *, log: str | None = None) -> Answer:
        """Return the same answer with a value."""
        return Answer(self.call, self.result, self.milliseconds, value, text, log)


Asked: TypeAlias = tuple[Answer, Any]
"""An answer, and the first value that the call returned."""


@dataclass(frozen=True, slots=True)
class ScriptObject:
    """The object of a name: a handle or an address, and its kind."""

    kind: str
    value: int
    image: Image | None = None
    kernel: KernelFacts | None = None


class Steps:
    """The implementation of the verbs.

    Args:
        driver: The initialized driver.
        contexts: The record of contexts.
        images: The files that the script loads, by their names in it.
        trace: Trace calls of the runtime API, too.
    """

    def __init__(
        self,
        driver: Driver,
        contexts: ScriptContexts,
        images: Mapping[str, Image],
        *,
        trace: bool = False,
    ) -> None:
        self.driver = driver
        self.contexts = contexts
        self.devices = contexts.devices
        self.images = images
        self.trace = trace
        self._objects: dict[str, ScriptObject] = {}
        self._runtime: Driver | None = None

    def method(self, verb: str) -> Callable[..., Answer]:
        """Return the method of a verb."""
        method: Callable[..., Answer] = getattr(self, f"_do_{verb.replace('-', '_')}")
        return method

    def value_of(self, name: str) -> int:
        """Return the handle or address of a name."""
        return self._object(name).value

    def keep(self, label: str, value: int) -> None:
        """Store the value of a step, ``as LABEL``."""
        self._objects[label] = ScriptObject("value", value)

    def _object(self, name: str) -> ScriptObject:
        thing = self._objects.get(name)
        if thing is None:
            raise NotRun(f"{name} was not created")
        return thing

    def _ask(self, call: str, *arguments: object) -> Asked:
        """Call the driver; return the answer and the first returned value."""
        return _timed(self.driver, call, *arguments)

    def _made(self, asked: Asked, name: str, kind: str, image: Image | None = None) -> Answer:
        """Return the answer of a call that creates the object ``name``."""
        answer, handle = asked
        if not answer.succeeded:
            return answer
        self._objects[name] = ScriptObject(kind, int(handle), image)
        return answer.giving(int(handle))

    def _addressed(self, asked: Asked, name: str, kind: str) -> Answer:
        """Return the answer of a call that returns the address of ``name``."""
        answer = self._made(asked, name, kind)
        if not answer.succeeded:
            return answer
        address = self.value_of(name)
        return answer.giving(address, hex(address))

    def _contextual(self, asked: Asked) -> Answer:
        """Return the answer of a call that returns a context."""
        answer, handle = asked
        if not answer.succeeded:
            return answer
        value = int(handle)
        return answer.giving(value, self.contexts.name(value) if value else "none")

    def _numbered(self, asked: Asked) -> Answer:
        answer, number = asked
        return answer.giving(int(number), str(int(number))) if answer.succeeded else answer

    def _device(self, dev: int) -> Device:
        return self.devices[dev]

    # --- contexts ---

    def _do_create(self, name: str, dev: int = 0, flags: frozenset[str] = frozenset()) -> Answer:
        bits = flag_bits(self.driver, flags)
        device = self._device(dev)
        answer, handle = self._ask(
            "cuCtxCreate", *context_arguments(self.driver.module, bits, device.handle)
        )
        if answer.succeeded:
            self.contexts.add(int(handle), name)
        return self._made((answer, handle), name, "context")

    def _do_push(self, context: str) -> Answer:
        return self._ask("cuCtxPushCurrent", self._context(context))[0]

    def _do_pop(self) -> Answer:
        return self._contextual(self._ask("cuCtxPopCurrent"))

    def _do_set(self, context: str | None) -> Answer:
        handle = None if context is None else self._context(context)
        return self._ask("cuCtxSetCurrent", handle)[0]

    def _do_current(self) -> Answer:
        return self._contextual(self._ask("cuCtxGetCurrent"))

    def _do_device(self) -> Answer:
        answer, handle = self._ask("cuCtxGetDevice")
        if not answer.succeeded:
            return answer
        index = next(i for i, d in enumerate(self.devices) if int(d.handle) == int(handle))
        return answer.giving(index, f"dev={index}")

    def _do_sync(self, thing: str | None = None) -> Answer:
        if thing is None:
            return self._ask("cuCtxSynchronize")[0]
        found = self._object(thing)
        if found.kind == "stream":
            return self._ask("cuStreamSynchronize", self.driver.CUstream(found.value))[0]
        return self._ask("cuEventSynchronize", self.driver.CUevent(found.value))[0]

    def _do_destroy(self, thing: str) -> Answer:
        found = self._object(thing)
        if found.kind == "stream":
            return self._ask("cuStreamDestroy", self.driver.CUstream(found.value))[0]
        if found.kind == "event":
            return self._ask("cuEventDestroy", self.driver.CUevent(found.value))[0]
        answer, _ = self._ask("cuCtxDestroy", self.driver.CUcontext(found.value))
        if answer.succeeded:
            self.contexts.mark_destroyed(found.value)
        return answer

    def _do_attach(self) -> Answer:
        return self._contextual(self._ask("cuCtxAttach", 0))

    def _do_detach(self, context: str | None = None) -> Answer:
        current = self.contexts.driver.cuCtxGetCurrent
        handle = current() if context is None else self._context(context)
        answer, _ = self._ask("cuCtxDetach", handle)
        # The driver counts the uses; the last release destroys the context and pops it.
        if answer.succeeded and int(current()) != int(handle):
            self.contexts.mark_destroyed(int(handle))
        return answer

    def _do_flags(self, flags: frozenset[str] | None = None) -> Answer:
        if flags is None:
            return self._flagged(self._ask("cuCtxGetFlags"))
        answer, _ = self._ask("cuCtxSetFlags", flag_bits(self.driver, flags))
        return self._read_back(answer, lambda: self._flagged(self._ask("cuCtxGetFlags")))

    def _do_limit(self, limit: Limit) -> Answer:
        number = getattr(self.driver.CUlimit, LIMITS[limit.name])
        if limit.size is None:
            return self._numbered(self._ask("cuCtxGetLimit", number))
        answer, _ = self._ask("cuCtxSetLimit", number, limit.size)
        return self._read_back(answer, lambda: self._numbered(self._ask("cuCtxGetLimit", number)))

    def _do_cache(self, prefer: str | None = None) -> Answer:
        if prefer is None:
            return self._cached(self._ask("cuCtxGetCacheConfig"))
        answer, _ = self._ask("cuCtxSetCacheConfig", cache_config(self.driver, prefer))
        return self._read_back(answer, lambda: self._cached(self._ask("cuCtxGetCacheConfig")))

    def _do_api_version(self, context: str | None = None) -> Answer:
        handle = None if context is None else self._context(context)
        return self._numbered(self._ask("cuCtxGetApiVersion", handle))

    def _context(self, name: str) -> cuda.CUcontext:
        return self.driver.CUcontext(self.value_of(name))

    def _flagged(self, asked: Asked) -> Answer:
        answer, bits = asked
        if not answer.succeeded:
            return answer
        words = flag_words(self.driver, int(bits))
        return answer.giving(frozenset(words), ",".join(words))

    def _cached(self, asked: Asked) -> Answer:
        answer, config = asked
        if not answer.succeeded:
            return answer
        word = cache_word(self.driver, config)
        return answer.giving(word, word)

    def _read_back(self, answer: Answer, read: Callable[[], Answer]) -> Answer:
        """Return a setter's answer with its getter's value, because the driver may round."""
        if not answer.succeeded:
            return answer
        after = read()
        return answer.giving(after.value, after.text)

    # --- primary contexts ---

    def _do_retain(self, name: str, dev: int = 0) -> Answer:
        device = self._device(dev)
        answer, handle = self._ask("cuDevicePrimaryCtxRetain", device.handle)
        if answer.succeeded:
            self.contexts.add(int(handle), name, device)
        self._made((answer, handle), name, "context")
        return self._contextual((answer, handle))

    def _do_release(self, dev: int = 0) -> Answer:
        return self._ask("cuDevicePrimaryCtxRelease", self._device(dev).handle)[0]

    def _do_reset(self, dev: int = 0) -> Answer:
        device = self._device(dev)
        self.contexts.mark_reset(device)
        return self._ask("cuDevicePrimaryCtxReset", device.handle)[0]

    def _do_state(self, dev: int = 0) -> Answer:
        answer, state = self._state(dev)
        if not answer.succeeded:
            return answer
        word = "active" if state[1] else "inactive"
        return answer.giving(word, word)

    def _do_primary_flags(self, flags: frozenset[str] | None = None, dev: int = 0) -> Answer:
        if flags is None:
            answer, state = self._state(dev)
            return self._flagged((answer, state[0]))
        bits = flag_bits(self.driver, flags)
        answer, _ = self._ask("cuDevicePrimaryCtxSetFlags", self._device(dev).handle, bits)
        return self._read_back(answer, lambda: self._do_primary_flags(dev=dev))

    def _state(self, dev: int) -> tuple[Answer, tuple[int, int]]:
        """Query the primary context's flags, and whether it is active."""
        answer, state = _timed_all(
            self.driver, "cuDevicePrimaryCtxGetState", self._device(dev).handle
        )
        return answer, (state[0], state[1])

    # --- memory ---

    def _do_alloc(self, name: str, size: int) -> Answer:
        return self._addressed(self._ask("cuMemAlloc", size), name, "buffer")

    def _do_write(self, buffer: str, data: bytes, as_type: Type | None) -> Answer:
        address = self.driver.CUdeviceptr(self.value_of(buffer))
        return self._ask("cuMemcpyHtoD", address, data, len(data))[0]

    def _do_read(self, buffer: str, as_type: Type) -> Answer:
        data = bytearray(as_type.size)
        address = self.driver.CUdeviceptr(self.value_of(buffer))
        answer, _ = self._ask("cuMemcpyDtoH", data, address, len(data))
        return answer.giving(bytes(data), _formatted(as_type, data)) if answer.succeeded else answer

    def _do_free(self, buffer: str) -> Answer:
        return self._ask("cuMemFree", self.driver.CUdeviceptr(self.value_of(buffer)))[0]

    def _do_memory(self) -> Answer:
        answer, free = self._ask("cuMemGetInfo")
        if not answer.succeeded:
            return answer
        return answer.giving(free, f"{free / 2**20:.1f} MiB free")

    # --- code ---

    def _do_module(self, name: str, image: str) -> Answer:
        file, log = self.images[image], bytearray(_LOG_BYTES)
        options, values = self._log_options(log)
        asked = self._ask(
            "cuModuleLoadDataEx", file.code + b"\0", len(options), options, values
        )  # fmt: skip
        answer = self._made(asked, name, "module", file)
        return answer.giving(None, log=_log_text(log))

    def _do_library(self, name: str, image: str) -> Answer:
        file, log = self.images[image], bytearray(_LOG_BYTES)
        options, values = self._log_options(log)
        asked = self._ask(
            "cuLibraryLoadData", file.code + b"\0", options, values, len(options), [], [], 0
        )
        answer = self._made(asked, name, "library", file)
        return answer.giving(None, log=_log_text(log))

    def _do_function(self, name: str, symbol: Symbol) -> Answer:
        owner = self._object(symbol.owner)
        wanted = symbol.name.encode()
        if owner.kind == "module":
            handle = self.driver.CUmodule(owner.value)
            answer, function = self._ask("cuModuleGetFunction", handle, wanted)
        else:
            library = self.driver.CUlibrary(owner.value)
            answer, function = self._ask("cuLibraryGetKernel", library, wanted)
        if answer.succeeded:
            kernel = _kernel_facts(owner.image, symbol.name)
            self._objects[name] = ScriptObject("function", int(function), owner.image, kernel)
            return answer
        return answer.giving(None, log=_mangled_names(owner.image, symbol.name))

    def _do_global(self, name: str, symbol: Symbol) -> Answer:
        owner = self._object(symbol.owner)
        wanted = symbol.name.encode()
        if owner.kind == "module":
            handle = self.driver.CUmodule(owner.value)
            return self._addressed(self._ask("cuModuleGetGlobal", handle, wanted), name, "variable")
        library = self.driver.CUlibrary(owner.value)
        return self._addressed(self._ask("cuLibraryGetGlobal", library, wanted), name, "variable")

    def _do_managed(self, name: str, symbol: Symbol) -> Answer:
        owner = self._object(symbol.owner)
        if owner.kind == "module":
            raise NotSupported("managed variables require a library, not a module")
        library = self.driver.CUlibrary(owner.value)
        asked = self._ask("cuLibraryGetManaged", library, symbol.name.encode())
        return self._addressed(asked, name, "variable")

    def _do_launch(
        self,
        function: str,
        arguments: tuple[Argument | NameReference, ...] = (),
        grid: tuple[Expression, ...] = (),
        block: tuple[Expression, ...] = (),
        smem: Expression | None = None,
        stream: str | None = None,
    ) -> Answer:
        found = self._object(function)
        if found.kernel is None:
            raise RequestError(f"{function}: the image does not contain this kernel's parameters")
        values = [
            Argument(None, Scalar(SCALARS["u64"], self.value_of(argument.text)), argument.text)
            if isinstance(argument, NameReference)
            else argument
            for argument in arguments
        ]
        parameters = found.kernel.parameters
        if found.image is not None:
            parameters = DebugReader(found.image).read(found.kernel.name, parameters).parameters
        binding = bind(values, parameters, kernel=found.kernel.demangled)
        extents = (*_extent("grid=", grid, binding), *_extent("block=", block, binding))
        packed = binding.pack({}, {})
        buffer = ctypes.create_string_buffer(packed, max(1, len(packed)))
        start = ctypes.addressof(buffer)
        pointers = [start + parameter.offset for parameter in parameters]
        array = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        handle = 0 if stream is None else self.value_of(stream)
        return self._ask(
            "cuLaunchKernel", self.driver.CUfunction(found.value), *extents, _size(smem, binding),
            self.driver.CUstream(handle), ctypes.addressof(array), 0,
        )[0]  # fmt: skip

    def _do_unload(self, owner: str) -> Answer:
        found = self._object(owner)
        if found.kind == "module":
            return self._ask("cuModuleUnload", self.driver.CUmodule(found.value))[0]
        return self._ask("cuLibraryUnload", self.driver.CUlibrary(found.value))[0]

    def _log_options(self, log: bytearray) -> tuple[list[object], list[object]]:
        option = self.driver.CUjit_option
        options = {
            option.CU_JIT_ERROR_LOG_BUFFER: log,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: len(log),
        }
        return [*options], [*options.values()]

    # --- streams and events ---

    def _do_stream(self, name: str) -> Answer:
        return self._made(self._ask("cuStreamCreate", 0), name, "stream")

    def _do_event(self, name: str) -> Answer:
        return self._made(self._ask("cuEventCreate", 0), name, "event")

    def _do_record(self, event: str, stream: str | None = None) -> Answer:
        handle = 0 if stream is None else self.value_of(stream)
        recorded = self.driver.CUevent(self.value_of(event))
        return self._ask("cuEventRecord", recorded, self.driver.CUstream(handle))[0]

    # --- the runtime API ---

    def _do_runtime_init(self, dev: int = 0) -> Answer:
        runtime, device = self.runtime(), self._device(dev)
        if device.index != 0 and not int(self.contexts.driver.cuCtxGetCurrent()):
            runtime.attempt("cudaSetDevice", device.index)  # otherwise it would use the first GPU
        return _timed(runtime, "cudaFree", 0)[0]

    def _do_runtime_current(self) -> Answer:
        answer, address = _timed(self.runtime(), "cudaMalloc", _PROBE_BYTES)
        if not answer.succeeded:
            return answer
        attribute = self.driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
        owner = self.contexts.driver.cuPointerGetAttribute(attribute, int(address))
        self.runtime().attempt("cudaFree", address)
        return self._contextual((answer, owner))

    def _do_runtime_pointer(self, buffer: str) -> Answer:
        address = self.value_of(buffer)
        answer, attributes = _timed(self.runtime(), "cudaPointerGetAttributes", address)
        if not answer.succeeded:
            return answer
        word = str(attributes.type.name).removeprefix("cudaMemoryType").lower()
        return answer.giving(word, word)

    def runtime(self) -> Driver:
        """Return the runtime API that belongs to the driver API, such as ``cuda.bindings.runtime``.

        Raises:
            NotSupported: There is no runtime API.
        """
        if self._runtime is None:
            package = self.driver.module.__package__
            if find_spec(f"{package}.runtime") is None:
                raise NotSupported("this driver has no runtime API")
            module = importlib.import_module(f"{package}.runtime")
            choice = DriverChoice(module, DriverTraits(guard_bytes=0))
            self._runtime = Driver(choice, trace=self.trace)
        return self._runtime


def _extent(option: str, wanted: tuple[Expression, ...], binding: Binding) -> tuple[int, ...]:
    """Evaluate a grid or a block over the integer arguments; one by default."""
    try:
        return (*evaluate_extent(wanted, binding.integers, least=0), 1, 1, 1)[:3]
    except RequestError as error:
        raise error.of(option=option) from None


def _size(wanted: Expression | None, binding: Binding) -> int:
    """Evaluate the shared memory over the integer arguments; none by default."""
    try:
        return 0 if wanted is None else evaluate_size(wanted, binding.integers)
    except RequestError as error:
        raise error.of(option="smem=") from None


def _timed(api: Driver, call: str, *arguments: object) -> Asked:
    """Make a call; return the answer and the first returned value."""
    answer, values = _timed_all(api, call, *arguments)
    return answer, values[0] if values else None


def _timed_all(api: Driver, call: str, *arguments: object) -> tuple[Answer, list[Any]]:
    """Make a call; return the answer and all returned values."""
    started = time.perf_counter()
    result, *values = api.attempt(call, *arguments)
    return Answer(call, result, (time.perf_counter() - started) * 1e3), values


def _log_text(log: bytearray) -> str | None:
    """Return the text that a compiler wrote into its buffer."""
    return log.split(b"\0", 1)[0].decode(errors="replace").strip() or None


def _kernel_facts(image: Image | None, name: str) -> KernelFacts | None:
    """Return an image's facts about a kernel; ``None`` if it cannot be read."""
    return next((kernel for kernel in _kernels(image) if kernel.name == name), None)


def _mangled_names(image: Image | None, name: str) -> str | None:
    """Return the mangled name of a kernel if ``name`` is its C++ name."""
    from cudarun.images.demangler import spellings

    names = [kernel.name for kernel in _kernels(image)]
    found = [mangled for mangled in names if name in spellings(mangled)[1:]]
    if not found or name in names:
        return None
    return f"the driver accepts only mangled names: {', '.join(found)}"


def _kernels(image: Image | None) -> tuple[KernelFacts, ...]:
    """Return an image's kernels; none if it cannot be read."""
    from cudarun.images.reader import read_image

    if image is None:
        return ()
    try:
        facts = image.facts or read_image(image.data, image.origin, whole=False)
    except ImageRefused:
        return ()
    return tuple(facts.kernels)


def _formatted(as_type: Type, data: bytes | bytearray) -> str:
    """Format data for display: ``5``, ``[1, 2]``."""
    import numpy as np

    value = by_value(as_type, bytes(data))
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ")
    return str(value)
