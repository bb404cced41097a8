"""Preparations before a GPU driver's API is imported: narrow the visible GPUs, and start cuInit.

``cuInit`` takes 0.1 to 0.2 s per visible GPU, even for unused ones. So before the call
``CUDA_VISIBLE_DEVICES`` is narrowed to the chosen GPUs among those that the user makes visible.

CUDA C++ Programming Guide, "CUDA environment variables": a comma-separated list of indices, UUIDs
and MIG names. The GPUs are numbered in its order, and it ends at an item that is not a GPU.

A worker runs this first, so nothing is imported here that takes long.
"""

from __future__ import annotations

import os
from functools import cache

VARIABLE = "CUDA_VISIBLE_DEVICES"

_NODES = "/dev"


class VisibleDevices:
    """The GPUs that are visible to the driver."""

    def __init__(self, indices: tuple[int, ...], variable: str | None) -> None:
        self.indices = indices  # the user's index of each GPU, by the driver's index
        self.all = variable  # the user's value of the variable

    def widen(self) -> None:
        """Make all of the user's GPUs visible again.

        A driver that found no GPU searches again when it is initialized again (measured).
        """
        if self.all is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = self.all


@cache
def narrow(chosen: tuple[int, ...]) -> VisibleDevices | None:
    """Make only the chosen GPUs visible, once, before the driver is initialized.

    Returns:
        ``None`` if nothing was narrowed: a chosen GPU may not exist, which the driver will
        report.
    """
    visible = _visible()
    if max(chosen) >= len(visible):
        return None
    shown = VisibleDevices(chosen, os.environ.get(VARIABLE))
    os.environ[VARIABLE] = ",".join(visible[index] for index in chosen)
    return shown


@cache
def preinitialize(*, context: bool) -> None:
    """Start the driver's initialization, once, in a separate thread.

    The same calls through the API wait for these, and their results are the ones that count.

    Args:
        context: Create the primary context of the first device, too.
    """
    import _thread  # threading takes longer to import
    import ctypes

    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:  # there is no driver, as the API will report
        return

    def initialize() -> None:
        device, handle = ctypes.c_int(), ctypes.c_void_p()
        library.cuInit(0)
        if context and library.cuDeviceGet(ctypes.byref(device), 0) == 0:
            library.cuDevicePrimaryCtxRetain(ctypes.byref(handle), device)

    _thread.start_new_thread(initialize, ())


def count() -> int | None:
    """Estimate the number of visible GPUs without the driver; ``None`` if that is impossible."""
    return len(_visible()) or None


def _visible() -> list[str]:
    """Return the items of the list that are GPUs, as far as this is known without the driver."""
    try:
        names = os.listdir(_NODES)
    except OSError:
        names = []
    numbers = (name.removeprefix("nvidia") for name in names if name.startswith("nvidia"))
    nodes = [f"{_NODES}/nvidia{number}" for number in numbers if number.isdecimal()]
    # The driver opens one for each GPU.
    usable = sum(os.access(node, os.R_OK | os.W_OK) for node in nodes)
    listed = os.environ.get(VARIABLE)
    return [*map(str, range(usable))] if listed is None else gpus_listed(listed, usable)


def gpus_listed(listed: str, nodes: int) -> list[str]:
    """Return the items of a list that are GPUs, given the number of device nodes."""
    items: list[str] = []
    for item in map(str.strip, listed.split(",")):
        is_gpu = int(item) < nodes if item.isdecimal() else item.startswith(("GPU-", "MIG-"))
        if not is_gpu:
            break
        items.append(item)
    return items if len(set(items)) == len(items) else []  # duplicates: the driver decides
