"""The implementation of each step of a context script, usually one driver or runtime API call.

Every result code is a valid answer here. The method of a verb is `_do_` and its name. The table in
`verbs` describes it, and it receives the operands by the names of the parser.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from cudarun.base.bindings import context_arguments
from cudarun.session.contexts.answers import Asked, CallAnswer, numbered, timed, timed_all, valued
from cudarun.session.contexts.code_steps import CodeSteps
from cudarun.session.contexts.script import Limit
from cudarun.session.contexts.verbs import STATES
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.contexts import LIMITS, cache_config, cache_word, flag_bits, flag_words
from cudarun.session.driver.drivers import DriverChoice, DriverTraits

_PROBE_BYTES = 256  # the size that runtime-current allocates


class Steps(CodeSteps):
    """The implementation of all verbs; those on contexts and on the runtime API are here."""

    # --- contexts ---

    def _do_create(
        self, name: str, dev: int = 0, flags: frozenset[str] = frozenset()
    ) -> CallAnswer:
        bits = flag_bits(self.driver, flags)
        arguments = context_arguments(self.driver.module, bits, self.devices[dev].handle)
        answer, handle = self.ask("cuCtxCreate", *arguments)
        if answer.succeeded:
            self.contexts.add(int(handle), name)
        return self.made((answer, handle), name, "context")

    def _do_push(self, context: str) -> CallAnswer:
        return self.ask("cuCtxPushCurrent", self.handle_of(context))[0]

    def _do_pop(self) -> CallAnswer:
        return self.contextual(self.ask("cuCtxPopCurrent"))

    def _do_set(self, context: str | None) -> CallAnswer:
        handle = None if context is None else self.handle_of(context)
        return self.ask("cuCtxSetCurrent", handle)[0]

    def _do_current(self) -> CallAnswer:
        return self.contextual(self.ask("cuCtxGetCurrent"))

    def _do_device(self) -> CallAnswer:
        answer, handle = self.ask("cuCtxGetDevice")
        if not answer.succeeded:
            return answer
        index = [int(device.handle) for device in self.devices].index(int(handle))
        return answer.giving(index, f"dev={index}")

    def _do_sync(self, thing: str | None = None) -> CallAnswer:
        if thing is None:
            return self.ask("cuCtxSynchronize")[0]
        return self.ask_about(thing, stream="cuStreamSynchronize", event="cuEventSynchronize")[0]

    def _do_destroy(self, thing: str) -> CallAnswer:
        answer, _ = self.ask_about(
            thing, context="cuCtxDestroy", stream="cuStreamDestroy", event="cuEventDestroy"
        )
        if answer.succeeded and self.object_of(thing).kind == "context":
            self.contexts.ended.add(self.value_of(thing))
        return answer

    def _do_attach(self) -> CallAnswer:
        return self.contextual(self.ask("cuCtxAttach", 0))

    def _do_detach(self, context: str | None = None) -> CallAnswer:
        current = self.contexts.driver.cuCtxGetCurrent
        handle = current() if context is None else self.handle_of(context)
        answer, _ = self.ask("cuCtxDetach", handle)
        # The driver counts the uses; the last release destroys the context and pops it.
        if answer.succeeded and int(current()) != int(handle):
            self.contexts.ended.add(int(handle))
        return answer

    def _do_flags(self, flags: frozenset[str] | None = None) -> CallAnswer:
        if flags is None:
            return self._flagged(self.ask("cuCtxGetFlags"))
        answer, _ = self.ask("cuCtxSetFlags", flag_bits(self.driver, flags))
        return self._read_back(answer, lambda: self._flagged(self.ask("cuCtxGetFlags")))

    def _do_limit(self, limit: Limit) -> CallAnswer:
        number = getattr(self.driver.CUlimit, LIMITS[limit.name])
        if limit.size is None:
            return numbered(self.ask("cuCtxGetLimit", number))
        answer, _ = self.ask("cuCtxSetLimit", number, limit.size)
        return self._read_back(answer, lambda: numbered(self.ask("cuCtxGetLimit", number)))

    def _do_cache(self, prefer: str | None = None) -> CallAnswer:
        if prefer is None:
            return self._cached(self.ask("cuCtxGetCacheConfig"))
        answer, _ = self.ask("cuCtxSetCacheConfig", cache_config(self.driver, prefer))
        return self._read_back(answer, lambda: self._cached(self.ask("cuCtxGetCacheConfig")))

    def _do_api_version(self, context: str | None = None) -> CallAnswer:
        handle = None if context is None else self.handle_of(context)
        return numbered(self.ask("cuCtxGetApiVersion", handle))

    def _flagged(self, asked: Asked) -> CallAnswer:
        def words_of(bits: int) -> tuple[frozenset[str], str]:
            words = flag_words(self.driver, int(bits))
            return frozenset(words), ",".join(words)

        return valued(asked, words_of)

    def _cached(self, asked: Asked) -> CallAnswer:
        return valued(asked, lambda config: (cache_word(self.driver, config),) * 2)

    def _read_back(self, answer: CallAnswer, read: Callable[[], CallAnswer]) -> CallAnswer:
        """Return a setter's answer with its getter's value, because the driver may round."""
        if not answer.succeeded:
            return answer
        after = read()
        return answer.giving(after.value, after.text)

    # --- primary contexts ---

    def _do_retain(self, name: str, dev: int = 0) -> CallAnswer:
        device = self.devices[dev]
        answer, handle = self.ask("cuDevicePrimaryCtxRetain", device.handle)
        if answer.succeeded:
            self.contexts.add(int(handle), name, device)
        self.made((answer, handle), name, "context")
        return self.contextual((answer, handle))

    def _do_release(self, dev: int = 0) -> CallAnswer:
        return self.ask("cuDevicePrimaryCtxRelease", self.devices[dev].handle)[0]

    def _do_reset(self, dev: int = 0) -> CallAnswer:
        self.contexts.reset.add(self.devices[dev].index)
        return self.ask("cuDevicePrimaryCtxReset", self.devices[dev].handle)[0]

    def _do_state(self, dev: int = 0) -> CallAnswer:
        return valued(self._state(dev), lambda state: (STATES[not state[1]],) * 2)

    def _do_primary_flags(self, flags: frozenset[str] | None = None, dev: int = 0) -> CallAnswer:
        if flags is None:
            answer, state = self._state(dev)
            return self._flagged((answer, state[0]))
        bits = flag_bits(self.driver, flags)
        answer, _ = self.ask("cuDevicePrimaryCtxSetFlags", self.devices[dev].handle, bits)
        return self._read_back(answer, lambda: self._do_primary_flags(dev=dev))

    def _state(self, dev: int) -> tuple[CallAnswer, tuple[int, int]]:
        """Query the primary context's flags, and whether it is active."""
        answer, state = timed_all(
            self.driver, "cuDevicePrimaryCtxGetState", self.devices[dev].handle
        )
        return answer, (state[0], state[1])

    def method(self, verb: str) -> Callable[..., CallAnswer]:
        """Return the method of a verb."""
        method: Callable[..., CallAnswer] = getattr(self, f"_do_{verb.replace('-', '_')}")
        return method

    # --- the runtime API ---

    def _do_runtime_init(self, dev: int = 0) -> CallAnswer:
        runtime, device = self.runtime(), self.devices[dev]
        if device.index != 0 and not int(self.contexts.driver.cuCtxGetCurrent()):
            runtime.attempt("cudaSetDevice", device.index)  # otherwise it would use the first GPU
        return timed(runtime, "cudaFree", 0)[0]

    def _do_runtime_current(self) -> CallAnswer:
        answer, address = timed(self.runtime(), "cudaMalloc", _PROBE_BYTES)
        if not answer.succeeded:
            return answer
        attribute = self.driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
        owner = self.contexts.driver.cuPointerGetAttribute(attribute, int(address))
        self.runtime().attempt("cudaFree", address)
        return self.contextual((answer, owner))

    def _do_runtime_pointer(self, buffer: str) -> CallAnswer:
        asked = timed(self.runtime(), "cudaPointerGetAttributes", self.value_of(buffer))
        prefix = "cudaMemoryType"
        return valued(asked, lambda found: (found.type.name.removeprefix(prefix).lower(),) * 2)

    def runtime(self) -> Driver:
        """Return the runtime API of the driver API: the module ``runtime`` beside it."""
        if self._runtime is None:
            module = importlib.import_module(f"{self.driver.module.__package__}.runtime")
            choice = DriverChoice(module, DriverTraits(guard_bytes=0))
            self._runtime = Driver(choice, trace=self.trace)
        return self._runtime
