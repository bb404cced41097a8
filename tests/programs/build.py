"""Compile the programs' ``.cu`` to the ``.ptx`` committed beside them.

::

    python tests/programs/build.py [NAME …]        # needs nvcc 13.0 and NVRTC 12.0
    python tests/programs/build.py --check         # writes nothing; 1 when one is not up to date

A line at the head of a source says with what: ``// nvcc -arch=compute_80 -O0``, or ``// nvrtc``
and its options, for the NVRTC of the samples (see ``samples/build.py``; ``--nvrtc PATH``). nvcc
13.0 says ``.version 9.0`` whatever a program needs; it is made ``8.0`` here, which every driver of
CUDA 12 takes, and ptxas must agree.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
_VERSION = re.compile(r"^\.version \d+\.\d+$", re.MULTILINE)
_DRIVERS_OF = ".version 8.0"  # CUDA 12.0


def command_of(source: Path) -> list[str]:
    """The compiler and its options, from the head of a source."""
    found = re.search(r"^// (nvcc|nvrtc)\b(.*)$", source.read_text("utf-8"), re.MULTILINE)
    assert found is not None, f"{source.name} does not say what compiles it"
    return [found[1], *found[2].split()]


def build(source: Path, nvrtc: str | None) -> str:
    """The PTX of one source.

    Raises:
        subprocess.CalledProcessError: It does not compile.
        ValueError: It does not compile by NVRTC.
    """
    compiler, *options = command_of(source)
    if compiler == "nvrtc":
        return _by_nvrtc(source, options, nvrtc)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.ptx"
        subprocess.run(
            [compiler, "-ptx", *options, "-o", str(target), source.name], check=True, cwd=FOLDER
        )
        text = _VERSION.sub(_DRIVERS_OF, target.read_text("utf-8"), count=1)
        target.write_text(text, "utf-8")
        architecture = re.search(r"^\.target (sm_\w+)", text, re.MULTILINE)
        assert architecture is not None
        arch = "sm_90" if architecture[1] == "sm_90" else "sm_80"
        subprocess.run(["ptxas", f"-arch={arch}", "-o", "/dev/null", str(target)], check=True)
    return text


def _by_nvrtc(source: Path, options: list[str], path: str | None) -> str:
    sys.path.insert(0, str(ROOT / "samples"))
    import build as samples  # type: ignore[import-not-found]

    found = samples.find_nvrtc(path)
    if found is None:
        raise ValueError("no libnvrtc.so.12 found; see --nvrtc")
    nvrtc = samples.Nvrtc(found)
    if nvrtc.version() != samples.NVRTC_VERSION:
        raise ValueError("NVRTC {}.{} is not the samples' 12.0".format(*nvrtc.version()))
    samples.OPTIONS[:] = options
    samples.ARCHITECTURE = "compute_80"
    text: str = nvrtc.ptx(source.read_text("utf-8"), source.name)
    return text


def main() -> int:
    """Build or check what the command line names; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nvrtc", metavar="PATH", help="libnvrtc.so.12, or the folder it is in")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    parser.add_argument("name", nargs="*", help="programs to build, without suffix; default: all")
    arguments = parser.parse_args()

    failures = 0
    for source in sorted(FOLDER.glob("*.cu")):
        if arguments.name and source.stem not in arguments.name:
            continue
        target = source.with_suffix(".ptx")
        try:
            text = build(source, arguments.nvrtc)
        except (subprocess.CalledProcessError, ValueError) as error:
            print(f"{source.name}: {error}", file=sys.stderr)
            failures += 1
            continue
        if arguments.check:
            stale = not target.exists() or target.read_text("utf-8") != text
            failures += stale
            print(f"{'STALE' if stale else 'ok   '}  {target.name}")
        else:
            target.write_text(text, "utf-8")
            print(f"wrote  {target.name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
