"""The errors of the CUDA runtime: names and descriptions, which the bindings contain."""

from __future__ import annotations

_UNRECOGNIZED = "unrecognized error code"

# Of ``libcudadevrt`` of CUDA 13.0: numbers that only the host's runtime has, the largest number,
# and a description without its last letter.
_OF_THE_HOST = frozenset({10, 227})
_LARGEST, _UNKNOWN = 915, 999
_CUT_OFF = 910


def host_error(number: int) -> tuple[str, str] | None:
    """Return name and description of a ``cudaError_t``; a ``CUresult`` has the description, too."""
    from cuda.bindings import runtime  # few programs need a text

    try:
        error = runtime.cudaError_t(number)
    except ValueError:
        return None
    name, description = runtime.cudaGetErrorName(error)[1], runtime.cudaGetErrorString(error)[1]
    return name.decode(), description.decode()


def device_error(number: int) -> tuple[str, str]:
    """Return what kernels get as name and description of a ``cudaError_t``."""
    is_known = number not in _OF_THE_HOST and (number <= _LARGEST or number == _UNKNOWN)
    name, description = (is_known and host_error(number)) or (_UNRECOGNIZED, _UNRECOGNIZED)
    return name, description[:-1] if number == _CUT_OFF else description
