"""Faults: the results after which a process can do nothing more with its driver."""

from __future__ import annotations

from cudarun.errors import CudarunError

FAULTS = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 721})
"""CUDA driver API, enum CUresult: after these every call of the process fails."""


def is_fault(error: CudarunError) -> bool:
    """Return whether the process can do nothing more with its driver."""
    return error.cuda is not None and error.cuda[1] in FAULTS
