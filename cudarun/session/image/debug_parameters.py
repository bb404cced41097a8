"""Kernel parameters with what the debug information of their image adds."""

from __future__ import annotations

from cudarun.images.kinds import ImageKind, identify
from cudarun.images.parameters import Parameter
from cudarun.session.image.image import Image


class DebugReader:
    """A reader of the debug information of an image.

    Args:
        image: The image, as a driver gets it or as a file.
    """

    def __init__(self, image: Image) -> None:
        self._debug = None
        data = image.data if image.debug is None else image.debug
        is_plain = identify(data) in (ImageKind.PTX, ImageKind.CUBIN)
        if not is_plain or b".debug_info" in data:
            from cudarun.images.debug_information import DebugInformation  # few images have any

            self._debug = DebugInformation(data, image.limit)

    @property
    def is_needed(self) -> bool:
        """True if the image can have debug information."""
        return self._debug is not None

    def read(
        self, kernel: str, parameters: tuple[Parameter, ...]
    ) -> tuple[tuple[Parameter, ...], tuple[str, ...]]:
        """Return a kernel's parameters with their names, types and members.

        Notes follow if there is debug information that is not usable.
        """
        if self._debug is None:
            return parameters, ()
        described, note = self._debug.describe(kernel, parameters)
        return described, () if note is None else (note,)
