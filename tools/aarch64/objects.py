"""LLVM of this machine as a compiler for AArch64.

Under emulation LLVM takes fifteen times as long, and gives the same code: a module is compiled by a
process of the machine's own Python, with the version of LLVM that the emulated one has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from cudarun.emulator.compiled import jit

PYTHON = "CUDARUN_TOOLS_PYTHON"
"""The environment variable with the Python of the machine; without it LLVM is emulated."""


def use_machines_llvm() -> None:
    """Let this emulated process compile modules by the machine's LLVM, if a variable names it."""
    python = os.environ.get(PYTHON)
    if python is None:
        return
    _, processor, features = jit._host()

    def compiled(text: str, machine: Any) -> bytes:
        words = [machine.triple, processor, features]
        command = [python, "-m", "tools.aarch64.objects", *words]
        return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout

    jit._compiled = compiled


def main() -> None:
    """Compile the module in the standard input; arguments as of LLVM's target machine."""
    import llvmlite.binding as llvm

    triple, processor, features = sys.argv[1:]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=processor, features=features, opt=jit._LEVEL, jit=True
    )
    text = sys.stdin.read()
    sys.stdout.buffer.write(jit._compiled(text, machine))


if __name__ == "__main__":
    main()
