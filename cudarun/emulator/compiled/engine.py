"""The compiled engine: the machine code of kernels, each compiled once, and its launches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from cudarun.emulator.compiled.background import CompilerProcess
from cudarun.emulator.compiled.cores import BlockThreads
from cudarun.emulator.compiled.jit import interruptible_object_files, soon_object_files
from cudarun.emulator.compiled.kernels import CompiledKernel, KernelModule
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.observation import Suspicion, Unobservable
from cudarun.emulator.engine_run import COMPILE, SUSPECTED, EngineRun
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.heap import snapshot
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.system import print_to_stderr

_MOST_KERNELS = 64  # of which the machine code is kept
_MOST_BYTES = 1 << 18  # copied in some microseconds
_MOST_BYTES_OF_ASSERTIONS = 64 << 20
_MOST_TEXT = 1 << 18  # of code that is compiled in 0.1 s, without optimizations
_MOST_WORK = 1 << 30  # of the interpreter


class Repetition:
    """A launch that can be repeated by the interpreter, so that the report is the interpreter's.

    Compiled code runs warp after warp and reports the first fault of the first warp that has one.
    The interpreter runs an instruction for many blocks before the next one: the fault that comes
    first there may be that of another warp. Where memory is small, it is copied before a launch and
    restored after a fault. The interpreter's work is limited, since other blocks may never end.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch  # the launch, before it runs
        self._restore = snapshot(launch.memories, launch.config.heap)
        self._withheld = ""

    @classmethod
    def of(cls, launch: Launch, *, has_assertions: bool) -> Repetition | None:
        """Return the repetition of a launch; ``None`` if copying its memory takes long.

        Args:
            launch: The launch, before it runs.
            has_assertions: Whether its kernel has assertions.
        """
        most = _MOST_BYTES_OF_ASSERTIONS if has_assertions else _MOST_BYTES
        used = sum(memory.used for memory in launch.memories)
        return cls(launch) if used <= most else None

    def withhold(self, text: str) -> None:
        """Keep what the launch would print on stderr before its fault."""
        self._withheld += text

    def run(self, interpret: Callable[[], object]) -> str:
        """Restore the memory, and interpret the launch.

        Returns:
            What the launch has to print, if the interpreter did not get as far as the fault.

        Raises:
            DeviceFault: As the interpreter reports it.
        """
        launch = self._launch
        self._restore()
        launch.begin_again()
        launch.hands_over = lambda _: launch.work > _MOST_WORK
        interpret()
        return self._withheld


