"""Errors and versions."""
# ruff: noqa: N802 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import runtime as cudart

from cudarun.emulator.runtime_api.calls import RUNTIME_CALLS, last_error
from cudarun.emulator.runtime_api.forwards import forward_calls

forward_calls(
    __name__,
    """
cudaProfilerStart()
cudaProfilerStop()
""",
)
forward_calls(
    __name__,
    """
cudaDriverGetVersion() -> int
""",
    uses_context=False,
)


def cudaGetLastError() -> tuple[cudart.cudaError_t]:
    """Return and reset the last error of this thread's runtime calls."""
    return (cudart.cudaError_t(last_error(clear=True)),)


def cudaPeekAtLastError() -> tuple[cudart.cudaError_t]:
    """Return the last error of this thread's runtime calls."""
    return (cudart.cudaError_t(last_error(clear=False)),)


RUNTIME_CALLS |= {call.__name__: call for call in (cudaGetLastError, cudaPeekAtLastError)}
