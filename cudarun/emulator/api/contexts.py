"""Primary contexts and contexts: driver API, sections 6.7, 6.8 and 6.9, and peer access."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any, SupportsInt

from cuda.bindings.driver import CUcontext, CUctx_flags, CUdevice, CUfunc_cache, CUlimit

from cudarun.emulator.api.calls import call, query
from cudarun.emulator.api.handles import ContextHandle, PrimaryContextHandle
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.contexts import API_VERSION, STREAM_PRIORITIES, Context, checked_flags
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, enum_member, refuse_if

# --- primary contexts ----------------------------------------------------------------------------


@call(of_current=False)
def cuDevicePrimaryCtxRetain(dev: PrimaryContextHandle) -> CUcontext:
    """Retain the device's primary context; it is not made current."""
    return CUcontext(dev.retain().handle)


@query()
def cuDevicePrimaryCtxRelease(dev: Handle) -> None:
    """Release the primary context; the last release destroys everything in it.

    It succeeds after a fault too, without clearing it; so does `cuCtxDestroy`.
    """
    process.ready(process.device(dev))
    process.primary_context(dev).release()


@query()
def cuDevicePrimaryCtxReset(dev: Handle) -> None:
    """Destroy the primary context until it is retained again; holders still have to release it.

    It succeeds after a fault too, without clearing it.
    """
    process.ready(process.device(dev))
    process.primary_context(dev).reset()


@query()
def cuDevicePrimaryCtxGetState(dev: PrimaryContextHandle) -> tuple[int, int]:
    """Return the primary context's flags, and whether it is active."""
    return dev.flags, int(dev.active)


@call(of_current=False)
def cuDevicePrimaryCtxSetFlags(dev: PrimaryContextHandle, flags: int) -> None:
    """Set the primary context's flags, active or not."""
    dev.set_flags(checked_flags(flags))


# --- contexts ------------------------------------------------------------------------------------


@call(of_current=False)
def cuCtxCreate(ctxCreateParams: Any, flags: SupportsInt, dev: Handle = None) -> CUcontext:
    """Create a context and push it; with two arguments they are ``(flags, dev)``, as in CUDA 12."""
    arguments = (ctxCreateParams, flags, dev) if dev is not None else (None, ctxCreateParams, flags)
    parameters, flag_bits, device = arguments
    if parameters is not None:
        raise Refusal("NOT_SUPPORTED", "CUctxCreateParams is not supported; pass None")
    context = Context(process.device(device), process.handles, checked_flags(int(flag_bits)))
    process.stack.push(context)
    return CUcontext(context.handle)


@query()
def cuCtxDestroy(ctx: ContextHandle) -> None:
    """Destroy a context and everything it owns; pop it if it is current to this thread."""
    _destroy(ctx)


def _destroy(context: Context) -> None:
    refuse_if(context.is_primary, "a primary context is released, not destroyed", "INVALID_CONTEXT")
    process.ready(context.device)
    if process.stack.top is context:
        process.stack.pop()
    context.destroy()


@query()
def cuCtxPushCurrent(ctx: ContextHandle) -> None:
    """Push a context, which becomes current to this thread."""
    process.stack.push(ctx)


@query()
def cuCtxPopCurrent() -> CUcontext:
    """Pop the current context of this thread and return it."""
    return CUcontext(process.stack.pop().handle)


@query()
def cuCtxSetCurrent(ctx: Handle) -> None:
    """Replace the current context of this thread; null pops it."""
    process.stack.set(process.context(ctx) if handle_value(ctx) else None)


@query()
def cuCtxGetCurrent() -> CUcontext:
    """Return the current context of this thread, or null."""
    context = process.stack.top
    return CUcontext(context.handle if context else 0)


@query()
def cuCtxGetDevice() -> CUdevice:
    """Return the device of the current context."""
    return CUdevice(process.current().device.ordinal)


@query()
def cuCtxGetFlags() -> int:
    """Return the flags of the current context."""
    return process.current().flags


