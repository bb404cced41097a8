"""The kinds of memory that a program allocates."""

from __future__ import annotations

from enum import Enum


class AllocationKind(Enum):
    """The call that an allocation was made by, which determines the call that frees it."""

    DEVICE = "cuMemAlloc"
    MANAGED = "cuMemAllocManaged"
    PAGE_LOCKED = "cuMemAllocHost"
    REGISTERED = "cuMemHostRegister"


DEVICE_KINDS = (AllocationKind.DEVICE, AllocationKind.MANAGED)  # accepted by cuMemFree
