"""The fault of a kernel, with the driver's result and a report."""

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.base.fault_place import FaultPlace


class DeviceFault(Exception):
    """A fault that ends the launch; the context keeps it."""

    def __init__(self, result: int, report: str, places: tuple[FaultPlace, ...] = ()) -> None:
        super().__init__(report)
        # The number of the driver's result, ``700`` for an illegal address.
        self.result = int(result)
        self.name = cuda.CUresult(result).name  # its name, ``CUDA_ERROR_ILLEGAL_ADDRESS``
        self.report = report  # a description of the fault and its location, in several lines
        self.places = places  # the place of the fault, or those of the threads in a deadlock
        self.is_known = False  # whether a driver call has returned it
