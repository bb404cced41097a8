"""A session: one initialised driver and the devices that a request chose, inside a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.session.beside import Beside
from cudarun.session.calls import Driver
from cudarun.session.devices import driver_of, resolve
from cudarun.session.drivers import choose_driver
from cudarun.session.loading import Library
from cudarun.session.requests import Image
from cudarun.session.selection import Selector


class Session:
    """The driver, initialised.

    Args:
        selectors: The devices to work on, all of one driver.
        trace: Show every driver call on stderr.
        prefetch: Called in a thread: cuInit and the first context take 0.2 s in which the
            interpreter is free to import.

    Attributes:
        prefetched: Waits for ``prefetch``; to be called before what it imports is used.

    Raises:
        NoDevice: No driver, no device, or not the one asked for.
    """

    def __init__(
        self,
        selectors: Sequence[Selector],
        *,
        trace: bool = False,
        prefetch: Callable[[], object] | None = None,
    ) -> None:
        self.driver = Driver(choose_driver(driver_of(selectors)), trace=trace)
        self.prefetched = Beside(prefetch or (lambda: None)).result
        self.driver.cuInit(0)
        self.driver.version = self.driver.cuDriverGetVersion()
        self.device_count: int = self.driver.cuDeviceGetCount()
        self.devices = resolve(self.driver, selectors)

    def load(self, image: Image) -> Library:
        """Load an image as a library, before or after any context exists.

        Raises:
            ImageRefused: The driver does not take it.
        """
        return Library(self.driver, image)
