"""The engines that execute kernels: the interpreter, and compiled code where it can serve.

Both have the same results in every bit. Compiled code needs llvmlite (``pip install
'cudarun[fast]'``); kernels with something that has no rule for it are interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec

from cudarun.base.machine import available_cores
from cudarun.base.records import dataclass
from cudarun.emulator.code import Lanewise
from cudarun.emulator.engine_run import COMPILE, INTERPRET, EngineRun, Interpreter
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.numerics import algebra
from cudarun.emulator.tiers import (
    COMMUNICATES,
    MUCH_MEMORY,
    PROCESS_TIERS,
    Tiers,
    is_copied,
    order_reason,
)

_cores = cache(available_cores)  # a kept process would read the files of its groups for each launch

AUTO = "auto"
MODES = (AUTO, INTERPRET, COMPILE)
MOST_THREADS = 1024

ENGINE_VARIABLE = "CUDARUN_CPU_ENGINE"
THREADS_VARIABLE = "CUDARUN_CPU_THREADS"
TARGET_VARIABLE = "CUDARUN_CPU_TARGET"
NATIVE = "native"
TARGETS = (NATIVE, "x86-64-v3", "x86-64-v4")
"""The processors that code is compiled for: this one, or any with AVX2, or with AVX-512."""


class NotCompiled(Exception):
    """A kernel cannot be compiled, but the engine is to be compiled code."""

    def __init__(self, kernel: str, reason: str) -> None:
        super().__init__(f"kernel {kernel} cannot be compiled: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class EngineNote:
    """The engine that executed a kernel."""

    kernel: str  # the name of the kernel
    engine: str  # ``"interpret"`` or ``"compile"``
    # Why it was interpreted, or some of its blocks, if compiled code was permitted; or why a
    # compiled kernel can have other results than an interpreted one.
    reason: str = ""
    is_default: bool = False  # whether no option and no environment variable selected the engine
    # The instructions that are no arithmetic, where floats are numbers modulo a prime.
    opaque: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler of kernels, as it is installed on this machine."""

    version: str  # the version of llvmlite; empty if it is not installed
    processor: str = ""  # the processor that code is compiled for, by LLVM's name
    vectors: str = ""  # the vector instructions that code uses
    # A feature that compiled code needs and this processor lacks; empty without one.
    missing: str = ""


def installed_compiler() -> Compiler:
    """Return the compiler of this machine; it is imported."""
    if find_spec("llvmlite") is None:
        return Compiler("")
    from cudarun.emulator.compiled import jit  # slow to import

    processor, vectors = jit.target_processor()
    return Compiler(jit.version(), processor, vectors, jit.missing_feature() or "")


