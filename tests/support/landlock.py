"""Whether the kernel of this machine can confine a thread."""

from __future__ import annotations

import ctypes

import pytest

_VERSION = ctypes.CDLL(None).syscall(444, None, 0, 1)  # landlock_create_ruleset(2)

needs_landlock = pytest.mark.skipif(_VERSION < 1, reason="needs Linux with Landlock")
