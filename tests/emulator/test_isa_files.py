"""Every ``isa/*.ptx`` is a test: its header comment says how to launch it and what it gives.

::

    // grid: 1                       blocks; 1 without the line
    // block: 32                     threads per block
    // cluster: 2                    blocks per cluster; 1 without the line
    // shared: 256                   bytes of dynamic shared memory
    // a: u4 = t * 2                 a parameter: a pointer to these values, of a numpy type
    // n: u4 := 7                    a parameter: this value itself
    // d: u4[32] -> t + 1            a parameter: a pointer to zeros, that then holds these values
    // a: -> t                       what an earlier parameter points to in the end
    // fault: 716 misaligned by 2    how it ends, instead of what it gives: number, part of the text
    // output: b"1\\n2\\n"             what it prints

Values are Python expressions over ``t``, the numbers of all threads, and the given parameters.
There is one kernel in a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device

FILES = sorted((Path(__file__).parent / "isa").glob("*.ptx"))
_LINE = re.compile(r"// (\w+): ?(\w+)?(?:\[(\d+)\])? ?(=|:=|->) (.*)")


@dataclass
class Launch:
    """What a header says."""

    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (32,)
    cluster: tuple[int, ...] = (1,)
    shared: int = 0
    fault: tuple[int, str] | None = None
    output: bytes | None = None
    values: dict[str, Any] = field(default_factory=dict)
    pointers: dict[str, np.dtype[Any]] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)


def header(text: str) -> Launch:
    launch = Launch()
    names: dict[str, Any] = {"np": np}
    for line in text.splitlines():
        if not line.startswith("// "):
            continue
        key, _, value = line[3:].partition(": ")
        if key in ("grid", "block", "cluster"):
            setattr(launch, key, tuple(map(int, value.split())))
        elif key == "shared":
            launch.shared = int(value)
        elif key == "fault":
            number, _, words = value.partition(" ")
            launch.fault = int(number), words
        elif key == "output":
            launch.output = eval(value)
        elif match := _LINE.match(line):
            count = int(np.prod(launch.grid) * np.prod(launch.block))
            names["t"] = np.arange(count)
            parameter(launch, names, *match.groups())
    return launch


def parameter(
    launch: Launch, names: dict[str, Any], name: str, dtype: str, count: str, sign: str, text: str
) -> None:
    if sign == "->":
        launch.expected[name] = text
        if dtype is None:
            return
        launch.values[name] = np.zeros(int(count), dtype)
        launch.pointers[name] = np.dtype(dtype)
    elif sign == "=":
        values = np.asarray(eval(text, names))
        launch.values[name] = names[name] = values.astype(dtype)
        launch.pointers[name] = np.dtype(dtype)
    else:
        launch.values[name] = names[name] = np.dtype(dtype).type(eval(text, names))


def arguments_on(device: Device, launch: Launch) -> dict[str, Any]:
    return {
        name: device.buffer(value) if name in launch.pointers else value
        for name, value in launch.values.items()
    }


def run(device: Device, launch: Launch, arguments: dict[str, Any]) -> None:
    """Launch the only kernel as the header says."""
    (kernel,) = device.program.kernels
    cluster = (*launch.cluster, 1, 1)[:3]
    device.launch(
        kernel,
        launch.grid,
        launch.block,
        *arguments.values(),
        dynamic_shared=launch.shared,
        cluster=cluster,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(path: Path) -> None:
    text = path.read_text()
    launch = header(text)
    device = Device(text)
    arguments = arguments_on(device, launch)
    if launch.fault is not None:
        with pytest.raises(DeviceFault) as caught:
            run(device, launch, arguments)
        assert caught.value.result == launch.fault[0]
        assert launch.fault[1] in caught.value.report
        return
    run(device, launch, arguments)
    names = {"np": np, "t": np.arange(int(np.prod(launch.grid) * np.prod(launch.block)))}
    for name, expression in launch.expected.items():
        dtype, count = launch.pointers[name], len(launch.values[name])
        got = device.read(arguments[name], dtype, count)
        expected = np.broadcast_to(np.asarray(eval(expression, names | launch.values)), count)
        assert list(got) == list(expected.astype(dtype)), name
    if launch.output is not None:
        assert device.output == launch.output
    assert launch.expected or launch.output is not None, "nothing is checked"


def test_there_are_files() -> None:
    assert FILES