class KernelCompilation:
    """The compilation of a kernel: soon to code that runs, then to code that runs faster.

    Args:
        module: Returns its LLVM module, for one of both.
        is_quick: Whether it is first compiled in a short time.
    """

    def __init__(self, module: Callable[..., KernelModule], *, is_quick: bool) -> None:
        self.reason = ""  # why it cannot be compiled; empty if it can
        self.is_unobservable = False  # whether only the detectors are the reason
        self.visible_order = ""  # what can see the order of the warps; empty if nothing can
        # The compiled kernel; ``None`` until it has been loaded.
        self.kernel: CompiledKernel | None = None
        self._process: CompilerProcess | None = None
        self._lock = threading.Lock()  # launches on several devices run at the same time
        try:
            self._make = module
            self._module = module(is_quick=is_quick)
            self.visible_order = self._module.visible_order
        except Untraceable as reason:
            self.reason = str(reason)
            self.is_unobservable = isinstance(reason, Unobservable)

    def is_complete(self) -> bool:
        """Return whether the kernel is loaded, and no code runs faster."""
        return self.kernel is not None and not self.kernel.is_quick

    def complete(self) -> None:
        """Compile and load the code that runs fastest, unless this has been done."""
        with self._lock:
            if self.is_complete():  # a launch on another device has waited for it, too
                return
            module = self._make(is_quick=False) if self._module.is_quick else self._module
            objects = interruptible_object_files(module.text.text())
            self.kernel = CompiledKernel(module, objects)
            self._module, self._process = module, None  # which can compile the other one

    def begin(self) -> None:
        """Load the kernel if this takes a short time, or begin to compile in another process."""
        text = self._module.text.text()
        objects = soon_object_files(text, _MOST_TEXT if self._module.is_quick else 0)
        if objects is not None:
            self.kernel = CompiledKernel(self._module, objects)
            return
        try:
            self._process = CompilerProcess(text)
        except OSError as problem:
            if self.kernel is None:
                self.reason = f"the compiler cannot be started: {problem}"

    def improve(self) -> None:
        """Begin to compile a loaded kernel to code that runs faster, unless this has been done."""
        with self._lock:
            if self._module.is_quick:
                self._module = self._make(is_quick=False)
                self.begin()

    def wait(self) -> None:
        """Wait until the other process has compiled the kernel."""
        process = self._process
        if process is not None:
            process.wait()

    def is_loaded(self) -> bool:
        """Return whether the kernel can be launched; load what has been compiled."""
        with self._lock:
            process = self._process
            if process is not None and process.has_ended():
                self._process = None
                objects = process.result()
                if objects is not None:
                    self.kernel = CompiledKernel(self._module, objects)
                elif self.kernel is None:
                    self.reason = "LLVM failed to compile it"
        return self.kernel is not None

    def _has_compiled(self) -> bool:
        process = self._process
        return process is not None and process.has_ended()

    def run_observed(self, run: EngineRun) -> bool:
        """Run a launch with detectors; interpret it if they may have findings, or after a fault.

        Returns:
            Whether compiled code has run it, and there are no findings.
        """
        assert self.kernel is not None
        launch = run.launch
        run.note(COMPILE, "")
        restore = snapshot(launch.memories, launch.config.heap, keeps_copies=True)
        observer, launch.observer = launch.observer, NO_OBSERVER
        is_silent = False
        try:
            BlockThreads(self.kernel, launch, run.on_progress, 0, 1).run()
            is_silent = True
        except (DeviceFault, Suspicion):
            pass
        finally:
            launch.observer = observer
            restore(restores=not is_silent)
        if is_silent:
            return True
        launch.begin_again()
        run.interpret_whole(SUSPECTED)
        return False

    def run(self, run: EngineRun, first: int = 0) -> None:
        """Run the blocks of a launch from the one with the number ``first`` on.

        Raises:
            DeviceFault: A thread caused a fault, or there is a deadlock.
        """
        assert self.kernel is not None
        launch = run.launch
        if not first and launch.config.schedule is None:
            launch.repetition = Repetition.of(launch, has_assertions=self.kernel.has_assertions)
        jumps: list[int] = []
        try:
            while first < launch.blocks and self.is_loaded():
                given = self.kernel, launch, run.on_progress, first, run.threads
                first, jumps = BlockThreads(*given, self._has_compiled, jumps).run()
        except DeviceFault:
            if launch.repetition is not None:
                print_to_stderr(launch.repetition.run(run.interpret))
            raise


_compilations: dict[
    tuple[int, frozenset[str], bool | None], tuple[object, KernelCompilation]
] = {}  # the last one used is the last


def compilation_of(launch: Launch, *, is_quick: bool = False) -> KernelCompilation:
    """Return the compilation of the kernel of a launch; it need not have begun.

    Args:
        is_quick: Whether a new one is first compiled in a short time.
    """
    function, detect = launch.kernel_function, launch.observer.detectors or frozenset()
    schedule = launch.config.schedule
    interleaves = None if schedule is None else schedule.interleaves
    key = id(function), detect, interleaves
    known = _compilations.pop(key, None)
    if known is None or known[0] is not function:
        variant = partial(KernelModule, detect=detect, interleaves=interleaves)
        variant = partial(variant, function, launch.program)
        known = function, KernelCompilation(variant, is_quick=is_quick)
    _compilations[key] = known
    if len(_compilations) > _MOST_KERNELS:
        del _compilations[next(iter(_compilations))]
    return known[1]
