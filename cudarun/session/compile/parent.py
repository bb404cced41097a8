"""Compilation of CUDA source for the parent, in a worker: NVRTC may crash or hang."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cudarun.session.workers.pool import call_in_worker

if TYPE_CHECKING:
    from cudarun.images.versions import Architecture
    from cudarun.session.image.image import Image

_COMMON_ARCHITECTURE = 80  # supported by every NVRTC of CUDA 11 to 13


def compile_for_facts(
    source: Image, timeout: float | None = None, target: Architecture | None = None
) -> Image:
    """Compile a source for no particular device, and read its facts.

    Args:
        timeout: Seconds for the compiler.
        target: The architecture, ``sm_90`` for machine code; by default a common one, as PTX.
    """
    task = partial(compile_here, source, timeout, target)
    return call_in_worker(task, timeout, capture=False).unwrap()


def compile_here(
    source: Image, timeout: float | None, target: Architecture | None, _: None = None
) -> Image:
    """Do the same in this process, a worker, whose task has the time limit."""
    from cudarun.images.versions import Architecture
    from cudarun.session.compile.source import compile_source, with_debug_information

    target = target or Architecture(True, _COMMON_ARCHITECTURE)
    image = compile_source(source, target, "PTX" if target.is_virtual else "CUBIN")
    kernels = image.facts.kernels if image.facts else ()
    image = with_debug_information(image, [p for each in kernels for p in each.parameters])
    return replace(image, facts=image.read_facts())
