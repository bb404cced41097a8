"""The just-in-time compiler: its options and logs, and the compilation of PTX.

Driver API, ``CUjit_option``; the logs are in the format of ptxas. A text is compiled once per
process, as with the driver's compute cache.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cuda.bindings.driver import CUjit_option

from cudarun.base.bindings import newer_jit_options
from cudarun.base.process import without_collection
from cudarun.base.profiles import Profile
from cudarun.base.records import dataclass
from cudarun.emulator.host import addresses, headers
from cudarun.emulator.host.addresses import address_of
from cudarun.emulator.host.devices import attribute_value, current_profile
from cudarun.emulator.host.images import NotLoadable, ptx_text
from cudarun.emulator.host.occupancy import registers_per_thread
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.emulator.numerics import algebra
from cudarun.emulator.program import KernelCode, ModuleCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import SHORT

_BUFFERS = {
    "info": (CUjit_option.CU_JIT_INFO_LOG_BUFFER, CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES),
    "error": (
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ),
}
# Options that are satisfied with any value: source lines are always kept, code is always position
# independent, PTX is always preferred, and any block that the kernel allows can be launched.
_ALWAYS_HONORED = frozenset(
    {
        CUjit_option.CU_JIT_WALL_TIME,  # the bindings discard the output
        CUjit_option.CU_JIT_TARGET,  # see `for_another_device`
        CUjit_option.CU_JIT_TARGET_FROM_CUCONTEXT,
        CUjit_option.CU_JIT_THREADS_PER_BLOCK,  # a GPU's driver accepts any number, too
        CUjit_option.CU_JIT_FALLBACK_STRATEGY,
        CUjit_option.CU_JIT_GENERATE_DEBUG_INFO,
        CUjit_option.CU_JIT_GENERATE_LINE_INFO,
        CUjit_option.CU_JIT_LOG_VERBOSE,
        CUjit_option.CU_JIT_NEW_SM3X_OPT,
        CUjit_option.CU_JIT_FAST_COMPILE,
        CUjit_option.CU_JIT_POSITION_INDEPENDENT_CODE,
        *newer_jit_options(),  # number of compiling and loading threads
        *(*_BUFFERS["info"], *_BUFFERS["error"]),
    }
)
# Options about the speed of machine code: they have no effect, which the log states.
_WITHOUT_EFFECT = {
    CUjit_option.CU_JIT_OPTIMIZATION_LEVEL: "the emulated device does not optimize PTX",
    CUjit_option.CU_JIT_CACHE_MODE: "the emulated device has no caches",
    CUjit_option.CU_JIT_MIN_CTA_PER_SM: "the emulated device does not allocate registers",
}
_HIGHEST = 4  # level of optimization
_MOST_CONSTANTS = attribute_value("TOTAL_CONSTANT_MEMORY")
_MOST_PARAMETERS, _FEWER_PARAMETERS = 32764, 4352  # bytes; PTX ISA, .param space
_WITH_MORE_PARAMETERS = (8, 1)
# Options of a whole link, which cuLinkAddData refuses.
_OF_THE_WHOLE = {
    *(CUjit_option.CU_JIT_TARGET, CUjit_option.CU_JIT_TARGET_FROM_CUCONTEXT),
    *(CUjit_option.CU_JIT_WALL_TIME, *_BUFFERS["info"], *_BUFFERS["error"]),
}
# Not valid for links (driver API, CUjit_option): a linker requires code that matches exactly.
_OF_NO_LINK = CUjit_option.CU_JIT_FALLBACK_STRATEGY


_COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"


class DriverJitOptions:
    """The options of one compilation or link, and the caller's log buffers.

    ``values`` are kept alive as long as this is, for a log may be written later.

    Raises:
        Refusal: An option asks for what this device cannot do; the error log names it.
    """

    def __init__(
        self, count: int, options: Sequence[CUjit_option] | None, values: Sequence[Any] | None
    ) -> None:
        options, values = options or (), values or ()
        if min(len(options), len(values)) < count:
            raise RuntimeError(f"List is too small: {min(len(options), len(values))} < {count}")
        self._values = dict(zip(options[:count], values[:count], strict=True))
        self._logs = {"info": "", "error": ""}
        for log in self._logs:
            self._write(log)
        for option, value in self._values.items():
            self._check(option, value)

    def _check(self, option: CUjit_option, value: Any) -> None:
        """Refuse an option by name, or log that it has no effect."""
        if option is CUjit_option.CU_JIT_MAX_REGISTERS and value == 0:
            raise Refusal("INVALID_VALUE", f"{option.name} must not be 0")  # as a GPU's driver does
        if option is CUjit_option.CU_JIT_MAX_REGISTERS:
            self._refuse(option, "the emulated device does not allocate registers")
        if option is CUjit_option.CU_JIT_OPTIMIZATION_LEVEL and not 0 <= value <= _HIGHEST:
            self._refuse(option, f"the levels are 0 to {_HIGHEST}")
        if option in _WITHOUT_EFFECT:
            words = f"{option.name} has no effect: {_WITHOUT_EFFECT[option]}"
            self.append("info", f"ptxas info    : {words}")
        elif option not in _ALWAYS_HONORED and value:
            self._refuse(option, "the emulated device does not implement it")

    def _refuse(self, option: CUjit_option, why: str) -> None:
        words = f"{option.name} is not supported: {why}"
        self.append("error", f"ptxas fatal   : {words}")
        raise Refusal("NOT_SUPPORTED", words)

    @property
    def for_another_device(self) -> bool:
        """True if the code is for another architecture (``CU_JIT_TARGET``)."""
        target = self._values.get(CUjit_option.CU_JIT_TARGET)
        own = f"CU_TARGET_COMPUTE_{current_profile().architecture}"
        name = getattr(target, "name", f"CU_TARGET_COMPUTE_{target}")
        return target is not None and name not in (own, f"{own}A")

    @property
    def verbose(self) -> bool:
        """True if the information log is requested in full."""
        return bool(self._values.get(CUjit_option.CU_JIT_LOG_VERBOSE))

    def check_of_link(self) -> None:
        """Raise `Refusal` if the result would have to be machine code."""
        if self.for_another_device:
            why = f"the emulated device links only for itself, sm_{current_profile().architecture}"
            self._refuse(CUjit_option.CU_JIT_TARGET, why)

    def check_of_one_input(self) -> None:
        """Raise `Refusal` if an option does not apply to one input of a link."""
        for option in self._values:
            refuse_if(option == _OF_NO_LINK, f"{option.name} does not apply to links")
            words = f"{option.name} applies to the whole link; pass it to cuLinkCreate"
            refuse_if(option in _OF_THE_WHOLE, words)

    def append(self, log: str, text: str) -> None:
        """Add lines to the ``info`` or the ``error`` log, in the caller's buffer."""
        if text:
            self._logs[log] += ("\n" if self._logs[log] else "") + text.rstrip("\n")
            self._write(log)

    @contextmanager
    def logging_errors(self) -> Iterator[None]:
        """Log why an image is refused.

        Raises:
            Refusal: With the result of the call; also for a `PtxError`.
        """
        try:
            yield
        except NotLoadable as refusal:
            self.append("error", refusal.words)
            raise
        except PtxError as error:
            self.append("error", error.log or "")
            is_version = isinstance(error, headers.UnsupportedVersion)
            result = "UNSUPPORTED_PTX_VERSION" if is_version else "INVALID_PTX"
            raise Refusal(result, error.log or "") from None

    def _write(self, log: str) -> None:
        """Write what fits, NUL-terminated; without a buffer or a size do nothing."""
        buffer, size = (self._values.get(option) for option in _BUFFERS[log])
        if buffer is None or not size:
            return
        text = self._logs[log].encode("latin-1", "replace")[: int(size) - 1] + b"\0"
        addresses.host.write(address_of(buffer), text)


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """A program and properties of its text."""

    program: ModuleCode
    architecture: int  # the number in ``.target``, ``90`` for ``sm_90a``
    # The device runtime functions that it declares: ``vprintf``, ``malloc``, …
    system_calls: frozenset[str]
    kernel_names: tuple[str, ...]  # the names of its kernels, in the order of the text
    text: str
    # Returns one of them, which is compiled if it is not yet; raises `PtxError`.
    kernel: Callable[[str], KernelCode]


