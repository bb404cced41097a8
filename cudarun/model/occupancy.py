"""The occupancy of GPUs by kernels, and the predictions of ``--for``."""

from __future__ import annotations

from typing import Literal

from cudarun.base.errors import CudarunError
from cudarun.base.records import dataclass

Extent = tuple[int, int, int]
Forecast = Literal["launches", "exceeds-limits", "refused"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The occupancy of a multiprocessor with blocks of a size."""

    block: Extent  # the block
    blocks: int  # the number of resident blocks
    threads: int  # the number of resident threads
    share: float  # of the threads that a multiprocessor can hold, from 0 to 1


@dataclass(frozen=True, slots=True)
class Prediction:
    """A kernel on a GPU of ``--for``, by the table of the GPU's facts."""

    gpu: str  # the GPU, as requested: rtx5090, or sm_86 for the limits of an architecture
    architecture: int  # its architecture, 120 for sm_120
    kernel: str | None  # the mangled name of the kernel; null if its source does not compile
    demangled: str | None  # its name in C++ spelling
    # The target of the code that the driver takes: sm_80, or compute_80 for PTX that it compiles;
    # null if there is none.
    code: str | None
    # ``launches``; exceeds-limits, where the code loads and a launch with ``--block`` and
    # ``--smem`` fails; or refused, where the driver does not load the code.
    verdict: Forecast
    # The occupancy with ``--block`` or the required block; that of PTX does not count registers.
    occupancy: Occupancy | None = None
    error: CudarunError | None = None  # why it does not load or launch
