"""Steps of context scripts that call the runtime API."""

from __future__ import annotations

import importlib

from cudarun.session.contexts.answers import CallAnswer, StepBase, timed, valued
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import DriverChoice, DriverTraits

_PROBE_BYTES = 256  # the size that runtime-current allocates


class RuntimeSteps(StepBase):
    """The verbs on the runtime API."""

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