def compile_image(
    image: bytes, options: DriverJitOptions, *, on_demand: bool = False
) -> CompiledModule:
    """Compile the PTX in an image; logs go to the buffers in ``options``.

    ``on_demand`` each kernel of a long text is compiled when it is asked for.

    Raises:
        Refusal: With the result of the load.
    """
    with options.logging_errors():
        text = ptx_text(image)
        if on_demand and len(text) > SHORT and not options.verbose:
            compiled = _compiled(
                text, headers.newest_ptx(), current_profile(), algebra.enabled, on_demand=True
            )
        else:
            compiled = compile_text(text)
    words = f"the code was compiled for another architecture than {current_profile().target}"
    refuse_if(options.for_another_device, words, "INVALID_SOURCE")  # it compiles, as on a GPU
    if options.verbose:
        options.append("info", information(compiled.program))
    return compiled


def compile_text(text: str) -> CompiledModule:
    """Parse and compile one PTX text. Raises `PtxError`."""
    return _compiled(text, headers.newest_ptx(), current_profile(), algebra.enabled)


@functools.lru_cache(maxsize=16)
def _compiled(
    text: str,
    newest: headers.Version,
    profile: Profile,
    in_residues: bool,
    *,
    on_demand: bool = False,
) -> CompiledModule:
    from cudarun.emulator.decode.module import ModuleDecoder  # the instruction tables

    with without_collection(freeze=True):
        lazy = headers.parse_supported(text, newest)
        module = lazy.module
        decoder = ModuleDecoder(module, lazy.read)
        if not on_demand:
            decoder.decode()
        externs = _externs(module, text)
        if on_demand:
            decoder.check_declarations()
        else:
            decoder.whole_program()
    has_more = module.version >= _WITH_MORE_PARAMETERS
    most_parameters = _MOST_PARAMETERS if has_more else _FEWER_PARAMETERS

    def check_spaces(*kernels: KernelCode) -> None:
        _check_space("File", "global constant data", decoder.const_bytes, _MOST_CONSTANTS)
        for each in kernels:
            user = f"Entry function '{each.name}'"
            _check_space(user, "shared data", each.static_shared, profile.static_shared)
            _check_space(user, "parameter space", each.parameter_bytes, most_parameters)

    check_spaces(*decoder.program.kernels.values())

    @functools.cache
    def compile_kernel(name: str) -> KernelCode:
        with without_collection(freeze=True):
            kernel = decoder.kernel(name)
        check_spaces(kernel)
        return kernel

    names = dict.fromkeys(f.name for f in module.functions if f.is_entry and f.body is not None)
    target = headers.target_of(module).number
    return CompiledModule(decoder.program, target, externs, tuple(names), text, compile_kernel)


