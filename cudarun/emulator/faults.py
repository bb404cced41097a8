"""The fault of a kernel, with the driver's result and a report."""

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.base.fault_place import FaultPlace


class DeviceFault(Exception):
    """A fault that ends the launch; the context keeps it.

    Attributes:
        result: The number of the driver's result, ``700`` for an illegal address.
        name: Its name, ``CUDA_ERROR_ILLEGAL_ADDRESS``.
        report: A description of the fault and its location, in several lines.
        places: The place of the fault, or those of the threads in a deadlock.
        is_known: Whether a driver call has returned it.
    """

    def __init__(self, result: int, report: str, places: tuple[FaultPlace, ...] = ()) -> None:
        super().__init__(report)
        self.result = int(result)
        self.name = cuda.CUresult(result).name
        self.report = report
        self.places = places
        self.is_known = False
