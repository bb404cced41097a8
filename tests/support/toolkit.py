"""Tests that need libraries of CUDA, which are optional, or a machine without a driver."""

from __future__ import annotations

import ctypes
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


def _is_there(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


NO_NVJITLINK = _is_missing(nvjitlink.version)

needs_nvrtc = pytest.mark.skipif(
    _is_missing(nvrtc.nvrtcVersion) or not headers_of_cuda(), reason="needs NVRTC and its headers"
)
needs_nvjitlink = pytest.mark.skipif(NO_NVJITLINK, reason="needs nvJitLink")
without_driver = pytest.mark.skipif(_is_there("libcuda.so.1"), reason="a driver is installed")