def _check_space(user: str, what: str, size: int, most: int) -> None:
    """Raise `WholeTextError` if a kernel, or the whole text, declares more memory than there is."""
    if size > most:
        message = f"{user} uses too much {what} ({size:#x} bytes, {most:#x} max)"
        raise headers.WholeTextError(message, "error")


def _externs(module: tree.Module, text: str) -> frozenset[str]:
    """Return the functions that the module declares and does not define.

    Raises:
        WholeTextError: The text refers to one that the device does not have.
    """
    declared = Counter(function.name for function in module.functions if function.body is None)
    defined = {function.name for function in module.functions if function.body is not None}
    externs = frozenset(declared.keys() - defined - module.aliases.keys())
    missing = sorted(externs - SYSTEM_FUNCTIONS.keys())
    if missing:
        names = re.compile(rf"{_COMMENT}|(?<![\w$%])({'|'.join(map(re.escape, missing))})(?![\w$])")
        mentions = Counter(names.findall(text))
        for name in missing:
            if mentions[name] > declared[name]:
                raise headers.WholeTextError(f"Unresolved extern function '{name}'")
    return externs


def information(program: ModuleCode) -> str:
    """Return the output of ``ptxas --verbose`` for a program."""
    used = {"global": 0, "const": 0}
    for variable in program.variables.values():
        used[variable.space] += variable.size
    constants = f", {used['const']} bytes cmem[3]" if used["const"] else ""
    lines = [f"ptxas info    : {used['global']} bytes gmem{constants}"]
    target = current_profile().target
    for kernel in program.kernels.values():
        lines += [
            f"ptxas info    : Compiling entry function '{kernel.name}' for '{target}'",
            f"ptxas info    : Function properties for {kernel.name}",
            f"ptxas         .     {kernel.local_bytes} bytes stack frame, 0 bytes spill stores, "
            "0 bytes spill loads",
            f"ptxas info    : Used {registers_per_thread(kernel)} registers"
            + (f", {kernel.static_shared} bytes smem" if kernel.static_shared else ""),
        ]
    return "\n".join(lines)
