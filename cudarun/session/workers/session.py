"""A session: an initialized driver and the chosen devices, in a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from cudarun.base.errors import NoDevice
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.contexts import Target, enter_context, leave_context
from cudarun.session.driver.devices import Device, driver_of, identify, resolve
from cudarun.session.driver.drivers import choose_driver
from cudarun.session.driver.selection import Selector, by_index
from cudarun.session.driver.visibility import narrow, preinitialize
from cudarun.session.workers.progress import Progress


def _started(function: Callable[[], object]) -> Callable[[], None]:
    """Start a function; return one that waits for it and raises its exceptions."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:  # for the thread that waits
            errors.append(error)

    def wait() -> None:
        thread.join()
        for error in errors:
            raise error

    # Daemonic: when the driver fails first, the preparation is abandoned.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return wait


class Session:
    """A session: an initialized driver and the chosen devices.

    Args:
        target: The contexts to work in. That of a single device is created at once; with several
            devices, a library can be loaded before any context exists.
        selectors: The devices to work on, all of one driver.
        prefetch: Imports what tasks need. It is called in a thread while cuInit, which takes 0.2 s,
            leaves the interpreter free; no other import happens meanwhile, because a package such
            as numpy can fail if two threads import it for the first time.

    Raises:
        NoDevice: No driver, no device, or not the requested one.
        DeviceFailed: The context could not be created.
    """

    def __init__(
        self,
        target: Target,
        selectors: Sequence[Selector],
        *,
        prefetch: Callable[[], object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.progress = progress or Progress()
        self._owned: list[Callable[[], object]] = []
        self._preparations: list[Callable[[], object]] = []
        # What was made for the next task, by what it is made of.
        self.ahead: dict[object, object] = {}
        # The addresses and sizes that are reserved for a recording.
        self.reserved: list[tuple[int, int]] = []
        # Called with the bound steps and the buffers of a launch, before it runs.
        self.on_launch: Callable[..., object] = lambda steps, buffers: None
        self._context = target.context
        self._entered: Device | None = None
        self._is_logged = target.verbose or target.trace
        self._keeps_memory = False  # whether the context of a worker that is kept has a block
        self._is_settled = False  # whether a task has ended, and its resources can be released
        self._leave: list[Callable[[], object]] = []
        self.progress.report("initializing the driver")
        name = driver_of(selectors)
        chosen = by_index(selectors) if target.narrow else None
        shown = narrow(chosen) if chosen else None
        if name == "cuda" and not target.trace:  # a trace shows the time of cuInit
            plain = target.context.kind == "primary" and not target.context.flags
            preinitialize(context=plain and shown is not None and len(shown.indices) == 1)
        self.driver = Driver(choose_driver(name, selectors[0].profile), trace=target.trace)
        prefetched = _started(prefetch or (lambda: None))
        if name != "cuda":  # whose cuInit imports nothing
            prefetched()
        try:
            self.driver.cuInit(0)
        except NoDevice as error:
            if shown is None or error.cuda is None:
                raise
            # None of the chosen devices exists. The error lists those that do, once visible.
            shown.widen()
            self.driver.cuInit(0)
            shown = None
        prefetched()
        self.driver.version = self.driver.cuDriverGetVersion()
        self.devices = resolve(self.driver, selectors, shown)
        if target.capture:  # stdout is a document, which names the devices
            self.progress.identify([identify(self.driver, device) for device in self.devices])
        self.enter_only()

    def enter_only(self) -> None:
        """Make the context of the only device current; of several, a job enters each."""
        if len(self.devices) == 1:
            self.enter(self.devices[0])

    def enter(self, device: Device) -> None:
        """Make the device's context current on this thread."""
        if self._entered != device:
            self.progress.report(f"creating a context on device {device.label}")
            context = enter_context(self.driver, device, self._context)
            self._entered = device
            self._leave.append(partial(leave_context, self.driver, device, self._context, context))

    def add_release(self, give_back: Callable[[], object]) -> None:
        """Register the release of a resource that a task acquired."""
        self._owned.append(give_back)

    def add_preparation(self, prepare: Callable[[], object]) -> None:
        """Register what the next task probably needs, to do after the release of this one."""
        self._preparations.append(prepare)

    @contextmanager
    def temporary(self) -> Iterator[None]:
        """Release at the end of the block what was acquired in it.

        After an error nothing is released: the context may be unusable.
        """
        kept = len(self._owned)
        yield
        while len(self._owned) > kept:
            self._owned.pop()()

    def settle(self) -> bool:
        """Wait for the work of a task; return whether the worker can go on to the next one.

        After a fault of a GPU nothing can be released, and only a new process can continue.
        """
        result, *_ = self.driver.attempt("cuCtxSynchronize")
        is_usable = self._is_settled = result == 0 or self.driver.traits.end_fault()
        if self._is_logged:  # in order, before the answer
            self.release()
        return is_usable

    def release(self) -> None:
        """Release the resources of tasks, so that a worker can go on to the next.

        A worker that ends does not need this: process exit is faster.
        """
        if not self._is_settled:
            return
        self._is_settled = False
        while self._owned:
            self._owned.pop()()
        preparations, self._preparations = self._preparations, []
        if self.driver.traits.renew():
            self._leave.clear()
            self._entered = None
        elif not (self._keeps_memory or self._is_logged):
            # With its last memory a context gives back a block, which takes 0.1 ms to get again.
            self.driver.attempt("cuMemAlloc", 1)
            self._keeps_memory = True
        if not self._is_logged:
            self.enter_only()
            for prepare in preparations:
                prepare()
