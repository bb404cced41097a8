"""The occupancy of GPUs by kernels, and the predictions of ``--for``."""

from __future__ import annotations

from typing import Literal

from cudarun.base.errors import CudarunError
from cudarun.base.records import dataclass

Extent = tuple[int, int, int]
Forecast = Literal["launches", "exceeds-limits", "refused"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The occupancy of a multiprocessor with blocks of a size.

    Attributes:
        block: The block.
        blocks: The number of resident blocks.
        threads: The number of resident threads.
        share: Of the threads that a multiprocessor can hold, from 0 to 1.
    """

    block: Extent
    blocks: int
    threads: int
    share: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """A kernel on a GPU of ``--for``, by the table of the GPU's facts.

    Attributes:
        gpu: The GPU, as requested: rtx5090, or sm_86 for the limits of an architecture.
        architecture: Its architecture, 120 for sm_120.
        kernel: The mangled name of the kernel; null if its source does not compile.
        demangled: Its name in C++ spelling.
        code: The target of the code that the driver takes: sm_80, or compute_80 for PTX that it
            compiles; null if there is none.
        verdict: launches; exceeds-limits, where the code loads and a launch with ``--block`` and
            ``--smem`` fails; or refused, where the driver does not load the code.
        occupancy: The occupancy with ``--block`` or the required block; that of PTX does not
            count registers.
        error: Why it does not load or launch.
    """

    gpu: str
    architecture: int
    kernel: str | None
    demangled: str | None
    code: str | None
    verdict: Forecast
    occupancy: Occupancy | None = None
    error: CudarunError | None = None
