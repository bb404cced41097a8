"""Kernels compiled with debug information, whose lanes tests look at before an instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from cuda.bindings import nvrtc

from cudarun.arguments.expressions.parser import parse_expression
from cudarun.debugger.expressions import LaneEvaluator
from cudarun.debugger.values import CppValue
from cudarun.debugger.variables import VariableScope
from cudarun.emulator.code import BlockCode
from cudarun.emulator.debugging.lane_access import LaneAccess
from cudarun.emulator.debugging.thread_states import ThreadStates
from cudarun.emulator.detectors.instrumentation import entries_of
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.frame import Code, Entry, Frame
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.observer import Observer
from cudarun.images.debug_variables import DebugVariables


@lru_cache(maxsize=8)
def compiled_with_debug_information(source: str, architecture: str) -> str:
    """The PTX of CUDA source by NVRTC with ``-G``."""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    options = [b"-G", b"-default-device", f"-arch={architecture}".encode()]
    [result] = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = bytes(size)  # a new object: NVRTC writes into it
    nvrtc.nvrtcGetPTX(program, text)
    return text.rstrip(b"\0").decode()


class Stopped:
    """Lanes that are about to execute an instruction."""

    def __init__(self, scope: Callable[[LaneAccess], VariableScope], access: LaneAccess) -> None:
        self.scope = scope
        self.access = access
        self.variables = scope(access)

    def of(self, lane: int) -> Stopped:
        """One of the lanes."""
        access = self.access
        states = ThreadStates(access.batch, None)
        return Stopped(self.scope, states.access(access.frame, access.members[[lane]]))

    def evaluator(self, text: str) -> LaneEvaluator:
        """The evaluator of an expression."""
        return LaneEvaluator(parse_expression(text), {}, self.variables, self.access.lanes)

    def text(self, text: str) -> str:
        """The value of an expression of one lane."""
        found = self.evaluator(text).result()
        return found.text() if isinstance(found, CppValue) else str(found)


class Stops(Observer):
    """Calls a function before lanes execute an instruction on a line of the PTX."""

    def __init__(self, text: str, line: int, stopped: Callable[[Stopped], None]) -> None:
        self.variables = DebugVariables(text)
        self.line = line
        self.stopped = stopped

    def launched(self, launch: Launch) -> None:
        for function in launch.functions.values():
            for block in function.blocks:  # debug information has registers that nothing reads
                block.live_in = block.live_out = (1 << len(function.slots)) - 1

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        rest = iter(code.entries)
        entries: list[Entry] = []
        for operation in block.operations:
            if operation.site.line == self.line:
                entries.append((self._stop, (frame,)))
            entries += [next(rest) for _ in range(entries_of(operation))]
        site = block.terminator.site
        if site is not None and site.line == self.line:
            entries.append((self._stop, (frame,)))
        return replace(code, entries=entries)

    def _stop(self, frame: Frame) -> None:
        active = frame.batch.active
        assert active is not None
        states = ThreadStates(frame.batch, None)
        access = states.access(frame, lane_sets.indices(active.lanes))
        name = frame.function.name
        self.stopped(Stopped(partial(VariableScope, self.variables, name, self.line), access))
