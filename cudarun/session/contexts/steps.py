"""The implementation of each step of a context script, usually one driver or runtime API call.

Every result code is a valid answer here. The method of a verb is `_do_` and its name. The table in
`verbs` describes it, and it receives the operands by the names of the parser. A verb without a
method makes the call that the table names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, SupportsInt

from cudarun.base.bindings import context_arguments
from cudarun.base.records import replace
from cudarun.session.contexts.answers import CallAnswer, numbered, timed
from cudarun.session.contexts.code_steps import CodeSteps
from cudarun.session.contexts.script import Limit
from cudarun.session.contexts.verbs import STATES, VERBS, Verb
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
        answer = self.made(self.ask("cuCtxCreate", *arguments), name, "context")
        if answer.succeeded:
            self.contexts.add(answer.value, name)
        return answer

    def _do_device(self) -> CallAnswer:
        def indexed(handle: SupportsInt) -> tuple[int, str]:
            index = [int(device.handle) for device in self.devices].index(int(handle))
            return index, f"dev={index}"

        return self.ask("cuCtxGetDevice").valued(indexed)

    def _do_sync(self, thing: str | None = None) -> CallAnswer:
        if thing is None:
            return self.ask("cuCtxSynchronize")
        return self.ask_about(thing, stream="cuStreamSynchronize", event="cuEventSynchronize")

    def _do_destroy(self, thing: str) -> CallAnswer:
        answer = self.ask_about(
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
        answer = self.ask("cuCtxDetach", handle)
        # The driver counts the uses; the last release destroys the context and pops it.
        if answer.succeeded and int(current()) != int(handle):
            self.contexts.ended.add(int(handle))
        return answer

    def _do_flags(self, flags: frozenset[str] | None = None) -> CallAnswer:
        setting = None if flags is None else ("cuCtxSetFlags", flag_bits(self.driver, flags))
        return self._read_after(setting, lambda: self._flagged(self.ask("cuCtxGetFlags")))

    def _do_limit(self, limit: Limit) -> CallAnswer:
        number = getattr(self.driver.CUlimit, LIMITS[limit.name])
        setting = None if limit.size is None else ("cuCtxSetLimit", number, limit.size)
        return self._read_after(setting, lambda: numbered(self.ask("cuCtxGetLimit", number)))

    def _do_cache(self, prefer: str | None = None) -> CallAnswer:
        def read() -> CallAnswer:
            answer = self.ask("cuCtxGetCacheConfig")
            return answer.valued(lambda config: (cache_word(self.driver, config),) * 2)

        setting = prefer and ("cuCtxSetCacheConfig", cache_config(self.driver, prefer))
        return self._read_after(setting or None, read)

    def _do_api_version(self, context: str | None = None) -> CallAnswer:
        handle = None if context is None else self.handle_of(context)
        return numbered(self.ask("cuCtxGetApiVersion", handle))

    def _flagged(self, answer: CallAnswer) -> CallAnswer:
        def words_of(bits: int, *_: object) -> tuple[frozenset[str], str]:
            words = flag_words(self.driver, int(bits))
            return frozenset(words), ",".join(words)

        return answer.valued(words_of)

    def _read_after(
        self, setting: tuple[Any, ...] | None, read: Callable[[], CallAnswer]
    ) -> CallAnswer:
        """Return a getter's answer, or a setter's with the getter's value: the driver may round.

        Args:
            setting: The call of the setter and its arguments; ``None`` to read only.
        """
        if setting is None:
            return read()
        answer = self.ask(*setting)
        if not answer.succeeded:
            return answer
        after = read()
        return answer.giving(after.value, after.text)

    # --- primary contexts ---

    def _do_retain(self, name: str, dev: int = 0) -> CallAnswer:
        device = self.devices[dev]
        answer = self.made(self.ask("cuDevicePrimaryCtxRetain", device.handle), name, "context")
        if answer.succeeded:
            self.contexts.add(answer.value, name, device)
        return self.contextual(answer)

    def _do_release(self, dev: int = 0) -> CallAnswer:
        return self.ask("cuDevicePrimaryCtxRelease", self.devices[dev].handle)

    def _do_reset(self, dev: int = 0) -> CallAnswer:
        self.contexts.reset.add(self.devices[dev].index)
        return self.ask("cuDevicePrimaryCtxReset", self.devices[dev].handle)

    def _do_state(self, dev: int = 0) -> CallAnswer:
        return self._state(dev).valued(lambda flags, active: (STATES[not active],) * 2)

    def _do_primary_flags(self, flags: frozenset[str] | None = None, dev: int = 0) -> CallAnswer:
        setting: tuple[object, ...] | None = None
        if flags is not None:
            bits = flag_bits(self.driver, flags)
            setting = "cuDevicePrimaryCtxSetFlags", self.devices[dev].handle, bits
        return self._read_after(setting, lambda: self._flagged(self._state(dev)))

    def _state(self, dev: int) -> CallAnswer:
        """Query the primary context's flags, and whether it is active."""
        return self.ask("cuDevicePrimaryCtxGetState", self.devices[dev].handle)

    def method(self, verb: str) -> Callable[..., CallAnswer]:
        """Return the method of a verb, or one that makes its call."""
        default = partial(self._call, VERBS[verb])
        return getattr(self, f"_do_{verb.replace('-', '_')}", default)

    def _call(self, verb: Verb, name: str = "", **operands: str | None) -> CallAnswer:
        """Make a verb's call, which makes its object, or gets the handles of its operands."""
        call = verb.help.partition(":")[0]
        if verb.makes is not None:
            return self.made(self.ask(call, 0), name, verb.makes)
        handles = (None if each is None else self.handle_of(each) for each in operands.values())
        answer = self.ask(call, *handles)
        return self.contextual(answer) if verb.gives == "context" else answer

    # --- the runtime API ---

    def _do_runtime_init(self, dev: int = 0) -> CallAnswer:
        runtime, device = self.runtime(), self.devices[dev]
        if device.index != 0 and not int(self.contexts.driver.cuCtxGetCurrent()):
            runtime.attempt("cudaSetDevice", device.index)  # otherwise it would use the first GPU
        return timed(runtime, "cudaFree", 0)

    def _do_runtime_current(self) -> CallAnswer:
        answer = timed(self.runtime(), "cudaMalloc", _PROBE_BYTES)
        if not answer.succeeded:
            return answer
        attribute = self.driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
        [address] = answer.returned
        owner = self.contexts.driver.cuPointerGetAttribute(attribute, int(address))
        self.runtime().attempt("cudaFree", address)
        return self.contextual(replace(answer, returned=(owner,)))

    def _do_runtime_pointer(self, buffer: str) -> CallAnswer:
        answer = timed(self.runtime(), "cudaPointerGetAttributes", self.value_of(buffer))
        prefix = "cudaMemoryType"
        return answer.valued(lambda found: (found.type.name.removeprefix(prefix).lower(),) * 2)

    def runtime(self) -> Driver:
        """Return the runtime API of the driver API: the module ``runtime`` beside it."""
        if self._runtime is None:
            module = importlib.import_module(f"{self.driver.module.__package__}.runtime")
            choice = DriverChoice(module, DriverTraits(guard_bytes=0))
            self._runtime = Driver(choice, trace=self.trace)
        return self._runtime
