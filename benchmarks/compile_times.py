"""Time the compilation of the kernels of a PTX file, the largest first.

``python benchmarks/compile_times.py FILE.ptx… [--largest N] [--kernel PATTERN]``. Needs llvmlite,
no GPU. The figures are processor time of this thread. *prepare* makes the text of the LLVM module
from the decoded kernel, in the process that launches; *LLVM* turns it to machine code, in another
process. *First* is LLVM's time for the code that a kernel has first with ``auto``, in the process
that launches, where the cache has the functions that kernels share.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cudarun.emulator.compiled.jit import object_files
from cudarun.emulator.compiled.kernels import KernelModule
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.parts import PART
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.program import ModuleCode
from cudarun.ptx.parser import parse

T = TypeVar("T")


def seconds(action: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of this thread for an action, and its result."""
    started = time.thread_time()
    result = action()
    return time.thread_time() - started, result


def show(program: ModuleCode, name: str) -> None:
    """Print the line of a kernel."""
    function = program.code[name]
    try:
        prepare, module = seconds(lambda: KernelModule(function, program))
    except Untraceable as reason:
        print(f"{'':>10}  {name[:60]}: interpreted: {reason}", flush=True)
        return
    compiled = module.code.function
    operations = sum(len(block.operations) for block in compiled.blocks)
    text = module.text.text()
    llvm, _ = seconds(lambda: object_files(text))
    own, *_ = KernelModule(function, program, is_quick=True).text.text().split(PART)
    first, _ = seconds(lambda: object_files(own))
    cells = (f"{operations:>10,}", f"{len(compiled.blocks):>7,}", f"{prepare:>9.2f}",
             f"{llvm:>8.2f}", f"{first:>8.3f}", f"{len(text) / 1e6:>8.2f}")  # fmt: skip
    print(f"{''.join(cells)}  {name[:60]}", flush=True)


def main() -> int:
    """Print a line for each of the largest kernels."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="+")
    parser.add_argument("--largest", type=int, default=3, metavar="N")
    parser.add_argument("--kernel", type=re.compile, default=re.compile(""), metavar="PATTERN")
    options = parser.parse_args()
    os.environ["CUDARUN_CACHE"] = "off"
    print(
        f"{'operations':>10}{'blocks':>7}{'prepare s':>9}{'LLVM s':>8}{'first s':>8}"
        f"{'text MB':>8}  kernel"
    )
    for path in options.file:
        program = compile_module(parse(path.read_text()))
        names = [name for name in program.kernels if options.kernel.search(name)]
        sizes = {
            name: sum(len(block.operations) for block in program.code[name].blocks)
            for name in names
        }
        for name in sorted(names, key=lambda name: -sizes[name])[: options.largest]:
            show(program, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
