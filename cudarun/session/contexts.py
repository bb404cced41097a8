"""Contexts: the device's primary one or one created for the run, with its flags and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudarun.session.requests import ContextOptions

if TYPE_CHECKING:  # the command line wants the words below without what a worker needs
    from cudarun.session.calls import Driver
    from cudarun.session.devices import Device

FLAGS = {
    "auto": "CU_CTX_SCHED_AUTO",
    "spin": "CU_CTX_SCHED_SPIN",
    "yield": "CU_CTX_SCHED_YIELD",
    "blocking-sync": "CU_CTX_SCHED_BLOCKING_SYNC",
    "map-host": "CU_CTX_MAP_HOST",
    "lmem-resize-to-max": "CU_CTX_LMEM_RESIZE_TO_MAX",
    "sync-memops": "CU_CTX_SYNC_MEMOPS",
}
LIMITS = {
    "stack": "CU_LIMIT_STACK_SIZE",
    "printf-fifo": "CU_LIMIT_PRINTF_FIFO_SIZE",
    "malloc-heap": "CU_LIMIT_MALLOC_HEAP_SIZE",
    "sync-depth": "CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH",
    "pending-launches": "CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT",
    "l2-fetch-granularity": "CU_LIMIT_MAX_L2_FETCH_GRANULARITY",
    "persisting-l2": "CU_LIMIT_PERSISTING_L2_CACHE_SIZE",
}
CACHE_CONFIGS = ("none", "shared", "l1", "equal")


def enter_context(driver: Driver, device: Device, options: ContextOptions) -> Any:
    """Make the context that the options describe current on this thread, and return it.

    Nothing gives it back: a worker ends by process exit, which does so faster.
    """
    flags = sum(int(getattr(driver.CUctx_flags, FLAGS[word])) for word in set(options.flags))
    if options.kind == "new":
        context = _create(driver, flags, device.handle)
    else:
        if flags:
            driver.cuDevicePrimaryCtxSetFlags(device.handle, flags)
        context = driver.cuDevicePrimaryCtxRetain(device.handle)
        driver.cuCtxSetCurrent(context)
    for name, size in options.limits:
        driver.cuCtxSetLimit(getattr(driver.CUlimit, LIMITS[name]), size)
    if options.cache_config is not None:
        preference = f"CU_FUNC_CACHE_PREFER_{options.cache_config.upper()}"
        driver.cuCtxSetCacheConfig(getattr(driver.CUfunc_cache, preference))
    return context


def _create(driver: Driver, flags: int, device: Any) -> Any:
    """``cuCtxCreate``, whose bindings differ.

    Only those of CUDA 12 still have a ``_v4`` beside it, and there the plain name takes no
    parameters argument.
    """
    if hasattr(driver.module, "cuCtxCreate_v4"):
        return driver.cuCtxCreate(flags, device)
    return driver.cuCtxCreate(None, flags, device)
