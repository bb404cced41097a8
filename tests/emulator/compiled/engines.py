"""Launches on both engines, whose memory and faults must be equal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.report import describe_thread_states
from cudarun.emulator.tiers import Tiers
from tests.emulator.device import Device
from tests.support.tiers import eager

Array = npt.NDArray[Any]

_MOST_REPORTS = 200


def device(
    text: str, mode: str, *, in_order: bool = True, tiers: Tiers | None = None
) -> tuple[Device, Engines]:
    """A device that executes its launches with one engine; ``auto`` is eager by default."""
    engines = Engines(mode, in_order=in_order, tiers=tiers or eager())
    return Device(text, execute=partial(execute, engines=engines)), engines


def launched(
    text: str,
    mode: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    *given: Any,
    in_order: bool = True,
    **options: Any,
) -> tuple[list[bytes], str, Device]:
    """The buffers after a launch of the only kernel, its fault, and the device."""
    made, _ = device(text, mode, in_order=in_order)
    places = [made.buffer(each) if isinstance(each, np.ndarray) else each for each in given]
    fault = ""
    try:
        made.launch(next(iter(made.program.kernels)), grid, block, *places, **options)
    except DeviceFault as found:
        fault = found.report
    buffers = [
        made.read(place, np.uint8, each.nbytes).tobytes()
        for place, each in zip(places, given, strict=True)
        if isinstance(each, np.ndarray)
    ]
    return buffers, fault, made


def check_equal(
    text: str, grid: tuple[int, ...], block: tuple[int, ...], *given: Any, **options: Any
) -> list[bytes]:
    """Launch on both engines; return the buffers, which must be equal."""
    wanted, fault, interpreted = launched(text, INTERPRET, grid, block, *given, **options)
    found, same, compiled = launched(text, COMPILE, grid, block, *given, **options)
    assert fault == "" == same
    assert found == wanted
    assert compiled.output == interpreted.output
    return found


def check_equal_fault(
    text: str, grid: tuple[int, ...], block: tuple[int, ...], *given: Any, **options: Any
) -> str:
    """Launch on both engines; return the fault, which must be equal."""
    _, fault, _ = launched(text, INTERPRET, grid, block, *given, **options)
    _, same, _ = launched(text, COMPILE, grid, block, *given, **options)
    assert fault
    assert same == fault
    return fault


def interrupted_states(
    text: str, grid: tuple[int, ...], block: tuple[int, ...], shown: str = "", **options: Any
) -> str:
    """Interrupt the compiled kernel of a text, which never ends; return the states of its threads.

    The only parameter is a buffer of a word for each thread of a block. ``shown`` is what the
    states have when all threads do what they do for ever; ``options`` are those of the launch.
    """
    made, _ = device(text, COMPILE)
    launches: list[Launch] = []
    reports: list[str] = []

    def report(done: float) -> None:
        reports.append(describe_thread_states(launches[0]).text)
        if len(reports) >= 3 and (shown in reports[-1] or len(reports) == _MOST_REPORTS):
            raise KeyboardInterrupt

    real = made.execute
    made.execute = lambda *given, **named: real(
        *given, **{**named, "on_progress": report, "begun": launches.append}
    )
    out = made.buffer(np.zeros(block, "u4"))
    with pytest.raises(KeyboardInterrupt):
        made.launch(next(iter(made.program.kernels)), grid, block, out, **options)
    return reports[-1]
