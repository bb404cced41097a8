"""Tests that need libraries of the CUDA toolkit, which are optional."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cuda.bindings import nvjitlink, nvrtc

from cudarun.base.bindings import is_missing_library
from cudarun.session.compile.nvrtc import headers_of_cuda


def _is_missing(call: Callable[[], object]) -> bool:
    try:
        call()
    except RuntimeError as error:
        if not is_missing_library(error):
            raise
        return True
    return False


NO_NVJITLINK = _is_missing(nvjitlink.version)

needs_nvrtc = pytest.mark.skipif(
    _is_missing(nvrtc.nvrtcVersion) or not headers_of_cuda(), reason="needs NVRTC and its headers"
)
needs_nvjitlink = pytest.mark.skipif(NO_NVJITLINK, reason="needs nvJitLink")
