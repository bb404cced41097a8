"""State spaces and where generic addresses put them (PTX manual 5.1 and 6.4.1.1).

Global and constant addresses are generic addresses. Shared, local and parameter memory have windows
of the generic address space; inside them an address of their own begins at 0. Device memory lies
above ``WINDOWS_END``.
"""

from __future__ import annotations

WINDOW_BYTES = 1 << 32
PARAMETER_WINDOW = 0x10_0000_0000
LOCAL_WINDOW = 0x20_0000_0000
SHARED_WINDOW = 0x30_0000_0000
CODE_WINDOW = 0x40_0000_0000
WINDOWS_END = 0x100_0000_0000

WINDOWS = {
    "param": PARAMETER_WINDOW,
    "local": LOCAL_WINDOW,
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
}
"""The spaces with a window, and where it begins."""

RANK_SHIFT = 24
"""Above this bit a ``shared::cluster`` address has the rank of a block, plus one."""

NULL_BYTES = 1 << 20
"""Addresses below this are called offsets of a null pointer."""
