"""Kernel parameters with what the debug information of their image adds."""

from __future__ import annotations

from cudarun.base.records import dataclass
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.parameters import Parameter
from cudarun.session.image.image import Image


@dataclass(frozen=True, slots=True)
class DebugParameters:
    """Parameters, and notes if there is debug information that is not usable."""

    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()


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

    def read(self, kernel: str, parameters: tuple[Parameter, ...]) -> DebugParameters:
        """Return a kernel's parameters with their names, types and members."""
        if self._debug is None:
            return DebugParameters(parameters)
        described, note = self._debug.describe(kernel, parameters)
        return DebugParameters(described, () if note is None else (note,))
