"""Hold what we read from cubins against what NVIDIA's cuobjdump says of the same files. No GPU.

::

    python -m tools.compare_cuobjdump --cuobjdump PATH FILE…

Of a fatbin, object, library or executable every cubin inside is compared. For each kernel:
registers, stack frame, static shared memory, constant memory, and offset and size of each
parameter. cuobjdump comes with the CUDA toolkit, and in Triton's wheel (``backends/nvidia/bin``).

Exit status: 0 when all agree, 1 otherwise.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cudarun.images.facts import KernelFacts
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import image_entries, read_image

Facts = dict[str, object]

_FUNCTION = re.compile(r"^ Function (.+):$")
_USAGE = re.compile(r"(REG|STACK|SHARED|CONSTANT\[3\]):(\d+)")
_INFO_SECTION = re.compile(r"^\.nv\.info\.(\S+)")
_SECTION = re.compile(r"^\.[\w.$]+")
_PARAMETER = re.compile(r"Ordinal : 0x(\w+)\s+Offset  : 0x(\w+)\s+Size    : 0x(\w+)")
_RESERVED_SHARED = 1024  # which cuobjdump counts in linked code for sm_90 and later


def cubins(path: Path) -> Iterator[tuple[str, bytes]]:
    """The cubins in a file, with names for messages."""
    data = path.read_bytes()
    if identify(data) is ImageKind.CUBIN:
        yield path.name, data
        return
    for number, entry in enumerate(image_entries(data, path.name), start=1):
        if entry.kind is ImageKind.CUBIN:
            yield f"{path.name}:{number} {entry.target}", entry.content(path.name)


def ours(kernel: KernelFacts) -> Facts:
    """What we read, in the terms that are compared."""
    return {
        "registers": kernel.registers,
        "stack": kernel.local_bytes,
        "shared": kernel.shared_bytes,
        "constant": kernel.const_bytes,
        "parameters": [(p.offset, p.size) for p in kernel.parameters],
    }


def theirs(cuobjdump: str, cubin: Path) -> dict[str, Facts]:
    """What cuobjdump says of each function."""
    found: dict[str, Facts] = {}
    constant, name = 0, ""
    for line in _output(cuobjdump, "-res-usage", cubin):
        numbers = {key: int(value) for key, value in _USAGE.findall(line)}
        if match := _FUNCTION.match(line):
            name = match[1]
        elif "REG" in numbers:
            found[name] = {
                "registers": numbers["REG"],
                "stack": numbers["STACK"],
                "shared": numbers["SHARED"],
                "parameters": [],
            }
        elif "CONSTANT[3]" in numbers:
            constant = numbers["CONSTANT[3]"]
    for facts in found.values():
        facts["constant"] = constant
    for kernel, layout in _parameters(cuobjdump, cubin).items():
        found[kernel]["parameters"] = sorted(layout)
    return found


def _parameters(cuobjdump: str, cubin: Path) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    name: str | None = None
    for line in _output(cuobjdump, "-elf", cubin):
        if match := _INFO_SECTION.match(line):
            name = match[1]
        elif _SECTION.match(line):
            name = None
        elif name is not None and (match := _PARAMETER.search(line)):
            found.setdefault(name, []).append((int(match[2], 16), int(match[3], 16)))
    return found


def _output(cuobjdump: str, option: str, cubin: Path) -> list[str]:
    command = [cuobjdump, option, str(cubin)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def compare(name: str, data: bytes, cuobjdump: str, folder: Path) -> tuple[int, list[str]]:
    """How many kernels there are, and where the two differ."""
    path = folder / "one.cubin"
    path.write_bytes(data)
    facts, told = read_image(data, name), theirs(cuobjdump, path)
    is_linked = not facts.is_relocatable
    architecture = int(re.sub(r"\D", "", facts.targets[0]))
    differences = []
    for kernel in facts.kernels:
        read, said = ours(kernel), told.get(kernel.name)
        if said is None:
            differences.append(f"{name}: {kernel.name}: cuobjdump does not have it")
            continue
        if is_linked and architecture >= 90 and said["shared"]:
            said["shared"] = int(str(said["shared"])) - _RESERVED_SHARED
        if not is_linked:
            del read["stack"]  # of which cuobjdump knows nothing before the link
        differences += [
            f"{name}: {kernel.name}: {key} {read[key]}, cuobjdump says {said[key]}"
            for key in read
            if read[key] != said[key]
        ]
    return len(facts.kernels), differences


def main() -> int:
    """Compare the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    images = kernels = 0
    differences: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files:
            for name, data in cubins(path):
                count, found = compare(name, data, options.cuobjdump, Path(folder))
                images, kernels = images + 1, kernels + count
                differences += found
    print("\n".join(differences[:50]))
    print(f"{images} cubins, {kernels} kernels, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
