"""The contexts to work in: primary or new, with flags and limits, and the devices to do it on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Literal

from cudarun.base.bindings import context_arguments
from cudarun.base.options import CaseForm, OptionGroup, OptionScope, fields_of_group, option_field
from cudarun.base.records import dataclass
from cudarun.session.driver.selection import Selector

if TYPE_CHECKING:  # the command line needs the words below without a worker's imports
    from cuda.bindings import driver as cuda

    from cudarun.session.driver.calls import Driver
    from cudarun.session.driver.devices import Device

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
_PREFER = "CU_FUNC_CACHE_PREFER_"

_context = partial(
    option_field, group=OptionGroup.CONTEXTS, scope=OptionScope.OVERRIDE, of_device=True
)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """The context to work in; limits are sizes in bytes, or counts, by their names in `LIMITS`."""

    kind: Literal["primary", "new"] = _context(
        "--context",
        "context_kind",
        default="primary",
        choices=("primary", "new"),
        help="Use the device's primary context, or create a new one for this run.",
    )
    flags: tuple[str, ...] = _context(
        "--ctx-flags WORDS",
        "ctx_flags",
        default=(),
        form=CaseForm.WORDS,
        help=f"Comma-separated context flags: {' '.join(FLAGS)}.",
    )
    limits: tuple[tuple[str, int], ...] = _context(
        "--limit NAME=SIZE",
        form=CaseForm.NAMED_SIZES,
        help=f"Set a context limit; repeatable. Names: {' '.join(LIMITS)}.",
    )
    cache_config: str | None = _context(
        "--cache-config",
        choices=CACHE_CONFIGS,
        help="Prefer shared memory or L1 for all kernels of the context.",
    )


_target = partial(option_field, group=OptionGroup.CONTEXTS, scope=OptionScope.OVERRIDE)


@dataclass(frozen=True, slots=True)
class Target:
    """The devices, the contexts, the number of workers and the time limit in seconds."""

    devices: tuple[Selector, ...] = _target(
        "-d",
        "--device LIST",
        "devices",
        default=MISSING,
        group=OptionGroup.FIRST,
        form=CaseForm.WORDS,
        of_device=True,
        envvar="CUDARUN_DEVICE",
        show_default=True,
        show_envvar=True,
        help="Comma-separated devices: 0 · 0,2 · all · GPU UUID or a prefix of it · PCI bus ID · "
        "cpu · cpu:1 · cpu:all · cpu@a100, emulated with that GPU's limits.",
    )
    context: ContextOptions = fields_of_group(ContextOptions)
    together: bool = _target(
        "--together",
        scope=OptionScope.SINGLE,
        of_device=True,
        help="Use one worker process for all devices; the image is loaded once, before any "
        "context exists.",
    )
    timeout: float | None = _target(
        "--timeout SECONDS",
        help="Time limit in seconds for each phase: reading, loading and device work; exit code 6 "
        "when exceeded, 0 for no limit.",
    )
    trace: bool = _target(
        "--trace",
        group=OptionGroup.OUTPUT,
        scope=OptionScope.RUN,
        help="Log each driver call to stderr as it returns.",
    )
    verbose: bool = _target(
        "-v",
        "--verbose",
        group=OptionGroup.OUTPUT,
        scope=OptionScope.RUN,
        help="Log each step with a timestamp to stderr.",
    )
    capture: bool = False  # put kernel printf output into the report, not on stdout
    escape: bool = False  # show the control characters in it as escapes: stdout is a terminal
    narrow: bool = True  # make only the chosen GPUs visible to the driver, which then starts faster


def enter_context(driver: Driver, device: Device, options: ContextOptions) -> cuda.CUcontext:
    """Make the context that the options describe current on this thread, and return it."""
    flags = flag_bits(driver, options.flags)
    if options.kind == "new":
        context = driver.cuCtxCreate(*context_arguments(driver.module, flags, device.handle))
    else:
        if flags:
            driver.cuDevicePrimaryCtxSetFlags(device.handle, flags)
        context = driver.cuDevicePrimaryCtxRetain(device.handle)
        driver.cuCtxSetCurrent(context)
    for name, size in options.limits:
        driver.cuCtxSetLimit(getattr(driver.CUlimit, LIMITS[name]), size)
    if options.cache_config is not None:
        driver.cuCtxSetCacheConfig(cache_config(driver, options.cache_config))
    return context


def leave_context(
    driver: Driver, device: Device, options: ContextOptions, context: cuda.CUcontext
) -> None:
    """Destroy a context of `enter_context` with all that kernels left in it, such as their heap."""
    if options.kind == "new":
        driver.cuCtxDestroy(context)
    else:
        driver.cuDevicePrimaryCtxReset(device.handle)


def flag_bits(driver: Driver, words: Iterable[str]) -> int:
    """Return the ``CUctx_flags`` of words of `FLAGS`."""
    return sum(int(getattr(driver.CUctx_flags, FLAGS[word])) for word in set(words))


def flag_words(driver: Driver, bits: int) -> tuple[str, ...]:
    """Return the words of `FLAGS` in ``bits``; ``auto`` without a scheduling flag."""
    values = {word: int(getattr(driver.CUctx_flags, name)) for word, name in FLAGS.items()}
    waiting = bits & int(driver.CUctx_flags.CU_CTX_SCHED_MASK)
    automatic = () if waiting else ("auto",)
    return automatic + tuple(word for word, value in values.items() if value & bits)


def cache_config(driver: Driver, word: str) -> cuda.CUfunc_cache:
    """Return the ``CUfunc_cache`` of a word of `CACHE_CONFIGS`."""
    found: cuda.CUfunc_cache = getattr(driver.CUfunc_cache, f"{_PREFER}{word.upper()}")
    return found


def cache_word(driver: Driver, config: cuda.CUfunc_cache) -> str:
    """Return the word of `CACHE_CONFIGS` for a ``CUfunc_cache``."""
    return str(driver.CUfunc_cache(int(config)).name).removeprefix(_PREFER).lower()
