"""A session: one initialised driver and the devices that a request chose, inside a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from cudarun.errors import ImageRefused
from cudarun.images.facts import ImageFacts
from cudarun.images.identify import ImageKind, identify
from cudarun.session.calls import Driver
from cudarun.session.devices import driver_of, resolve
from cudarun.session.drivers import choose_driver
from cudarun.session.loading import PARAM_INFO_SINCE, Library
from cudarun.session.requests import Image
from cudarun.session.selection import Selector


class Session:
    """The driver, initialised.

    Args:
        selectors: The devices to work on, all of one driver.
        trace: Show every driver call on stderr.
        prefetch: Imports what the work will need. cuInit takes 0.1 s with the interpreter's lock
            released, and this runs beside it.

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
        beside = threading.Thread(target=prefetch)
        beside.start()
        try:
            self.driver.cuInit(0)
        finally:
            beside.join()
        self.driver.version = self.driver.cuDriverGetVersion()
        self.device_count: int = self.driver.cuDeviceGetCount()
        self.devices = resolve(self.driver, selectors)

    def load(self, image: Image) -> Library:
        """Load an image as a library, before or after any context exists.

        Raises:
            ImageRefused: The driver does not take it.
        """
        return Library(self.driver, image, self._facts(image))

    def _facts(self, image: Image) -> ImageFacts | None:
        """What the file says, where that is cheap (PTX) or where the driver cannot say it.

        A file that we cannot read is not refused for that: the driver decides.
        """
        from cudarun.images.read import read_image

        if identify(image.data) is not ImageKind.PTX and self.driver.version >= PARAM_INFO_SINCE:
            return None
        try:
            return read_image(image.data, image.origin)
        except ImageRefused:
            return None
