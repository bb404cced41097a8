"""Record for which targets ptxas accepts each recorded instruction form.

::

    python -m tools.record_targets                 # needs ptxas 13.0
    python -m tools.record_targets --later PTXAS   # only later instructions, with ptxas 13.5

It writes ``tests/golden/targets.json.xz``. A module has many forms, one
on a line. ptxas reports every line that the target does not permit.
The record has the forms that the emulated device implements, and the reasons why targets refuse
them, and instructions that only later architectures have, with the targets that permit them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.golden.isa.kernel import HEAD
from tests.golden.isa.orders import Variant, forms
from tests.golden.tensor_memory import HEAD as TENSOR_HEAD
from tests.golden.tensor_memory import LINES

RECORD = Path(__file__).resolve().parent.parent / "tests" / "golden" / "targets.json.xz"
VERSION = "9.0"
TARGETS = (
    *("sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a"),
    *("sm_100", "sm_100f", "sm_100a", "sm_103", "sm_103f", "sm_103a"),
    *("sm_110", "sm_110f", "sm_110a", "sm_120", "sm_120f", "sm_120a"),
    *("sm_121", "sm_121f", "sm_121a"),
)
TENSOR_RECORD = RECORD.with_name("tensor-memory-targets.json.xz")
TENSOR_TARGETS = tuple(each for each in TARGETS if each[-1] in "af" and each[3:5] in ("10", "11"))
"""The targets with tensor memory."""
_BATCH = 200
NEWER = RECORD.with_name("newer-instructions.txt").read_text().splitlines()
"""Instructions that only architectures after Hopper have, in the scope of `NEWER_HEAD`."""
NEWER_HEAD = """\
.version 9.5
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b64 %w<12>; .reg .b32 %t<16>; .reg .f32 %f<12>; .reg .b16 %h<9>; .reg .pred %p<4>;
    .reg .b128 %q<3>; .reg .b8 %x<8>; .reg .f64 %d<4>;
"""
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")


def refusals(
    lines: Mapping[str, str], target: str, head: str = HEAD, ptxas: str = "ptxas"
) -> dict[str, str]:
    """Return ptxas's first reason for each form that a target does not permit."""
    head = head.format(version=VERSION, target=target)
    first = head.count("\n") + 1
    names = [*lines]
    text = "\n".join((head.rstrip("\n"), *lines.values(), "ret;", "}", ""))
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        command = [
            ptxas,
            f"-arch={target.replace('sm', 'compute')}",
            file.name,
            "-o",
            "/dev/null",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[str, str] = {}
    for number, reason in _ERROR.findall(done.stderr):
        found.setdefault(names[int(number) - first], reason)
    if done.returncode and not found:
        raise RuntimeError(done.stderr)
    return found


def batches() -> Iterator[dict[str, str]]:
    """Yield lines by form, as many as a module has."""
    batch: dict[str, str] = {}
    for chapter in forms(every=True).values():
        for name, (case, _) in chapter.items():
            opcode, *words = name.split(".")
            batch[name] = Variant(opcode, tuple(words), case).line
            if len(batch) == _BATCH:
                yield batch
                batch = {}
    if batch:
        yield batch


def later(ptxas: str) -> dict[str, list[str]]:
    """Return the targets that permit each later instruction."""
    found: dict[str, list[str]] = {each: [] for each in NEWER}
    for target in TARGETS:
        refused = refusals({each: each for each in NEWER}, target, NEWER_HEAD, ptxas)
        for each in NEWER:
            found[each] += [] if each in refused else [target]
    return found


def every_form() -> dict[str, Any]:
    """Return the forms, and why targets refuse some of them."""
    every = [*batches()]
    refused: dict[str, dict[str, str]] = {}
    with ThreadPoolExecutor(3) as pool:
        for target in TARGETS:
            for found in pool.map(lambda batch, target=target: refusals(batch, target), every):
                for name, reason in found.items():
                    refused.setdefault(name, {})[target] = reason
    names = sorted(name for batch in every for name in batch)
    return {"targets": TARGETS, "forms": names, "refused": dict(sorted(refused.items()))}


def tensor_memory() -> dict[str, list[str]]:
    """Return the targets that permit each line on tensor memory, of those that permit any."""
    lines = {line: line for line in LINES}
    found: dict[str, list[str]] = {line: [] for line in LINES}
    for target in TENSOR_TARGETS:
        refused = refusals(lines, target, TENSOR_HEAD)
        for line in lines.keys() - refused.keys():
            found[line].append(target)
    return {line: sorted(targets) for line, targets in found.items()}


def main() -> None:
    """Ask ptxas about every form and target."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--later", metavar="PTXAS")
    given = parser.parse_args()
    data = json.loads(lzma.decompress(RECORD.read_bytes()))
    if given.later:
        data["newer"] = later(given.later)
    else:
        data |= every_form()
        TENSOR_RECORD.write_bytes(lzma.compress(json.dumps(tensor_memory()).encode()))
    RECORD.write_bytes(lzma.compress(json.dumps(data).encode()))


if __name__ == "__main__":
    main()
