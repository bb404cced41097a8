"""Contexts: the objects they own, their limits, and each thread's context stack.

Driver API, sections 6.7 (primary contexts) and 6.8 (contexts).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Set
from dataclasses import field
from typing import TYPE_CHECKING, Any

from cuda.bindings.driver import CUctx_flags, CUfunc_cache, CUlimit

from cudarun.base.records import dataclass
from cudarun.emulator.heap import DeviceHeap
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.refusal import Refusal, enum_member, refuse_if

if TYPE_CHECKING:
    from cudarun.emulator.machine.textures.texels import Surface
    from cudarun.emulator.machine.textures.texture import Texture

API_VERSION = 3020  # returned by cuCtxGetApiVersion since CUDA 3.2
STREAM_PRIORITIES = (0, -5)  # least and greatest
_SCHEDULING = int(CUctx_flags.CU_CTX_SCHED_MASK)

_DEFAULT_LIMITS: dict[CUlimit, int] = {
    CUlimit.CU_LIMIT_STACK_SIZE: 1024,
    CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE: 8650752,
    CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE: 8388608,
    CUlimit.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: 2048,
    CUlimit.CU_LIMIT_MAX_L2_FETCH_GRANULARITY: 64,
    CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE: 11796480,
}
_UNITS: dict[CUlimit, int] = {  # of which a limit is a multiple
    CUlimit.CU_LIMIT_STACK_SIZE: 16,
    CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE: 3932160,
}
_LARGEST: dict[CUlimit, int] = {
    CUlimit.CU_LIMIT_STACK_SIZE: 512 << 10,  # the maximum local memory per thread
    CUlimit.CU_LIMIT_MAX_L2_FETCH_GRANULARITY: 128,
    CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE: 39321600,
}
# After a kernel with one of the calls has run, the size is fixed.
_FIXED_BY: dict[CUlimit, frozenset[str]] = {
    CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE: frozenset({"vprintf"}),
    CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE: frozenset({"malloc", "free"}),
}


def checked_flags(flags: int) -> int:
    """Check context flags and return them.

    Raises:
        Refusal: Unknown bits, or more than one scheduling policy.
    """
    if flags & ~int(CUctx_flags.CU_CTX_FLAGS_MASK) or flags & _SCHEDULING not in (0, 1, 2, 4):
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CUctx_flags")
    return flags


class Limits:
    """The resource limits of one context (``cuCtxSetLimit``), in bytes or counts."""

    def __init__(self) -> None:
        self._values = dict(_DEFAULT_LIMITS)

    def get(self, limit: CUlimit) -> int:
        """Return the value of a limit; `Refusal` if the device has no such limit."""
        return self._values[self._known(limit)]

    def set(self, limit: CUlimit, value: int, *, called: Set[str]) -> None:
        """Set a limit; ``called`` are the system calls of the kernels that have run."""
        limit = self._known(limit)
        too_late = called & _FIXED_BY.get(limit, frozenset())
        if too_late:
            used = " and ".join(sorted(too_late))
            raise Refusal(
                "INVALID_VALUE",
                f"{limit.name} cannot be set after a kernel that uses {used} has run",
            )
        largest = _LARGEST.get(limit)
        unit = _UNITS.get(limit, 1)
        words = f"{limit.name} of {value} exceeds the maximum of {largest}"
        refuse_if(largest is not None and limit in _UNITS and value > largest, words)
        value = -(-value // unit) * unit
        self._values[limit] = value if largest is None else min(value, largest)

    def _known(self, limit: CUlimit) -> CUlimit:
        limit = enum_member(CUlimit, limit)
        refuse_if(limit == CUlimit.CU_LIMIT_MAX, f"{int(limit)} is not a CUlimit")
        if limit not in self._values:
            raise Refusal("UNSUPPORTED_LIMIT", f"the emulated device does not support {limit.name}")
        return limit


@dataclass(eq=False)
class Context:
    """One context and everything that is destroyed with it."""

    device: EmulatedDevice
    handles: HandleTable
    flags: int
    is_primary: bool = False
    alive: bool = True
    uses: int = 1  # the usage count of ``cuCtxAttach`` and ``cuCtxDetach``
    called: set[str] = field(default_factory=set)  # the system calls of the kernels that have run
    limits: Limits = field(default_factory=Limits)
    cache_config: CUfunc_cache = CUfunc_cache.CU_FUNC_CACHE_PREFER_NONE
    # The function that frees each owned object, by its handle or address.
    on_destroy: dict[int, Callable[[], object]] = field(default_factory=dict)
    # The module of each loaded library in this context.
    libraries: dict[int, Any] = field(default_factory=dict)
    # The texture objects by handle, as kernels see them.
    textures: dict[int, Texture] = field(default_factory=dict)
    surfaces: dict[int, Surface] = field(default_factory=dict)  # the surface objects, likewise
    # The contexts whose memory kernels of this context can access.
    peers: list[Context] = field(default_factory=list)
    # The default streams: by thread, and at 0 the legacy one.
    default_streams: dict[int, Any] = field(default_factory=dict)
    id: int = field(default_factory=itertools.count(1).__next__)

    def __post_init__(self) -> None:
        self.handle = self.handles.add(self)
        self._heap: DeviceHeap | None = None

    def own(self, key: int, end: Callable[[], object]) -> None:
        """Register an owned object; ``end()`` frees it when the context is destroyed."""
        self.on_destroy[key] = end

    def disown(self, key: int) -> None:
        """Remove an owned object that was freed explicitly."""
        self.on_destroy.pop(key, None)

    def heap(self) -> DeviceHeap:
        """The heap of ``malloc`` in a kernel; it outlives the launch."""
        size = self.limits.get(CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE)
        if self._heap is None:
            self._heap = DeviceHeap(self.device.memory, size)
        self._heap.size = size
        return self._heap

    def clear(self) -> None:
        """Free everything the context owns."""
        for end in reversed(list(self.on_destroy.values())):
            end()
        for stream in self.default_streams.values():
            stream.end()
        self.on_destroy.clear()
        self.libraries.clear()
        self.peers.clear()
        self.default_streams.clear()
        if self._heap is not None:
            self._heap.release()
            self._heap = None
        self.limits = Limits()
        self.cache_config = CUfunc_cache.CU_FUNC_CACHE_PREFER_NONE
        self.called.clear()

    def destroy(self) -> None:
        """Free everything and make the handle invalid."""
        self.clear()
        self.alive = False
        self.handles.remove(self.handle)


class ContextObject:
    """An object of a context with a handle; it ends with the context."""

    context: Context
    handle: int = 0  # the handle; 0 before `enter`

    def enter(self) -> None:
        """Give it a handle, and let the context own it."""
        self.handle = self.context.handles.add(self)
        self.context.own(self.handle, self.end)

    def destroy(self) -> None:
        """Make the handle invalid, and free what belongs to the object."""
        self.context.disown(self.handle)
        self.end()

    def end(self) -> None:
        """Do so when the context ends."""
        self.context.handles.remove(self.handle)


class PrimaryContext:
    """The primary context of a device, shared by the whole process, and its reference count.

    Its handle stays the same when it is destroyed and created again. A reset destroys it even if it
    is retained: its holders still have to release it, and the next retain creates it again.
    """

    def __init__(self, device: EmulatedDevice, handles: HandleTable) -> None:
        self.flags = 0
        self.holders = 0
        self._context = Context(device, handles, flags=0, is_primary=True, alive=False)

    @property
    def active(self) -> bool:
        """True while the context exists."""
        return self._context.alive

    def retain(self) -> Context:
        """Activate the context if it is not active, and increment its reference count."""
        if not self.active:
            self._context.alive = True
            self._context.flags = self.flags
        self.holders += 1
        return self._context

    def release(self) -> None:
        """Decrement the reference count; at 0 destroy everything in the context."""
        refuse_if(self.holders == 0, "the primary context is not retained", "INVALID_CONTEXT")
        self.holders -= 1
        if self.holders == 0:
            self.reset()

    def reset(self) -> None:
        """Destroy everything in the context, whatever its reference count."""
        self._context.clear()
        self._context.alive = False

    def set_flags(self, flags: int) -> None:
        """Set the flags that it has, or will have once it is retained."""
        self.flags = self._context.flags = flags


class ContextStack(threading.local):
    """The context stack of the calling thread; the last one is current."""

    def __init__(self) -> None:
        self._stack: list[Context] = []

    @property
    def top(self) -> Context | None:
        """The current context, destroyed or not; ``None`` on an empty stack."""
        return self._stack[-1] if self._stack else None

    def current(self) -> Context:
        """Return the current context; `Refusal` if there is none, or it has been destroyed."""
        context = self.top
        if context is None:
            raise Refusal("INVALID_CONTEXT", "no context is current to this thread")
        if not context.alive:
            raise Refusal("CONTEXT_IS_DESTROYED", "the current context has been destroyed")
        return context

    def push(self, context: Context) -> None:
        """Make ``context`` current."""
        self._stack.append(context)

    def pop(self) -> Context:
        """Pop the current context and return it."""
        refuse_if(not self._stack, "no context is current to this thread", "INVALID_CONTEXT")
        return self._stack.pop()

    def set(self, context: Context | None) -> None:
        """Replace the current context; ``None`` pops it."""
        if self._stack:
            self._stack.pop()
        if context is not None:
            self._stack.append(context)