@call()
def cuCtxSetFlags(flags: int) -> None:
    """Set the flags of the current context, except the mapping of host memory."""
    context = process.current()
    kept = context.flags & int(CUctx_flags.CU_CTX_MAP_HOST)
    context.flags = checked_flags(flags) | kept


@query()
def cuCtxGetApiVersion(ctx: Handle) -> int:
    """Return the API version of a context, or of the current one if ``ctx`` is null."""
    _context_or_current(ctx)
    return API_VERSION


@query()
def cuCtxGetId(ctx: Handle) -> int:
    """Return a number that is unique among all contexts of this process."""
    return _context_or_current(ctx).id


def _context_or_current(ctx: Handle) -> Context:
    if not handle_value(ctx):
        return process.current()
    context = process.context(ctx)
    refuse_if(not context.alive, "the primary context is not active", "CONTEXT_IS_DESTROYED")
    return context


@call(waits=Wait.DEVICE, needs_context=True, during_capture=CaptureRule.CONTEXT)
def cuCtxSynchronize() -> None:
    """Wait for all work of the current context."""


@call()
def cuCtxAttach(flags: int) -> CUcontext:
    """Increment the usage count of the current context (deprecated)."""
    refuse_if(flags != 0, "flags must be 0")
    context = process.current()
    context.uses += 1
    return CUcontext(context.handle)


@call(waits=Wait.DEVICE)
def cuCtxDetach(ctx: ContextHandle) -> None:
    """Decrement the usage count of the current context; at 0 it is destroyed (deprecated).

    A primary context remains, as on an H200.
    """
    refuse_if(ctx is not process.current(), "the context is not the current one", "INVALID_CONTEXT")
    if ctx.uses > 1:
        ctx.uses -= 1
    elif not ctx.is_primary:
        _destroy(ctx)


# --- limits and preferences ----------------------------------------------------------------------


@call()
def cuCtxGetLimit(limit: CUlimit) -> int:
    """Return a resource limit of the current context."""
    return process.current().limits.get(limit)


@call(during_capture=CaptureRule.UNSAFE)
def cuCtxSetLimit(limit: CUlimit, value: int) -> None:
    """Change a resource limit of the current context."""
    context = process.current()
    context.limits.set(limit, value, called=context.called)


@call()
def cuCtxGetCacheConfig() -> CUfunc_cache:
    """Return the current context's preference for L1 cache or shared memory."""
    return process.current().cache_config


@call(during_capture=CaptureRule.UNSAFE)
def cuCtxSetCacheConfig(config: CUfunc_cache) -> None:
    """Prefer L1 cache or shared memory in the current context; no effect here."""
    process.current().cache_config = enum_member(CUfunc_cache, config)


@call(needs_context=True)
def cuCtxGetStreamPriorityRange() -> tuple[int, int]:
    """Return the least and the greatest priority; greater is a lower number."""
    return STREAM_PRIORITIES


@call(needs_context=True)
def cuCtxResetPersistingL2Cache() -> None:
    """Do nothing: the emulated device has no cache."""


# --- peers ---------------------------------------------------------------------------------------


@call(needs_context=True)
def cuCtxEnablePeerAccess(peerContext: ContextHandle, Flags: int) -> None:
    """Let kernels of the current context access the memory of another device's context."""
    context = process.current()
    refuse_if(Flags != 0, "Flags must be 0")
    if peerContext.device is context.device:
        raise Refusal("PEER_ACCESS_UNSUPPORTED", "both contexts belong to the same device")
    if peerContext in context.peers:
        raise Refusal("PEER_ACCESS_ALREADY_ENABLED")
    context.peers.append(peerContext)


@call(needs_context=True)
def cuCtxDisablePeerAccess(peerContext: ContextHandle) -> None:
    """Undo `cuCtxEnablePeerAccess`."""
    context = process.current()
    if peerContext not in context.peers:
        raise Refusal("PEER_ACCESS_NOT_ENABLED")
    context.peers.remove(peerContext)


# --- profiler control ----------------------------------------------------------------------------


@call(during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuProfilerStart() -> None:
    """Start profiling; no effect here."""


@call(during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuProfilerStop() -> None:
    """Stop profiling; no effect here."""
