"""Steps of context scripts that call the runtime API."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

from cudarun.session.contexts.answers import Answer, NotSupported, StepBase, timed
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import DriverChoice, DriverTraits

_PROBE_BYTES = 256  # the size that runtime-current allocates


class RuntimeSteps(StepBase):
    """The verbs on the runtime API."""

    # --- the runtime API ---

    def _do_runtime_init(self, dev: int = 0) -> Answer:
        runtime, device = self.runtime(), self.device_of(dev)
        if device.index != 0 and not int(self.contexts.driver.cuCtxGetCurrent()):
            runtime.attempt("cudaSetDevice", device.index)  # otherwise it would use the first GPU
        return timed(runtime, "cudaFree", 0)[0]

    def _do_runtime_current(self) -> Answer:
        answer, address = timed(self.runtime(), "cudaMalloc", _PROBE_BYTES)
        if not answer.succeeded:
            return answer
        attribute = self.driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
        owner = self.contexts.driver.cuPointerGetAttribute(attribute, int(address))
        self.runtime().attempt("cudaFree", address)
        return self.contextual((answer, owner))

    def _do_runtime_pointer(self, buffer: str) -> Answer:
        address = self.value_of(buffer)
        answer, attributes = timed(self.runtime(), "cudaPointerGetAttributes", address)
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
