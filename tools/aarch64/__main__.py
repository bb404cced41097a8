"""Compare both engines of the emulated device on AArch64, under qemu-user, with this machine's.

::

    apt-get install qemu-user-static
    python -m tools.aarch64 FOLDER                  # sets up the folder at the first time
    python -m tools.aarch64 FOLDER --forms 2000     # exit status 1 if something is different

The folder gets Debian's Python for arm64, unpacked from apt's packages, and the wheels that the
tests need; nothing on this machine is changed. Cases are the kernels of ``benchmarks/engines.py``
and recorded forms, textures and surfaces.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from cudarun.emulator.engines import INTERPRET
from tools.aarch64.objects import PYTHON
from tools.aarch64.root import set_up

ROOT = Path(__file__).resolve().parents[2]

Results = dict[tuple[str, str], str]
"""Digests by the names of the case and the engine."""


def main() -> int:
    """Set up the folder, run the cases on both machines and print what is different."""
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tools.aarch64", description=summary)
    add = parser.add_argument
    add("folder", type=Path, help="for the emulated machine")
    add("--forms", type=int, default=500, metavar="N", help="recorded forms; default: 500")
    add("--textures", type=int, default=45, metavar="N", help="default: 45")
    add("--llvm", action="store_true", help="emulate LLVM, too; by default this machine's compiles")
    given = parser.parse_args()
    emulated = set_up(given.folder.resolve())
    words = [str(given.forms), str(given.textures)]
    theirs = results(emulated, words, {} if given.llvm else {PYTHON: sys.executable})
    ours = results(Path(sys.executable), words, {})
    different = sorted(case for case in {*ours, *theirs} if ours.get(case) != theirs.get(case))
    different += sorted(case for case in theirs if theirs[case] != theirs[case[0], INTERPRET])
    for name, engine in different:
        print(f"different: {name} ({engine})")
    print(
        f"{len(theirs)} results on AArch64, of {len({name for name, _ in theirs})} cases on both "
        f"engines; {len(different)} different"
    )
    return 1 if different else 0


def results(python: Path, words: list[str], variables: dict[str, str]) -> Results:
    """Return the results of all cases by a Python."""
    found: Results = {}
    command = [os.fspath(python), "-W", "ignore", "-m", "tools.aarch64.results", *words]
    env = os.environ | {"CUDARUN_CACHE": "off"} | variables
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=env) as run:
        assert run.stdout is not None
        for line in run.stdout:
            name, engine, digest = line.rstrip("\n").split("\t")
            found[name, engine] = digest
            print(f"{python.parent.parent.name}: {len(found)}", end="\r", file=sys.stderr)
    if run.returncode:
        raise SystemExit(f"{command[0]} failed with {run.returncode}")
    return found


if __name__ == "__main__":
    sys.exit(main())
