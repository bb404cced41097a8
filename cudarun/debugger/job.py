"""The launch of a debugger, in the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, InternalError
from cudarun.session.launch.parent import LaunchJob

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchResult
    from cudarun.session.driver.devices import Device
    from cudarun.session.launch.request import Program
    from cudarun.session.launch.steps import Libraries


class DebugJob(LaunchJob):
    """A launch that a debugger controls.

    The worker itself only makes copies of its process, one for each run of the launch.

    Args:
        address: The address of the front end's socket.
    """

    def __init__(self, program: Program, address: str) -> None:
        super().__init__(program)
        self._address = address

    def _launch(self, libraries: Libraries, device: Device) -> LaunchResult:
        from cudarun.debugger.debugged_launch import DebuggedLaunch, LaunchAbandoned
        from cudarun.session.workers.snapshots import ParentConnection

        start = self.session.driver.traits.start_debugger
        assert start is not None, "the command has refused other devices"
        target = DebuggedLaunch(ParentConnection(self._address, 0), start)
        self.session.on_launch = target.bind
        try:
            target.finished(self._outcome(libraries, device))
        except LaunchAbandoned:
            raise CudarunError("the debugger has ended") from None
        raise AssertionError("the process ends with the debugger")

    def _outcome(self, libraries: Libraries, device: Device) -> LaunchResult | CudarunError:
        try:
            return super()._launch(libraries, device)
        except CudarunError as error:
            return error
        except Exception as error:  # a copy must not answer in the worker's place
            return InternalError(error)
