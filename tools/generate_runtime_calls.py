"""Write ``docs/reference/runtime-calls.md``: the runtime calls of the emulated device."""

from __future__ import annotations

import sys

from cudarun.emulator import runtime  # noqa: F401 - enters all calls
from cudarun.emulator.runtime_api.calls import RUNTIME_CALLS
from tools.generate_driver_calls import ROOT, chapters_of, write

TARGET = ROOT / "docs" / "reference" / "runtime-calls.md"

_HEAD = """\
# Runtime calls of the emulated device

Written by `python -m tools.generate_runtime_calls` from `cudarun.emulator.runtime`: change the
docstrings, not this file. [emulated-device.md](emulated-device.md) describes the emulated device.

`cudarun.emulator.runtime` is the CUDA runtime API over [the driver calls](driver-calls.md), for
programs with `cuda.bindings.runtime`. Each call has the parameters and the result tuple of the
call of the same name there. {count} calls are supported; types, constants and `make_` functions
are the bindings' own. Every other call raises `NotProvided` with its name when it is looked up.

The runtime calls use the current context of the thread, or the primary context of its device. An
error is the `cudaError_t` with the number of the driver's `CUresult`. `cudaMemcpy` and the like
return when the copy has ended. `cudaGetErrorName`, `cudaGetErrorString`, `cudaRuntimeGetVersion`
and `cudaCreateChannelDesc` are the bindings' own: they need no driver. `cudaGetLastError` and
`cudaPeekAtLastError` return the last error of the thread's runtime calls.
"""


def document() -> str:
    """The whole document."""
    own = {name: call for name, call in RUNTIME_CALLS.items() if hasattr(call, "__wrapped__")}
    return "\n".join([_HEAD.format(count=len(RUNTIME_CALLS)), *chapters_of(own)])


def main() -> int:
    """Write the document, and say so when that changed it."""
    return write(TARGET, document())


if __name__ == "__main__":
    sys.exit(main())
