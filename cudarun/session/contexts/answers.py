"""The answers of steps, and the objects and contexts that a script has created."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, SupportsInt

from cudarun.base.records import dataclass, replace
from cudarun.images.facts import KernelFacts
from cudarun.model.checks import CheckResult
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device
from cudarun.session.image.image import Image
from cudarun.session.load.jit import Logs


class ScriptContexts:
    """The contexts of a script: their names, and whether they are alive."""

    def __init__(self, driver: Driver, devices: Sequence[Device]) -> None:
        # A driver whose calls are not traced, because they are not the script's.
        self.driver = driver
        self.devices = devices  # the devices ``dev=0``, ``dev=1``, …
        self.names: dict[int, str] = {}  # by their handles, in the order of their creation
        self.ended: set[int] = set()  # the handles of those that were destroyed
        # The indices of devices whose primary context was reset: it must be retained before it is
        # pushed.
        self.reset: set[int] = set()
        self._primary: dict[int, Device] = {}

    def add(self, handle: int, name: str, primary_of: Device | None = None) -> None:
        """Record a context that was created or retained; a primary one keeps its first name."""
        self.ended.discard(handle)
        if primary_of is not None:
            self.reset.discard(primary_of.index)
            self._primary[handle] = primary_of
            self.names.setdefault(handle, name)
        else:
            self.names[handle] = name

    def name(self, handle: int) -> str:
        """Return the script's name of a context; a primary one without a name is ``primary``."""
        # One without a name may be primary, and activated by something else than the script.
        for index, device in enumerate(() if handle in self.names else self.devices):
            if not self._is_active(device):  # then it is another one
                continue
            result, *primary = self.driver.attempt("cuDevicePrimaryCtxRetain", device.handle)
            if int(result) == 0:
                self.driver.attempt("cuDevicePrimaryCtxRelease", device.handle)
                if int(primary[0]) == handle:
                    name = "primary" if len(self.devices) == 1 else f"primary:{index}"
                    self.add(handle, name, device)
        return self.names.get(handle, f"{handle:#x}")

    def can_be_pushed(self, handle: int) -> bool:
        """Return whether a context that was popped can be pushed back."""
        device = self._primary.get(handle)
        return self.is_alive(handle) and (device is None or device.index not in self.reset)

    def is_alive(self, handle: int) -> bool:
        """Return whether a context is usable; the driver reports this for primary ones."""
        device = self._primary.get(handle)
        return handle not in self.ended if device is None else self._is_active(device)

    def _is_active(self, device: Device) -> bool:
        result, *state = self.driver.attempt("cuDevicePrimaryCtxGetState", device.handle)
        return bool(int(result) == 0 and state[1])


class NotSupported(Exception):
    """The step cannot be carried out here; the message says what is missing."""


class NotRun(Exception):
    """The step's object was never created; the message says why."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """The outcome of a call."""

    call: str  # the function's name
    result: IntEnum  # a ``CUresult`` or ``cudaError_t``
    milliseconds: float
    returned: tuple[Any, ...] = ()  # what the call returned beside the result
    value: Any = None  # the value for later steps and comparisons: an int, a word, words, bytes
    text: str | None = None  # the value for display
    log: str | None = None  # the compiler's log
    check: CheckResult | None = None

    @property
    def succeeded(self) -> bool:
        """Return whether the result is success."""
        return int(self.result) == 0

    def giving(
        self, value: object, text: str | None = None, *, log: str | None = None
    ) -> CallAnswer:
        """Return the same answer with a value."""
        return replace(self, value=value, text=text, log=log)

    def valued(self, read: Callable[..., tuple[object, str | None]]) -> CallAnswer:
        """Return the answer, if the call succeeded with its value and the text of that.

        Args:
            read: Returns the value and the text of what the call returned.
        """
        return self.giving(*read(*self.returned)) if self.succeeded else self


_HANDLES = {
    "context": "CUcontext",
    "stream": "CUstream",
    "event": "CUevent",
    "module": "CUmodule",
    "library": "CUlibrary",
    "function": "CUfunction",
    "buffer": "CUdeviceptr",
    "variable": "CUdeviceptr",
}
"""The driver's type of the handle or address of each kind of object."""


