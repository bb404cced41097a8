"""Write ``native/runtime.ll`` of the compiled engine: its functions in C as LLVM's assembly.

``pip install ziglang==0.15.1``: its clang writes assembly that all supported versions of llvmlite
read. Nothing in the result depends on the processor.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cudarun.emulator.compiled.native.functions import KernelConstants
from cudarun.emulator.compiled.products.shapes import MatrixProduct
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import WarpState
from cudarun.emulator.machine import barrier_objects as objects
from cudarun.emulator.machine.barriers import BARRIERS_PER_BLOCK
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.sparsity import UNITS
from cudarun.emulator.machine.tensor_maps.boxes import CHUNK
from cudarun.emulator.machine.tensor_maps.copies import SHARED_ALIGNMENT
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.memory import READ_UNWRITTEN, UNDEFINED_BYTE
from cudarun.emulator.numerics.products import LEAST_SUM, NOTHING
from cudarun.emulator.numerics.types import TYPES

FOLDER = Path(layout.__file__).parent.parent / "native"
TARGET = FOLDER / "runtime.ll"

_COMMAND = [
    *(sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-freestanding-none"),
    *("-std=c17", "-O1", "-g0", "-S", "-emit-llvm", "-Wall", "-Wextra", "-Wno-psabi"),
    *("-Wno-unused-command-line-argument", "-fno-stack-protector", "-fno-sanitize=undefined"),
    *(
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-fno-unroll-loops",
        "-fno-vectorize",
        "-fno-slp-vectorize",
    ),
]
_ENTRY = "run"  # which Python calls
_OTHERS = {
    "WARP": WARP,
    "WARPS_OF_GROUP": WARPGROUP // WARP,
    "UNDEFINED_BYTE": UNDEFINED_BYTE,
    "READ_UNWRITTEN": READ_UNWRITTEN,
    "BARRIERS_PER_BLOCK": BARRIERS_PER_BLOCK,
    "CHUNK": CHUNK,
    "UNITS_OF_CHUNK": UNITS,
    "NO_EXPONENT": NOTHING,
    "LEAST_SUM": LEAST_SUM,
    "SHARED_ALIGNMENT": SHARED_ALIGNMENT,
    "RANK_SHIFT": RANK_SHIFT,
    "RANK_OFFSET": (1 << RANK_SHIFT) - 1,
    "RANK_BITS": (1 << 32) - (1 << RANK_SHIFT),
    "OBJECT_COUNT": objects.COUNT,
    "OBJECT_PENDING": objects.PENDING,
    "OBJECT_BYTES": objects.BYTES,
    "OBJECT_ALL_BYTES": objects.ALL_BYTES,
    "OBJECT_NO_BYTES": objects.NO_BYTES,
    "OBJECT_PHASE": objects.PHASE,
}


def header() -> str:
    """Return ``layout.h``: the layout of memory that Python defines."""
    numbers = {**vars(layout), **vars(WarpState), **_OTHERS}
    lines = [
        f"#define {name} {value}{'ull' if value >> 31 > 0 else ''}"
        for name, value in numbers.items()
        if name.isupper() and not name.startswith("_") and isinstance(value, int)
    ]
    kernel = "".join(f" unsigned {name};" for name in KernelConstants(WarpState(0)).numbers())
    product = "".join(
        f" {'int' if name.startswith(('least', 'kept')) else 'unsigned'} {name};"
        for name in MatrixProduct(1, 1, 1, 1, dict.fromkeys("dabc", TYPES["f32"]), {}).numbers()
    )
    structs = f"struct kernel {{{kernel} }};", f"struct product {{{product} }};"
    return "\n".join([*lines, *structs]) + "\n"


def digest() -> str:
    """Return the digest of everything that determines the assembly but for the compiler."""
    sources = [path.read_text() for path in sorted(FOLDER.glob("*.[ch]"))]
    return hashlib.sha256("\0".join([header(), *sources]).encode()).hexdigest()


def assembly() -> str:
    """Return the functions, internal ones of the module that they will be part of."""
    definitions, declarations = [], set()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "layout.h").write_text(header())
        for source in sorted(FOLDER.glob("*.c")):
            target = Path(folder, "target.ll")
            subprocess.run([*_COMMAND, "-I", folder, str(source), "-o", str(target)], check=True)
            found, declared = _functions(target.read_text())
            definitions += found
            declarations |= declared
    names = {_name(each) for each in definitions}
    others = sorted(each for each in declarations if _name(each) not in {*names, "step"})
    head = f"; Written by `python -m tools.generate_runtime` from {digest()}"
    return "\n\n".join([head, *others, *definitions]) + "\n"


def _name(text: str) -> str:
    return text.partition("@")[2].partition("(")[0]


def _functions(text: str) -> tuple[list[str], set[str]]:
    """Return the definitions and the declarations, without what depends on the target."""
    groups = dict(re.findall(r"^attributes (#\d+) = \{ (.*) \}$", text, re.MULTILINE))
    nodes = dict(re.findall(r"^(!\d+) = (!\{.*\})$", text, re.MULTILINE))

    def attributes(match: re.Match[str]) -> str:
        kept = [each for each in groups[match["group"]].split() if each in ("noinline", "cold")]
        return f") {' '.join([*sorted(kept, reverse=True), '#0'])} {{"

    text = re.sub(r"^;.*\n|, !llvm\.loop !\d+|\s*; preds = .*", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=!prof )!\d+", lambda match: nodes[match[0]], text)
    text = re.sub(
        r"\b(noundef|nocapture|readonly|writeonly|readnone) |dso_local | immarg", "", text
    )
    text = re.sub(r" (noundef|nocapture|readonly|writeonly|readnone)(?=[,)])", "", text)
    text = re.sub(r"\)( local_unnamed_addr)? (?P<group>#\d+) \{$", attributes, text, flags=re.M)
    text = re.sub(r"\) (?:local_unnamed_addr )?#\d+$", ")", text, flags=re.MULTILINE)
    text = re.sub(r"^define (?!.*@run\()", "define internal ", text, flags=re.MULTILINE)
    declarations = set(re.findall(r"^declare .*$", text, re.MULTILINE))
    definitions = re.findall(r"^define .*?^}$", text, re.MULTILINE | re.DOTALL)
    return [each.replace("\n\n", "\n") for each in definitions], declarations


if __name__ == "__main__":
    TARGET.write_text(assembly())
