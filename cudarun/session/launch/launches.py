"""Launches of one image, one after the other, with the variables of the image restored or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cudarun.model.launch import LaunchResult
from cudarun.session.driver.devices import Device
from cudarun.session.launch.image_state import ImageState
from cudarun.session.launch.reference import ReferenceBuffers
from cudarun.session.launch.request import Program
from cudarun.session.launch.steps import Libraries
from cudarun.session.launch.worker import run_on, run_reference
from cudarun.session.workers.session import Session
from cudarun.session.workers.shared_file import SharedFile


class Launches:
    """Launches of loaded images on one device, and the variables of these images.

    Each has its own buffers and its own time limit; all are in the current context.

    Attributes:
        state: The values of the variables after loading.
    """

    def __init__(self, session: Session, libraries: Libraries, device: Device) -> None:
        self._session = session
        self._libraries = libraries
        self._device = device
        self.state = ImageState(session, libraries)

    def run(self, program: Program, reference: ReferenceBuffers | None = None) -> LaunchResult:
        """Launch with the variables as after loading."""
        self.state.restore()
        return self.run_again(program, reference)

    def run_again(
        self, program: Program, reference: ReferenceBuffers | None = None
    ) -> LaunchResult:
        """Launch with the variables as earlier launches left them; otherwise as `run`."""
        with self._launching():
            return run_on(self._session, self._libraries, program, self._device, reference)

    def reference(self, program: Program, file: SharedFile) -> ReferenceBuffers:
        """Launch with the variables as after loading, and write all buffers to a file."""
        self.state.restore()
        with self._launching():
            return run_reference(self._session, self._libraries, program, self._device, file.path)

    @contextmanager
    def _launching(self) -> Iterator[None]:
        self._session.progress.start_phase()
        with self._session.temporary():
            yield