@dataclass(frozen=True, slots=True)
class ScriptObject:
    """The object of a name: a handle or an address, and its kind."""

    kind: str
    value: int
    image: Image | None = None
    kernel: KernelFacts | None = None


class StepBase:
    """The objects of a script, and the calls that create them."""

    def __init__(
        self,
        driver: Driver,
        contexts: ScriptContexts,
        images: Mapping[str, Image],
        *,
        trace: bool = False,
    ) -> None:
        self.driver = driver  # the initialized driver
        self.contexts = contexts  # the record of contexts
        self.devices = contexts.devices
        self.images = images  # the files that the script loads, by their names in it
        self.trace = trace  # trace calls of the runtime API, too
        self.objects: dict[str, ScriptObject] = {}
        self._runtime: Driver | None = None
        self._logs: list[Logs] = []  # to which the driver writes as long as the images are loaded

    def value_of(self, name: str) -> int:
        """Return the handle or address of a name."""
        return self.object_of(name).value

    def keep(self, label: str, value: int) -> None:
        """Store the value of a step, ``as LABEL``."""
        self.objects[label] = ScriptObject("value", value)

    def object_of(self, name: str) -> ScriptObject:
        """Return the object of a name; `NotRun` if the step that creates it failed."""
        thing = self.objects.get(name)
        if thing is None:
            raise NotRun(f"{name} was not created")
        return thing

    def handle_of(self, name: str | None, kind: str | None = None) -> Any:
        """Return the object of a name as the type of its handle or address.

        Args:
            name: The name; without one it is the handle 0.
            kind: The kind of the object; by default that of the name's.
        """
        thing = ScriptObject(kind or "", 0) if name is None else self.object_of(name)
        return getattr(self.driver, _HANDLES[thing.kind])(thing.value)

    def ask_about(self, name: str, *arguments: object, **calls: str) -> CallAnswer:
        """Call the driver with an object first; ``calls`` has the call for each kind of object."""
        return self.ask(calls[self.object_of(name).kind], self.handle_of(name), *arguments)

    def ask(self, call: str, *arguments: object) -> CallAnswer:
        """Call the driver."""
        return timed(self.driver, call, *arguments)

    def made(
        self, answer: CallAnswer, name: str, kind: str, image: Image | None = None
    ) -> CallAnswer:
        """Return the answer of a call that creates the object ``name``."""

        def keep(handle: SupportsInt, *_: object) -> tuple[int, None]:
            self.objects[name] = ScriptObject(kind, int(handle), image)
            return int(handle), None

        return answer.valued(keep)

    def addressed(self, answer: CallAnswer, name: str, kind: str) -> CallAnswer:
        """Return the answer of a call that returns the address of ``name``."""
        answer = self.made(answer, name, kind)
        return answer.giving(answer.value, hex(answer.value)) if answer.succeeded else answer

    def contextual(self, answer: CallAnswer) -> CallAnswer:
        """Return the answer of a call that returns a context."""

        def named(handle: SupportsInt) -> tuple[int, str]:
            return int(handle), self.contexts.name(int(handle)) if int(handle) else "none"

        return answer.valued(named)


def numbered(answer: CallAnswer) -> CallAnswer:
    """Return the answer of a call that returns a number."""
    return answer.valued(lambda number: (int(number), str(int(number))))


def timed(api: Driver, call: str, *arguments: object) -> CallAnswer:
    """Make a call."""
    started = time.perf_counter()
    result, *returned = api.attempt(call, *arguments)
    return CallAnswer(call, result, (time.perf_counter() - started) * 1e3, tuple(returned))
