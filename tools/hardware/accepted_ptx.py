"""Which PTX the driver takes that compilers do not write, and with headers that are too old.

Texts with a known result are run, and must leave it. For each instruction that ptxas refuses with
an old ``.target`` or ``.version`` (``cudarun.emulator.isa.requirements``), a module with an old one
is loaded, and the verdict of the device must be that of the emulated one. The verdicts are kept as
``headers.json``: by instruction and header, the result and the log.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.emulator.isa.requirements import requirements
from tests.golden.isa.case import Case
from tests.golden.isa.kernel import HEAD, declarations
from tests.golden.isa.orders import forms
from tests.support.accepted_ptx import KERNEL, texts
from tools.hardware.bench import Bench, Check, check

DRIVERS = {"gpu": "cuda.bindings.driver", "cpu": "cudarun.emulator.driver"}
_OLDEST_TARGET, _OLDEST_VERSION = 50, (6, 0)
_LOG_BYTES = 1 << 16


def headers() -> Iterator[tuple[str, str]]:
    """Yield a name and a text for each requirement, with a header that is older than it."""
    seen: set[tuple[str, int, tuple[int, int]]] = set()
    for chapter in forms().values():
        for name, (case, _) in chapter.items():
            opcode, *words = name.split(".")
            target, version = requirements(opcode, tuple(words))
            if (opcode, target, version) in seen or case.target == "sm_90a":
                continue
            seen.add((opcode, target, version))
            if target > _OLDEST_TARGET:
                yield f"{name}, .target sm_50", _module(case, "9.0", "sm_50")
            if version > _OLDEST_VERSION:
                yield f"{name}, .version 6.0", _module(case, "6.0", "sm_70")


def _module(case: Case, version: str, target: str) -> str:
    head = HEAD.format(version=version, target=target)
    line = " ".join([*declarations(case), *case.text.split("\n")])
    return f"{head}{{ {line} }}\nret;\n}}\n"


def checks(bench: Bench) -> Iterator[Check]:
    """Ask the device in a process of its own, and the emulated one in another."""
    found = {}
    for kind in ("gpu", "cpu") if not bench.is_emulated else ("cpu",):
        done = bench.python("-m", __name__, kind, bench.ordinal, bench.out / f"{kind}.json")
        yield check(f"asked {kind}", done.exit_code == 0, done.text, done.seconds)
        if done.exit_code == 0:
            found[kind] = json.loads((bench.out / f"{kind}.json").read_text())
    asked = found.get("gpu") or found.get("cpu")
    if asked is None:
        return
    for name, (expected, got) in asked["results"].items():
        yield check(name, got == expected, f"{got}, expected {expected}")
    bench.keep("headers.json", json.dumps(asked["headers"], indent=1))
    for name, (result, log) in asked["headers"].items():
        emulated = found["cpu"]["headers"][name][0] if "cpu" in found else result
        yield check(name, result == emulated, f"{result}, emulated {emulated}: {log}")


class _Driver:
    """A driver with one context, which answers with names of results."""

    def __init__(self, kind: str, ordinal: int) -> None:
        self.driver = importlib.import_module(DRIVERS[kind])
        self.driver.cuInit(0)
        self.driver.cuCtxSetCurrent(self.driver.cuDevicePrimaryCtxRetain(ordinal)[1])

    def load(self, text: str, kernel: str) -> tuple[str, str, Any]:
        """Load a text; return the result, the first line of the log, and the kernel."""
        option, log = self.driver.CUjit_option, bytearray(_LOG_BYTES)
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        result, module = self.driver.cuModuleLoadDataEx(
            text.encode() + b"\0", 2, options, [log, _LOG_BYTES]
        )
        function = None
        if int(result) == 0:
            result, function = self.driver.cuModuleGetFunction(module, kernel.encode())
        line = log.split(b"\0")[0].decode().partition("\n")[0]
        return result.name, line, function

    def word(self, text: str) -> int | str:
        """Run the kernel of a text; return the word that it leaves, or the error."""
        import ctypes

        result, line, function = self.load(text, KERNEL)
        if function is None:
            return f"{result}: {line}"
        out = np.zeros(16, np.uint32)
        _, buffer = self.driver.cuMemAlloc(out.nbytes)
        self.driver.cuMemcpyHtoD(buffer, out, out.nbytes)
        values = ((int(buffer),), (ctypes.c_uint64,))
        self.driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, values, 0)
        ended = self.driver.cuCtxSynchronize()[0]
        self.driver.cuMemcpyDtoH(out, buffer, out.nbytes)
        return int(out[0]) if int(ended) == 0 else str(ended.name)


def ask(kind: str, ordinal: int, path: Path) -> None:
    """Write the answers of a device to a file."""
    driver = _Driver(kind, ordinal)
    found = {
        "results": {each.name: (each.result, driver.word(each.text)) for each in texts()},
        "headers": {name: driver.load(text, "cases")[:2] for name, text in headers()},
    }
    path.write_text(json.dumps(found))


if __name__ == "__main__":
    ask(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
