"""Write ``tests/emulator/mutants.txt``: mutants of PTX, and which of them ptxas takes.

``python -m tools.record_mutants [COUNT]``, where ptxas of CUDA 13.0 is on the path. Each line of
the record is a verdict, a file, a line of it and what that line becomes, divided by tabs.
`tests/emulator/test_mutations.py` reads it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.mutation_launches import ROOT, works
from tests.support.ptx_mutations import Mutant, mutate

TARGET = ROOT / "tests" / "emulator" / "mutants.txt"
_COUNT = 1000
_THREADS = 2
_LONG = 12_000  # bytes: with each mutant the whole text is compiled again


def takes(text: str) -> bool:
    """Whether ptxas assembles a text for sm_90."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        architecture = "sm_90a" if ".target sm_90a" in text else "sm_90"
        command = ["ptxas", f"-arch={architecture}", "-O0", "-o", "/dev/null", file.name]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def texts() -> dict[Path, str]:
    """The texts that are mutated, by file."""
    programs = sorted([*ROOT.glob("tests/programs/*.ptx"), *ROOT.glob("tests/emulator/nvcc/*.ptx")])
    short = [path for path in programs if path.stat().st_size < _LONG]
    paths = [*(work.path for work in works()), *short]
    return {path: path.read_text() for path in dict.fromkeys(paths)}


def mutants(count: int) -> Iterator[tuple[Path, Mutant]]:
    """So many different ones, over the files in turn; lines that stand twice are left alone."""
    originals = texts()
    chosen = random.Random(1).choices(list(originals), k=8 * count)
    seen: set[tuple[Path, str, str]] = set()
    for seed, path in enumerate(chosen):
        mutant = mutate(originals[path], seed)
        lines = [line.strip() for line in originals[path].splitlines()]
        if lines.count(mutant.was) == 1 and (path, mutant.was, mutant.now) not in seen:
            seen.add((path, mutant.was, mutant.now))
            yield path, mutant
        if len(seen) == count:
            return


def main() -> int:
    """Write the record."""
    chosen = list(mutants(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT))
    with ThreadPoolExecutor(_THREADS) as threads:
        verdicts = list(threads.map(takes, [mutant.text for _, mutant in chosen]))
    lines = sorted(
        "\t".join(["takes" if taken else "refuses", str(path.relative_to(ROOT)), *_tabless(mutant)])
        for (path, mutant), taken in zip(chosen, verdicts, strict=True)
    )
    TARGET.write_text("\n".join(lines) + "\n")
    print(f"{len(chosen)} mutants, of which ptxas takes {sum(verdicts)}")
    return 0


def _tabless(mutant: Mutant) -> tuple[str, str]:
    return mutant.was.replace("\t", " "), mutant.now.replace("\t", " ")


if __name__ == "__main__":
    sys.exit(main())
