"""Faults: the results after which a process cannot use its driver any more."""

from __future__ import annotations

from cudarun.base.errors import CudarunError

FAULTS = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 721})
"""CUDA driver API, enum CUresult: after these every call of the process fails."""


def is_fault(error: CudarunError) -> bool:
    """Return whether the error makes the process's driver unusable."""
    return error.cuda is not None and error.cuda[1] in FAULTS
