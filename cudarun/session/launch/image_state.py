"""The variables of loaded images: a copy of their values, to restore them between runs.

A kernel can keep state elsewhere, too: in memory of the device's ``malloc``, in variables whose
address the driver does not return, and outside of all buffers. That state remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudarun.base.errors import DeviceFailed, errors_of
from cudarun.session.driver.memory import DeviceBuffer, FixedMemory
from cudarun.session.launch.steps import Libraries
from cudarun.session.load.library import Library
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cudarun.session.driver.protocol import Handle


class ImageState:
    """The values that the variables of loaded images have now.

    Args:
        session: The session, with the device's context current.
    """

    def __init__(self, session: Session, libraries: Libraries) -> None:
        self.unknown: list[str] = []  # the variables whose address the driver does not return
        distinct = {id(library): library for library in libraries}.values()
        purpose = "a copy of the variables of the image, to restore them"
        with errors_of(DeviceFailed, operation=purpose):
            self._saved = [each for library in distinct for each in self._copies(session, library)]

    def _copies(
        self, session: Session, library: Library
    ) -> Iterator[tuple[str, FixedMemory, DeviceBuffer]]:
        named = library.variables()
        for variable in library.all_variables():
            address = library.find_symbol(variable.name)
            if address is None:
                if variable in named or not variable.is_initialized:  # not a string literal
                    self.unknown.append(variable.demangled)
                continue
            memory = FixedMemory(session.driver, address, variable.size)
            value = DeviceBuffer(session.driver, variable.demangled, variable.size, 0)
            session.add_release(value.free)
            value.copy_from(memory, 0)
            yield variable.demangled, memory, value

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables that have other values now, by their C++ names."""
        return tuple(
            name
            for name, memory, value in self._saved
            if memory.content().tobytes() != value.content().tobytes()
        )

    def restore(self, stream: Handle = 0) -> None:
        """Restore the values, in stream order."""
        for _, memory, value in self._saved:
            memory.copy_from(value, stream)
