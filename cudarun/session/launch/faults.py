"""Explanations of kernel faults: buffers by name, elements, missing options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError
from cudarun.images.ptx_search import code_of, references
from cudarun.session.driver.calls import is_fault
from cudarun.session.launch.steps import BoundStep

_OF_SHARED = re.compile(r"^ *shared address ", re.MULTILINE)
_OF_STACK = re.compile(r"^kernel \S+: stack overflow", re.MULTILINE)
_OF_OBJECT = re.compile(r"is not a (?P<word>texture|surface) object of this context")
_DYNAMIC_SHARED = re.compile(r"\.extern\s+\.shared\b[^;]*?([\w$]+)\s*(?:\[\s*\])?\s*;")
# The register of cooperative_groups::this_grid(), which traps if it is 0: the driver sets it only
# in a cooperative launch.
_GRID_SYNC = re.compile(r"%envreg2\b")
# Bytes. An index that is wrong by a factor or a sign can lead from any buffer to another one.
_NEAR = 1 << 20
_LAUNCH_FAILED = 719  # CUDA_ERROR_LAUNCH_FAILED: the result of a trap


def explain_fault(
    error: CudarunError, step: BoundStep, specs: Sequence[BufferSpec], addresses: Mapping[str, int]
) -> None:
    """Add the buffers in question to an error's places and log, and missing options to its hint."""
    if not is_fault(error):
        return
    for place in error.places:
        if (address := place.address) is None:
            continue
        for spec in specs:
            start = addresses[spec.name]
            if start == place.allocation or start <= address < start + spec.nbytes:
                # Before the start the elements have negative numbers: -1 is adjacent.
                place.buffer, place.element = spec.name, (address - start) // spec.dtype().itemsize
                found = f"  that is element {place.element} of buffer {spec.name}, {spec}"
                if not -_NEAR < address - start < spec.nbytes + _NEAR:
                    found += ", the nearest one: no buffer is near"
                if error.log:
                    head, named, rest = error.log.partition(f" address {address:#x} ")
                    line, end, rest = rest.partition("\n")
                    error.log = f"{head}{named}{line}\n{found}{end}{rest}"
                break
    error.hint = error.hint or _missing_option(error, step)


def _missing_option(error: CudarunError, step: BoundStep) -> str | None:
    """Return the option that the kernel needs and the launch lacks."""
    text, geometry, log = step.library.image.code.decode("latin-1"), step.geometry, error.log or ""
    is_of_shared = not geometry.shared_bytes and _OF_SHARED.search(log)
    if is_of_shared and references(text, step.kernel.name, _DYNAMIC_SHARED.findall(text)):
        return "the kernel uses extern __shared__ memory, but --smem is 0"
    is_trap = error.cuda is not None and error.cuda[1] == _LAUNCH_FAILED
    if not geometry.cooperative and is_trap and _GRID_SYNC.search(code_of(text, step.kernel.name)):
        return "the kernel synchronizes the whole grid, which requires --cooperative"
    if found := _OF_OBJECT.search(log):
        return (
            f"pass {found['word']}(…) for this parameter, such as {found['word']}(f32[h,w]:zeros)"
        )
    if _OF_STACK.search(log):
        return "raise the stack size: --limit stack=SIZE"
    return None
