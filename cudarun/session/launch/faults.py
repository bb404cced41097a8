"""Explanations of kernel faults: buffers by name, elements, missing options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError
from cudarun.session.driver.calls import is_fault
from cudarun.session.launch.steps import BoundStep

# The driver reports a fault by a result and its log, a text: all details are in the text.
_ADDRESS = re.compile(r"^ *(?:global|generic) address 0x(?P<address>[0-9a-f]+) ")
_ALLOCATION = re.compile(r" at 0x(?P<base>[0-9a-f]+) \(")
_OF_SHARED = re.compile(r"^ *shared address ", re.MULTILINE)
_OF_STACK = re.compile(r"^kernel \S+: stack overflow", re.MULTILINE)
_OF_OBJECT = re.compile(r"is not a (?P<word>texture|surface) object of this context")
_DYNAMIC_SHARED = re.compile(rb"\.extern\s+\.shared\b[^;]*?([\w$]+)\s*(?:\[\s*\])?\s*;")
_ENTRY = re.compile(rb"\.entry\s+([\w$]+)")
# The register of cooperative_groups::this_grid(), which traps if it is 0: the driver sets it only
# in a cooperative launch.
_GRID_SYNC = re.compile(rb"%envreg2\b")
_LAUNCH_FAILED = 719  # CUDA_ERROR_LAUNCH_FAILED: the result of a trap


def explain_fault(
    error: CudarunError, step: BoundStep, specs: Sequence[BufferSpec], addresses: Mapping[str, int]
) -> None:
    """Add the buffers in question to the error's log, and missing options to its hint.

    Args:
        error: The error of a launch.
        step: The step that failed.
        specs: The launch's buffers.
        addresses: The address of each buffer.
    """
    if not is_fault(error):
        return
    lines = (error.log or "").splitlines()
    error.log = (
        "\n".join(each for line in lines for each in _explained(line, specs, addresses)) or None
    )
    error.hint = error.hint or _missing_option(error, step)


def _missing_option(error: CudarunError, step: BoundStep) -> str | None:
    """Return the option that the kernel needs and the launch lacks."""
    image, geometry, log = step.library.image.code, step.geometry, error.log or ""
    code = _code_of(image, step.kernel.name)
    if not geometry.shared_bytes and _OF_SHARED.search(log):
        names = _DYNAMIC_SHARED.findall(image)
        if any(re.search(rb"[^\w$]%b[^\w$]" % re.escape(name), code) for name in names):
            return "the kernel uses extern __shared__ memory, but --smem is 0"
    is_trap = error.cuda is not None and error.cuda[1] == _LAUNCH_FAILED
    if not geometry.cooperative and is_trap and _GRID_SYNC.search(code):
        return "the kernel synchronizes the whole grid, which requires --cooperative"
    if found := _OF_OBJECT.search(log):
        return (
            f"pass {found['word']}(…) for this parameter, such as {found['word']}(f32[h,w]:zeros)"
        )
    if _OF_STACK.search(log):
        return "raise the stack size: --limit stack=SIZE"
    return None


def _code_of(image: bytes, kernel: str) -> bytes:
    """Return the PTX of a kernel, with the functions that stand behind it."""
    _, *entries = _ENTRY.split(image)
    return b"".join(
        body
        for name, body in zip(entries[::2], entries[1::2], strict=True)
        if name == kernel.encode()
    )


def _explained(
    line: str, specs: Sequence[BufferSpec], addresses: Mapping[str, int]
) -> Iterator[str]:
    yield line
    found = _ADDRESS.match(line)
    if found is None:
        return
    address = int(found["address"], 16)
    named = _ALLOCATION.search(line)
    nearest = int(named["base"], 16) if named else None
    for spec in specs:
        start = addresses[spec.name]
        if start == nearest or start <= address < start + spec.nbytes:
            size = spec.dtype().itemsize
            # Before the start the elements have negative numbers: -1 is adjacent.
            yield f"  that is element {(address - start) // size} of buffer {spec.name}, {spec}"
            return
