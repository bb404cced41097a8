"""Where the CUDA compiler puts the members of structs, against where we put them.

::

    python -m tools.record_layouts --nvrtc PATH     # write tests/data/layout from NVRTC 12.0
    python -m tools.record_layouts --device 0       # run its kernel there, compare with the same

500 random structs of scalars, vectors, arrays, pointers and structs are written as CUDA C++ and in
our grammar. The kernel copies a table of what ``sizeof``, ``alignof`` and ``offsetof`` say of each.
Its PTX is kept, and so is the table, as the constants that the compiler put into the PTX;
``tests/arguments/test_layout.py`` compares our layout with it. Exit status 1 where a device's table
is another.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.support.processes import PYTHON_PATH

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "data" / "layout"
STRUCTS = 500
SEED = 20_26
TABLE = "table"

# In our grammar and in CUDA C++, which needs no header for these.
SCALARS = {
    "i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short",
    "i32": "int", "u32": "unsigned int", "i64": "long long", "u64": "unsigned long long",
    "f32": "float", "f64": "double", "bool": "bool",
}  # fmt: skip
VECTORS = [
    f"{base}{count}"
    for base in (
        *("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"),
        *("longlong", "ulonglong", "float", "double"),
    )
    for count in (1, 2, 3, 4)
]


@dataclass(frozen=True)
class Member:
    """A member of a struct.

    In our grammar: its ``value`` with the types in it, ``f32:1``; its ``type`` and, without that,
    its ``literal``. There is no type where there is a pointer. ``declaration`` is C++.
    """

    name: str
    value: str
    type: str | None
    literal: str
    declaration: str


@dataclass
class Struct:
    """A struct in both languages; ``paths`` are its members, inner ones after their struct."""

    name: str
    members: list[Member] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def value(self) -> str:
        """A value of it in our grammar."""
        return f"{{{', '.join(f'{m.name}={m.value}' for m in self.members)}}}"

    @property
    def type(self) -> str | None:
        """Its type in our grammar; ``None`` where there is a pointer in it."""
        if any(member.type is None for member in self.members):
            return None
        return f"{{{', '.join(f'{m.name}={m.type}' for m in self.members)}}}"

    @property
    def literal(self) -> str:
        """A value of it where its type is known already; all of it where it is not."""
        if self.type is None:
            return self.value
        return f"{{{', '.join(member.literal for member in self.members)}}}"

    @property
    def source(self) -> str:
        """In C++."""
        return f"struct {self.name} {{ {' '.join(m.declaration for m in self.members)} }};"


class Generator:
    """Makes random structs; ``everything`` has them in an order in which C++ can declare them."""

    def __init__(self) -> None:
        self.rng = random.Random(SEED)
        self.everything: list[Struct] = []

    def struct(self, depth: int) -> Struct:
        """A struct that holds others up to ``depth`` levels below it."""
        struct = Struct("")
        for index in range(self.rng.randint(1, 7)):
            name = f"m{index}"
            struct.paths.append(name)
            member, paths = self.member(name, depth)
            struct.members.append(member)
            struct.paths += [f"{name}.{path}" for path in paths]
        struct.name = f"S{len(self.everything)}"
        self.everything.append(struct)
        return struct

    def member(self, name: str, depth: int) -> tuple[Member, list[str]]:
        """A member, and the paths within it."""
        kinds = ["scalar", "vector", "pointer", "struct"]
        [kind] = self.rng.choices(kinds, [5, 4, 1, 2 if depth else 0])
        array = self.rng.randint(2, 5) if self.rng.random() < 0.25 else 1
        dimension = f"[{array}]" if array > 1 else ""
        paths: list[str] = []
        if kind == "pointer":
            return Member(name, "null", None, "null", f"void* {name};"), paths
        if kind == "struct":
            inner = self.struct(depth - 1)
            text, literal, cpp = inner.type, inner.literal, inner.name
            if text is None or array == 1:  # our grammar has no arrays of the former
                return Member(name, inner.value, text, literal, f"{cpp} {name};"), inner.paths
        elif kind == "vector":
            text = cpp = self.rng.choice(VECTORS)
            literal = ",".join(["1"] * int(text[-1]))
        else:
            text = self.rng.choice([*SCALARS])
            literal, cpp = "true" if text == "bool" else "1", SCALARS[text]
        repeat = f"*{array}" if array > 1 else ""
        literals = ", ".join([literal] * array)
        whole = f"{text}{repeat}"
        declaration = f"{cpp} {name}{dimension};"
        return Member(name, f"{whole}:{literals}", whole, literals, declaration), paths


def cuda_source(wanted: list[Struct], everything: list[Struct]) -> str:
    """The kernel and its table: for each struct its size, its alignment, and every offset."""
    numbers = []
    for struct in wanted:
        numbers += [f"sizeof({struct.name})", f"__alignof__({struct.name})"]
        numbers += [f"OFFSET({struct.name}, {path})" for path in struct.paths]
    lines = [
        "// NVRTC has no offsetof.",
        "#define OFFSET(type, member) (unsigned int)(unsigned long)&((type*)0)->member",
        *(struct.source for struct in everything),
        f'extern "C" {{ __device__ unsigned int {TABLE}[] = {{',
        *(f"    {number}," for number in numbers),
        "}; }",
        'extern "C" __global__ void layout(unsigned int* out, int n) {',
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
        f"    if (i < n) out[i] = {TABLE}[i];",
        "}",
    ]
    return "\n".join(lines) + "\n"


def table_of(ptx: str) -> list[int]:
    """The numbers that the compiler worked out, from the table's definition in the PTX."""
    found = re.search(rf"\.b8 {TABLE}\[(\d+)\] = \{{([^}}]*)\}}", ptx)
    if found is None:
        raise ValueError("the PTX has no table of bytes")
    data = bytes(map(int, found[2].split(","))).ljust(int(found[1]), b"\0")
    return np.frombuffer(data, "<u4").tolist()


