"""The options and logs of the driver's JIT compiler and linker (driver API, ``CUjit_option``)."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

from cudarun.base.errors import CudarunError, DeviceFailed, ImageRefused, RequestError
from cudarun.session.driver.calls import Driver
from cudarun.session.load.request import CACHE_MODES, FALLBACKS, JitOptions

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

    from cudarun.session.image.image import Image

P = ParamSpec("P")
T = TypeVar("T")

DriverOptions: TypeAlias = "dict[cuda.CUjit_option, object]"  # the options of a call by their key

_FIRST_SIZE = 1 << 20
_LARGEST_SIZE = 1 << 26


class Logs:
    """The buffers that a compiler or linker writes its logs to.

    They must live as long as the library or link state: lazy loading and an unfinished link write
    to them later.
    """

    def __init__(self, size: int = _FIRST_SIZE) -> None:
        self._size = size
        self._error: bytes | mmap.mmap = b""
        self._info: bytes | mmap.mmap = b""

    def options(self, driver: Driver) -> DriverOptions:
        """Return the options that pass the buffers: memory that costs nothing until it is written.

        The CUDA bindings refuse a mapping. They take `bytes`, whose zeros nothing has written yet,
        unlike those of a `bytearray`.
        """
        make = bytes if driver.traits.runs_machine_code else partial(mmap.mmap, -1)
        self._error, self._info = make(self._size), make(self._size)
        option = driver.CUjit_option
        return {
            option.CU_JIT_ERROR_LOG_BUFFER: self._error,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: self._size,
            option.CU_JIT_INFO_LOG_BUFFER: self._info,
            option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: self._size,
        }

    @property
    def error(self) -> str:
        """The error log; empty without errors."""
        return _text(self._error)

    @property
    def info(self) -> str:
        """The information log, with warnings."""
        return _text(self._info)

    @property
    def is_full(self) -> bool:
        """True if the logs may be truncated."""
        return any(_length(buffer) >= self._size - 1 for buffer in (self._error, self._info))


def with_whole_logs(work: Callable[[Logs], T]) -> T:
    """Do the work, repeatedly with larger buffers while its logs do not fit."""
    size = _FIRST_SIZE
    while True:
        logs = Logs(size)
        try:
            result = work(logs)
            if not logs.is_full or size >= _LARGEST_SIZE:
                return result
        except ImageRefused:
            if not logs.is_full or size >= _LARGEST_SIZE:
                raise
        size = min(16 * size, _LARGEST_SIZE)


def driver_options(driver: Driver, options: JitOptions) -> DriverOptions:
    """Convert the options to the driver's."""
    values = {name: getattr(options, field) for name, (_, field) in _OPTIONS.items()}
    if options.cache_mode is not None:
        mode = f"CU_JIT_CACHE_OPTION_{CACHE_MODES[options.cache_mode]}"
        values["CU_JIT_CACHE_MODE"] = getattr(driver.CUjit_cacheMode, mode)
    if options.fallback is not None:
        strategy = f"CU_PREFER_{FALLBACKS[options.fallback]}"
        values["CU_JIT_FALLBACK_STRATEGY"] = getattr(driver.CUjit_fallback, strategy)
    if (target := options.target) is not None:
        name = f"CU_TARGET_COMPUTE_{target.number}{target.suffix.upper()}"
        values["CU_JIT_TARGET"] = getattr(driver.CUjit_target, name, None)
        if values["CU_JIT_TARGET"] is None:
            raise RequestError(
                f"the installed CUDA bindings do not support the target {target} (CUjit_target)"
            )
    return {
        getattr(driver.CUjit_option, name): int(value) if isinstance(value, bool) else value
        for name, value in values.items()
        if value is not None and value is not False
    }


@contextmanager
def option_refusals(options: DriverOptions, logs: Logs) -> Iterator[None]:
    """Turn a refusal of an option, by the driver or the bindings, into an error with its name.

    Args:
        options: The result of `driver_options`.
        logs: The logs, in which the driver may have named the option.
    """
    try:
        yield
    except TypeError as error:
        named = _NOT_PASSED.search(str(error))
        if not named:
            raise
        flag, _ = _OPTIONS.get(named[1], (named[1], ""))
        raise RequestError(
            f"the installed CUDA bindings do not pass {named[1]} to the driver",
            hint="update them, or use 'cudarun link --linker nvjitlink'",
            option=flag,
        ) from None
    except DeviceFailed as error:
        if not options or error.cuda is None or error.cuda[1] not in _OPTION_REFUSED:
            raise
        named = _NOT_SUPPORTED.search(logs.error)
        if named and named[1] in _OPTIONS:
            flag, _ = _OPTIONS[named[1]]
            raise RequestError(named[2], cuda=error.cuda, option=flag) from None
        given = ", ".join(_OPTIONS[option.name][0] for option in options)
        refused = RequestError(error.what, cuda=error.cuda, log=logs.error or error.log)
        raise refused.like(error).of(option=given) from None


class DriverImage:
    """An image that a driver compiles, with the options and the logs of its JIT compiler."""

    driver: Driver
    image: Image
    options: JitOptions
    logs: Logs

    def refused(self, error: CudarunError, *, since: int = 0) -> CudarunError:
        """Return the driver's refusal of the image with the compiler's log and an explanation.

        Args:
            since: The length of the log before the call: what it had then is about other calls.
        """
        # Only failures need it.
        from cudarun.session.image.diagnosis import device_target, diagnose

        # The driver's own log repeats the compiler's.
        error.log = self.logs.error[since:].lstrip("\n") or error.log
        error.of(origin=self.image.origin)
        target = device_target(self.driver)
        return diagnose(error, [self.image], target, jit_target=self.options.target)

    def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a call; a refusal of the image is explained."""
        since = len(self.logs.error)
        try:
            return call(*args, **kwargs)
        except ImageRefused as error:
            raise self.refused(error, since=since) from None


# The results of calls with an option that does not apply, or has no such value.
_OPTION_REFUSED = (1, 801)
_NOT_SUPPORTED = re.compile(r"(CU_JIT_\w+) is not supported: (.+)")
# cuda-bindings convert the values of options to C by a table of their own, which lacks some.
_NOT_PASSED = re.compile(r"Unsupported attribute: (CU_JIT_\w+)")
_OPTIONS = {
    "CU_JIT_MAX_REGISTERS": ("--max-registers", "max_registers"),
    "CU_JIT_THREADS_PER_BLOCK": ("--threads-per-block", "threads_per_block"),
    "CU_JIT_OPTIMIZATION_LEVEL": ("-O", "optimization"),
    "CU_JIT_GENERATE_LINE_INFO": ("--lineinfo", "line_info"),
    "CU_JIT_GENERATE_DEBUG_INFO": ("--debug", "debug"),
    "CU_JIT_POSITION_INDEPENDENT_CODE": ("--position-independent", "position_independent"),
    "CU_JIT_LOG_VERBOSE": ("--verbose", "verbose"),
    "CU_JIT_CACHE_MODE": ("--cache-mode", "cache_mode"),
    "CU_JIT_FALLBACK_STRATEGY": ("--fallback", "fallback"),
    "CU_JIT_TARGET": ("--target", "target"),
}
"""The option of the command line, and the field of `JitOptions`, of each ``CUjit_option``."""


def _length(buffer: bytes | mmap.mmap) -> int:
    end = buffer.find(b"\0")
    return len(buffer) if end < 0 else end


def _text(buffer: bytes | mmap.mmap) -> str:
    return buffer[: _length(buffer)].decode(errors="replace").strip()
