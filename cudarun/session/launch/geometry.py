"""The geometry of a launch, once its kernel and its arguments are known."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from cudarun.arguments.binding import Binding
from cudarun.arguments.dimensions import evaluate_extent, evaluate_size
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.values import Buffer
from cudarun.base.errors import RequestError, errors_of
from cudarun.images.facts import KernelFacts
from cudarun.session.launch.step_request import Geometry, GeometryRequest
from cudarun.session.load.request import Extent

_MOST_BLOCKS = (1 << 31) - 1  # the largest grid dimension of any device
_BLOCKS = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}  # the default for --threads, by its dimensions


def resolve_geometry(
    request: GeometryRequest, binding: Binding, facts: Callable[[], KernelFacts | None]
) -> Geometry:
    """Evaluate the requested geometry, and choose the block if it is not requested.

    The default block is that of ``.reqntid``. Without it ``--threads`` has blocks of up to 256
    threads, within its own extent and the product of ``.maxntid``; ``--grid`` has single threads.

    Args:
        facts: Return the facts of the kernel, if the image has them. Called only if necessary.
    """
    if request.block is None and request.grid is None and request.threads is None:
        raise RequestError(
            "launch: neither --threads nor --grid nor --block is given", hint=_suggestion(binding)
        ).naming("--threads", "--grid", "--block")
    integers = binding.integers
    threads = _extent("--threads", request.threads, integers)
    grid = _extent("--grid", request.grid, integers) or (1,)
    block = _extent("--block", request.block, integers)
    notes = []
    if block is None:
        kernel = facts()
        block = _default_block(threads, kernel)
        is_required = kernel is not None and kernel.required_block is not None
        if threads is None and prod(grid) > 1 and not is_required:
            notes.append(f"--grid without --block: each of the {prod(grid)} blocks has 1 thread")
    cluster = _extent("--cluster", request.cluster, integers)
    shared_bytes = 0
    if request.shared_bytes is not None:
        with errors_of(option="--smem"):
            shared_bytes = evaluate_size(request.shared_bytes, integers)
    if threads is not None:
        grid = tuple(-(-t // b) for t, b in zip(_full(threads), _full(block), strict=True))
        if max(grid) > _MOST_BLOCKS:
            raise RequestError(
                f"{max(grid)} blocks in a dimension exceed the limit of every GPU",
                option="--threads",
            )
    return Geometry(
        grid=_full(grid),
        block=_full(block),
        threads=None if threads is None else _full(threads),
        shared_bytes=shared_bytes,
        cooperative=request.cooperative,
        cluster=None if cluster is None else _full(cluster),
        notes=tuple(notes),
    )


def _extent(
    option: str, extent: Sequence[Expression] | None, integers: Mapping[str, int]
) -> tuple[int, ...] | None:
    if extent is None:
        return None
    with errors_of(option=option):
        return evaluate_extent(extent, integers)


def _full(extent: Sequence[int]) -> Extent:
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


def _default_block(threads: Sequence[int] | None, kernel: KernelFacts | None) -> tuple[int, ...]:
    if kernel is not None and kernel.required_block is not None:
        return kernel.required_block
    if threads is None:
        return (1,)
    block = [*map(min, threads, _BLOCKS[len(threads)])]
    most = kernel.max_threads if kernel is not None else None
    for axis in reversed(range(len(block))):  # the x dimension is reduced last, it coalesces
        others = prod(block) // block[axis]
        block[axis] = min(block[axis], max(1, (most or prod(block)) // others))
    return tuple(block)


# --- the suggestion for a launch without a geometry ----------------------------------------------


def _suggestion(binding: Binding) -> str:
    """Return an option to add: a thread for each element of the largest buffer."""
    found = [each for each in _buffers(binding) if prod(each[0].shape)]
    if not found:
        return "add --grid 1 --block 1 for a single thread"
    # Of several that are as large, one without an initializer is probably the output.
    spec, extent = max(found, key=lambda each: (prod(each[0].shape), each[0].initial is None))
    extent = extent[::-1]  # x is the last dimension
    if len(extent) > 3:
        extent = (str(prod(spec.shape)),)
    option = shlex.quote(",".join(extent))
    return f"add --threads {option} for a thread per element of {spec.name}, {spec}"


def _buffers(binding: Binding) -> Iterator[tuple[BufferSpec, tuple[str, ...]]]:
    """Yield the buffers, each with its dimensions as they were written."""
    for slot in binding.slots:
        for _, pointee in slot.pointers:
            if isinstance(pointee, BufferSpec):
                value = slot.value
                written = value.dimensions if isinstance(value, Buffer) else pointee.shape
                yield pointee, tuple(map(str, written))