def write(nvrtc: str) -> None:
    """Compile the kernel and keep it, and what it says of each struct."""
    sys.path.insert(0, os.fspath(ROOT / "samples"))
    from build import Nvrtc, find_nvrtc

    generator = Generator()
    wanted = [generator.struct(2) for _ in range(STRUCTS)]
    path = find_nvrtc(nvrtc)
    assert path is not None, "a path was given"
    ptx = Nvrtc(path).ptx(cuda_source(wanted, generator.everything), "layout.cu")
    numbers = iter(table_of(ptx))
    golden = [
        {
            "value": struct.value,
            "size": next(numbers),
            "alignment": next(numbers),
            "offsets": {path: next(numbers) for path in struct.paths},
        }
        for struct in wanted
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "layout.ptx").write_text(ptx)
    text = ",\n".join(json.dumps(each) for each in golden)
    (FOLDER / "layout.json").write_text(f"[\n{text}\n]\n")
    print(f"wrote {len(golden)} structs to {FOLDER.relative_to(ROOT)}")


def golden_numbers() -> list[int]:
    """The table as it is kept."""
    golden = json.loads((FOLDER / "layout.json").read_text())
    return [
        number
        for struct in golden
        for number in (struct["size"], struct["alignment"], *struct["offsets"].values())
    ]


def run(device: str) -> bool:
    """Run the kernel on a device; whether its table is the one that is kept."""
    expected = golden_numbers()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.npy"
        np.save(table, np.array(expected, np.uint32))
        command = [
            sys.executable, "-m", "cudarun", "launch", os.fspath(FOLDER / "layout.ptx"),
            "-d", device, "--threads", str(len(expected)), "out=u32[n]", f"n=i32:{len(expected)}",
            "--check", f'out == load("{table}")',
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": PYTHON_PATH})
    print(f"{len(expected)} numbers of {STRUCTS} structs on device {device}: "
          f"{'the same' if done.returncode == 0 else 'NOT the same'}")  # fmt: skip
    return done.returncode == 0


def main() -> int:
    """Write the golden data, or compare a device with it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nvrtc", metavar="PATH", help="libnvrtc.so.12, or the folder it is in")
    parser.add_argument("--device", help="as for cudarun -d")
    options = parser.parse_args()
    if options.nvrtc is not None:
        write(options.nvrtc)
    if options.device is not None:
        return 0 if run(options.device) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
