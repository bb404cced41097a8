"""The implementation of each step of a context script, usually one driver or runtime API call.

Every result code is a valid answer here. The method of a verb is `_do_` and its name. The table in
`verbs` describes it, and it receives the operands by the names of the parser.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from cudarun.session.contexts.answers import CallAnswer, timed, valued
from cudarun.session.contexts.code_steps import CodeSteps
from cudarun.session.contexts.context_steps import ContextSteps
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import DriverChoice, DriverTraits

_PROBE_BYTES = 256  # the size that runtime-current allocates


class Steps(ContextSteps, CodeSteps):
    """The implementation of all verbs, those on the runtime API included."""

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
        address = self.value_of(buffer)
        asked = timed(self.runtime(), "cudaPointerGetAttributes", address)
        prefix = "cudaMemoryType"
        return valued(asked, lambda found: (found.type.name.removeprefix(prefix).lower(),) * 2)

    def runtime(self) -> Driver:
        """Return the runtime API of the driver API: the module ``runtime`` beside it."""
        if self._runtime is None:
            module = importlib.import_module(f"{self.driver.module.__package__}.runtime")
            choice = DriverChoice(module, DriverTraits(guard_bytes=0))
            self._runtime = Driver(choice, trace=self.trace)
        return self._runtime