class Engines:
    """Selects the engine of each launch.

    Args:
        mode: ``"interpret"``; ``"auto"`` to compile what can be compiled; ``"compile"`` to refuse
            anything else.
        threads: The most threads that run the blocks of a compiled kernel; by default the number
            of cores that this process may use.
        in_order: Whether ``"compile"`` refuses kernels that can see the order of the warps, too.
        is_default: Whether neither the program nor the environment selects the mode.
        tiers: Those that ``"auto"`` decides by.
    """

    def __init__(
        self,
        mode: str = INTERPRET,
        threads: int | None = None,
        *,
        in_order: bool = False,
        is_default: bool = False,
        tiers: Tiers = PROCESS_TIERS,
    ) -> None:
        self.mode = mode
        self.in_order = in_order
        self.is_default = is_default
        self.tiers = tiers
        self.threads = threads or _cores()
        # The engine of the last launch of each kernel, by its name, also of a launch that failed;
        # none for a kernel whose last launch was refused.
        self.notes: dict[str, EngineNote] = {}
        # Whether the last launch was refused because it cannot be compiled.
        self.has_refused = False

    @staticmethod
    def invalid_variable() -> tuple[str, str] | None:
        """Return an invalid environment variable and the expected values, or ``None``."""
        if (os.environ.get(ENGINE_VARIABLE) or AUTO) not in MODES:
            return ENGINE_VARIABLE, ", ".join(MODES)
        threads = os.environ.get(THREADS_VARIABLE) or "1"
        if not (threads.isascii() and threads.isdigit() and 0 < int(threads) <= MOST_THREADS):
            return THREADS_VARIABLE, f"a number from 1 to {MOST_THREADS}"
        if (os.environ.get(TARGET_VARIABLE) or NATIVE) not in TARGETS:
            return TARGET_VARIABLE, ", ".join(TARGETS)
        return None

    @classmethod
    def of_environment(cls, mode: str | None = None, threads: int | None = None) -> Engines:
        """Return the engines that ``CUDARUN_CPU_ENGINE`` and ``CUDARUN_CPU_THREADS`` select."""
        wanted = threads or int(os.environ.get(THREADS_VARIABLE) or 0)
        mode = mode or os.environ.get(ENGINE_VARIABLE)
        return cls(mode or AUTO, wanted or None, is_default=not mode)

    def run(
        self, launch: Launch, on_progress: Callable[[float], object], interpreter: Interpreter
    ) -> None:
        """Run a launch.

        Args:
            on_progress: Called from time to time with the completed part, from 0 to 1.

        Raises:
            NotCompiled: Only compiled code is permitted, and the kernel cannot be compiled.
        """
        self.has_refused = False
        self.notes.pop(launch.kernel.name, None)
        run = EngineRun(launch, on_progress, interpreter, self.threads, partial(self._note, launch))
        reason = "" if self.mode == INTERPRET else _unsuitable(launch)
        if self.mode == AUTO and launch.config.schedule is not None:
            reason = reason or "compiled code follows a schedule only if it is selected"
        if self.mode == AUTO and launch.observer.detectors and not reason:
            from cudarun.emulator.machine.effects import communicates  # few launches need it

            size_reason = "" if is_copied(launch) else MUCH_MEMORY
            reason = COMMUNICATES if communicates(launch) else size_reason
        if self.mode == COMPILE and not (reason and launch.observer.detectors):
            self._compile(run, reason)
        elif self.mode == INTERPRET or reason:  # detectors have findings with either engine
            run.interpret_whole(reason)
        else:
            self.tiers.of(launch).run(run)

    def _compile(self, run: EngineRun, reason: str) -> None:
        """Compile and run a launch."""
        launch = run.launch
        if not reason:
            from cudarun.emulator.compiled.engine import compilation_of  # slow to import

            with launch.compiling():
                compilation = compilation_of(launch)
                order = "" if launch.is_serial else compilation.visible_order
                reason = compilation.reason or (order if self.in_order else "")
                if not (reason or compilation.is_complete()):
                    run.on_progress(0.0)
                    compilation.complete()
            if compilation.is_unobservable:
                run.interpret_whole(reason)
                return
            if not reason and launch.observer.detectors:
                compilation.run_observed(run)
                return
            if not reason:
                run.note(COMPILE, order_reason(order))
                compilation.run(run)
                return
        self.has_refused = True
        raise NotCompiled(launch.kernel.name, reason)

    def _note(self, launch: Launch, engine: str, reason: str) -> None:
        name = launch.kernel.name
        self.notes[name] = EngineNote(name, engine, reason, self.is_default, _opaque(launch))


def _opaque(launch: Launch) -> tuple[str, ...]:
    """Return the opaque instructions of a kernel and of the functions that it refers to."""
    if not algebra.enabled:
        return ()
    from cudarun.emulator.decode.module import CallGraph  # few launches need it

    reached = CallGraph(launch.functions, set()).reached(launch.functions[launch.kernel.name])
    operations = (each for function in reached for each in function.operations)
    opaque = {each.name for each in operations if isinstance(each, Lanewise) and each.is_opaque}
    return tuple(sorted(opaque))


def _unsuitable(launch: Launch) -> str:
    """Return why a launch is interpreted, whatever the code of its kernel; empty if it is not."""
    if algebra.enabled:
        return "only the interpreter computes modulo a prime"
    if launch.config.schedule is not None and launch.observer is not NO_OBSERVER:
        return "detectors observe schedules in the interpreter"
    overlaps = launch.config.overlap is not None and launch.config.overlap.before is not None
    if launch.config.schedule is not None and overlaps:
        return "only the interpreter overlaps grids"
    if launch.observer is not NO_OBSERVER:
        if not launch.observer.detectors:
            return "statistics and proofs observe the interpreter"
        if launch.config.cooperative or launch.cluster_blocks > 1:
            return "detectors observe blocks that wait for one another in the interpreter"
        if overlaps:
            return "detectors observe overlapping grids in the interpreter"
        if launch.launches_grids:
            return "detectors observe kernels that launch kernels in the interpreter"
        from cudarun.emulator.compiled.state.layout import MOST_BLOCKS  # few launches need it

        if launch.blocks > MOST_BLOCKS:
            return "detectors observe as many blocks in the interpreter"
    if not _has_compiler():
        return "llvmlite is not installed (pip install 'cudarun[fast]')"
    return ""


@cache  # looking for a package takes as long as a part of a short launch
def _has_compiler() -> bool:
    return find_spec("llvmlite") is not None
