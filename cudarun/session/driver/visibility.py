"""What is done for a GPU's driver before its API is imported: narrow what it is shown, and wake it.

Each GPU that ``cuInit`` finds costs 0.1 to 0.2 s, whether it is used or not. So before it is called
``CUDA_VISIBLE_DEVICES`` is narrowed to what was chosen of what the user lets be seen.

CUDA C++ Programming Guide, "CUDA environment variables": a list of indices, UUIDs and MIG names,
joined by commas; the GPUs are numbered in its order, and it ends where an item is no GPU.

The first thing that a worker does: nothing is imported here that takes long.
"""

from __future__ import annotations

import os
from functools import cache

VARIABLE = "CUDA_VISIBLE_DEVICES"

_NODES = "/dev"


class Shown:
    """What the driver is shown.

    Attributes:
        indices: By the numbers that the driver gives the GPUs, those that the user knows them by.
        all: The variable as the user has it.
    """

    def __init__(self, indices: tuple[int, ...], variable: str | None) -> None:
        self.indices = indices
        self.all = variable

    def widen(self) -> None:
        """Show the driver all again.

        Where it found no GPU, it looks anew when it is initialised once more (measured).
        """
        if self.all is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = self.all


@cache
def narrow(chosen: tuple[int, ...]) -> Shown | None:
    """Show the driver the chosen GPUs alone, once; to be called before it is initialised.

    Returns:
        ``None`` where nothing was narrowed: one of them may not be there, which the driver shall
        say.
    """
    visible = _visible()
    if max(chosen) >= len(visible):
        return None
    shown = Shown(chosen, os.environ.get(VARIABLE))
    os.environ[VARIABLE] = ",".join(visible[index] for index in chosen)
    return shown


@cache
def wake(*, context: bool) -> None:
    """Have the driver initialise from now on, once, in a thread of its own.

    The same calls through the API wait for these, and are the ones whose results count.

    Args:
        context: Make the primary context of the first device, too.
    """
    import _thread  # threading takes a while
    import ctypes

    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:  # there is no driver, as the API will say
        return

    def initialise() -> None:
        device, handle = ctypes.c_int(), ctypes.c_void_p()
        library.cuInit(0)
        if context and library.cuDeviceGet(ctypes.byref(device), 0) == 0:
            library.cuDevicePrimaryCtxRetain(ctypes.byref(handle), device)

    _thread.start_new_thread(initialise, ())


def count() -> int | None:
    """How many GPUs the driver will probably show, without asking it; ``None``: no idea."""
    return len(_visible()) or None


def _visible() -> list[str]:
    """The items of the list that are GPUs, as far as can be told without the driver."""
    nodes = _openable_nodes()
    listed = os.environ.get(VARIABLE)
    if listed is None:
        return [str(index) for index in range(nodes)]
    return gpus_listed(listed, nodes)


def gpus_listed(listed: str, nodes: int) -> list[str]:
    """The items of a list that are GPUs, of which there are so many."""
    items: list[str] = []
    for item in map(str.strip, listed.split(",")):
        is_gpu = int(item) < nodes if item.isdecimal() else item.startswith(("GPU-", "MIG-"))
        if not is_gpu:
            break
        items.append(item)
    return items if len(set(items)) == len(items) else []  # twice the same: the driver's business


def _openable_nodes() -> int:
    """How many ``/dev/nvidia<N>`` this process may use; the driver opens one for each GPU."""
    try:
        names = os.listdir(_NODES)
    except OSError:
        return 0
    numbers = (name.removeprefix("nvidia") for name in names if name.startswith("nvidia"))
    nodes = [f"{_NODES}/nvidia{number}" for number in numbers if number.isdecimal()]
    return sum(os.access(node, os.R_OK | os.W_OK) for node in nodes)
