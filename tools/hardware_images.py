"""What only a GPU can show of `cudarun load` and `cudarun link`: a line for each, and a summary.

::

    python tools/hardware_images.py                 # GPU 0; builds with nvcc where it is there
    python tools/hardware_images.py --device 1 --fuzz 0

1. Every sample and golden image loads or is refused as it should be, and what the files say of
   their kernels (registers, shared memory, parameters) is what the driver says.
2. The same two files linked by the driver and by nvJitLink, from PTX and from source, give kernels
   that pass the same check; the driver's verbose log is there cold and from its cache.
3. Each refusal is provoked by a real file and explained.
4. Damaged cubins and PTX: whatever the driver does, the command goes on to the next.

Exit status: 0 when all of it held, 1 otherwise. Records go to ``$OUT`` where that is set.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/images/golden"
TIME_LIMIT = 300.0  # seconds per command

CHECK = (
    "--threads", "1000", "--block", "128",
    "in=f32[n]:iota", "out=f32[n]", "n=u32:1000", "--check", "out == in*3 + 3",
)  # fmt: skip


class Report:
    """What held and what did not."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.count = 0

    def check(self, what: str, held: bool, detail: str = "") -> None:
        """Print a line, with the detail where it did not hold."""
        self.count += 1
        print(f"{'ok    ' if held else 'FAILED'}  {what}", flush=True)
        if not held:
            self.failed.append(what)
            print("\n".join(f"        {line}" for line in detail.splitlines()[:30]), flush=True)


def cudarun(*args: object) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return subprocess.run(
        [sys.executable, "-m", "cudarun", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )


def document(*args: object) -> Any:
    """The JSON document of a command; ``None`` where there is none."""
    done = cudarun(*args, "--json")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        print(done.stderr, file=sys.stderr)
        return None


# --- 1: images -----------------------------------------------------------------------------------


def images(folder: Path) -> Iterator[Path]:
    """Samples, golden files, and more cubins built here."""
    yield from sorted((ROOT / "samples").glob("*.ptx"))
    yield from sorted(GOLDEN.glob("*.cubin"))
    yield from (GOLDEN / name for name in ("facts.ptx", "tiny.fatbin", "tiny.o", "tiny_rdc.o"))
    yield from sorted(folder.glob("*.cubin"))


def build(folder: Path) -> None:
    """Every sample compiled to a cubin for this GPU, by nvcc where there is one."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("no nvcc: no cubins built here")
        return
    for source in sorted((ROOT / "samples").glob("*.cu")):
        target = folder / f"{source.stem}.cubin"
        command = [nvcc, "-cubin", "-arch=sm_90", "-o", str(target), str(source)]
        subprocess.run(command, check=True)


SAME = ("registers", "shared_bytes", "local_bytes", "const_bytes")


def differences(offline: Any, loaded: Any) -> list[str]:
    """Where the file and the driver do not say the same of a kernel."""
    found = []
    kernels = {kernel["name"]: kernel for kernel in loaded["kernels"]}
    for told in offline["kernels"]:
        kernel = kernels.get(told["name"])
        if kernel is None:
            found.append(f"{told['name']}: the driver does not have it")
            continue
        for name in SAME:
            if told[name] is not None and told[name] != kernel[name]:
                found.append(f"{told['name']}: {name} {told[name]} in the file, {kernel[name]}")
        layouts = [[(p["offset"], p["size"]) for p in k["parameters"]] for k in (told, kernel)]
        if layouts[0] != layouts[1]:
            found.append(f"{told['name']}: parameters {layouts[0]} in the file, {layouts[1]}")
    return found


def compare_images(report: Report, device: str, folder: Path) -> Any:
    """Load all of them in one command; hold the file's own facts against the driver's."""
    paths = list(images(folder))
    loads = document("load", *paths, "-d", device, "--via", "both", "--block", "256")
    files = document("load", "--offline", *paths)
    if loads is None or files is None:
        report.check("load of all images", False)
        return loads
    for path, outcome, file in zip(paths, loads["outcomes"], files["files"], strict=True):
        verdict = outcome["verdict"]
        expected = expected_verdict(path, file)
        report.check(
            f"load {path.name}: {verdict}", verdict in expected, json.dumps(outcome["error"])
        )
        for result in outcome["results"] if verdict == "loaded" else ():
            wrong = differences(file, result) if file["kind"] in ("PTX", "cubin") else []
            wrong += result["differences"]
            report.check(f"  facts of {path.name}", not wrong, "\n".join(wrong))
            lazy = [k["name"] for k in result["kernels"] if not k["is_loaded"]]
            report.check(f"  every kernel of {path.name} loaded", not lazy, str(lazy))
    return loads


def expected_verdict(path: Path, file: Any) -> set[str]:
    """Written for an H200 (sm_90) with a driver of CUDA 13.0."""
    if file["externs"] or file["is_relocatable"]:
        return {"refused", "loaded"}  # one that wants nothing may load unlinked
    runs_here = {"sm_90", "sm_90a", "compute_80", "compute_90", "compute_90a"}
    is_text = path.suffix == ".ptx"
    return {"loaded"} if is_text or runs_here & set(file["targets"]) else {"refused"}


# --- 2: links ------------------------------------------------------------------------------------


def links(report: Report, device: str, folder: Path) -> None:
    """Both linkers, from PTX and from source, and what is said about it."""
    for kind in ("ptx", "cu"):
        inputs = [ROOT / f"samples/link/{name}.{kind}" for name in ("main", "lib")]
        for linker in ("driver", "nvjitlink"):
            out = folder / f"linked_{kind}_{linker}.cubin"
            args = ("link", *inputs, "-o", out, "--linker", linker, "-d", device, "--load")
            done = cudarun(*args)
            report.check(f"link {kind} by {linker}", done.returncode == 0, done.stderr)
            ran = cudarun("launch", out, "-d", device, *CHECK)
            report.check(f"  it runs ({kind}, {linker})", ran.returncode == 0, ran.stderr)
    inputs = [ROOT / f"samples/link/{name}.ptx" for name in ("main", "lib")]
    for state in ("cold or cached", "cached"):
        args = ("link", *inputs, "-o", folder / "log.cubin", "--linker", "driver", "-d", device)
        log = (document(*args, "--verbose") or {}).get("info_log", "")
        report.check(f"verbose log of the driver's linker, {state}", bool(log.strip()), repr(log))
        print("\n".join(f"        | {line}" for line in log.splitlines()))
    for name, extra in (("unresolved", []), ("duplicate", [inputs[1], inputs[1]])):
        for linker in ("driver", "nvjitlink"):
            out = folder / "never"
            args = ("link", inputs[0], *extra, "-o", out, "--linker", linker, "-d", device)
            done = cudarun(*args)
            held = done.returncode == 4 and "weight" in done.stderr and not out.exists()
            report.check(f"{name} symbol by {linker}", held, done.stderr)


# --- 3: explanations -----------------------------------------------------------------------------


def provoked(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """A name, a file that is refused, and what its explanation says."""
    text = (ROOT / "samples/saxpy.ptx").read_text()

    def ptx(name: str, old: str, new: str) -> Path:
        path = folder / f"{name}.ptx"
        path.write_text(text.replace(old, new))
        return path

    def cut(source: Path, size: int) -> Path:
        path = folder / f"cut_{source.name}"
        path.write_bytes(source.read_bytes()[:size])
        return path

    yield "new", ptx("new", ".version 8.0", ".version 9.9"), r"PTX 9\.9 needs CUDA 13\.9 or later"
    yield "32 bits", ptx("bits", "size 64", "size 32"), r"The PTX has 32-bit addresses"
    yield "modifier", ptx("modifier", "fma.rn.f32", "fma.rn.xx"), r"Unknown modifier '\.xx'"
    yield "sm_100a", ptx("a100", "sm_75", "sm_100a"), r"compute_100a|sm_100a"
    yield "sm_999", ptx("s999", "sm_75", "sm_999"), r"The compiler knows no sm_999"
    yield "old", ptx("old", ".version 8.0\n.target sm_75", ".version 7.0\n.target sm_90"), r"7\.0"
    yield "unresolved", ROOT / "samples/link/main.ptx", r"weighted\(float\)"
    yield "cut PTX", cut(ROOT / "samples/saxpy.ptx", 900), r"the file is cut off"
    yield "cut cubin", cut(GOLDEN / "facts.cubin", 2000), r"The cubin is damaged"
    yield "cut fatbin", cut(GOLDEN / "tiny.fatbin", 4000), r"The fatbin is damaged"
    yield "sm_80 cubin", GOLDEN / "tiny_sm80.cubin", r"The cubin has code for sm_80"
    yield "LTO-IR", GOLDEN / "tiny.ltoir", r"LTO-IR holds no code yet"
    yield "relocatable", GOLDEN / "wants.cubin", r"yet to be linked|Undefined|undefined"


def explanations(report: Report, device: str, folder: Path) -> list[dict[str, Any]]:
    """What was said of each, in full: these are what the golden texts are compared with."""
    records = []
    for name, path, pattern in provoked(folder):
        done = cudarun("load", path, "-d", device, "-q")
        held = done.returncode == 4 and re.search(pattern, done.stderr) is not None
        report.check(f"explained: {name}", held, done.stderr)
        records.append({"name": name, "code": done.returncode, "text": done.stderr})
    return records


def main() -> int:
    """Everything; 1 when any of it did not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="0")
    parser.add_argument("--fuzz", type=int, default=200, help="how many damaged images")
    arguments = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        records: dict[str, Any] = {
            "loads": compare_images(report, arguments.device, folder),
            "explanations": explanations(report, arguments.device, folder),
        }
        links(report, arguments.device, folder)
    half = cudarun("load", ROOT / "samples/saxpy.cu", "-d", arguments.device)
    report.check("CUDA source to this GPU's machine code", half.returncode == 0, half.stderr)
    if arguments.fuzz:
        fuzz = [sys.executable, str(ROOT / "tools/fuzz_images.py"), "--device", arguments.device]
        done = subprocess.run(
            [*fuzz, "--count", str(arguments.fuzz), "--kinds", "cubin", "ptx"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        print(done.stdout)
        report.check(f"{arguments.fuzz} damaged images", done.returncode == 0, done.stderr)
    if "OUT" in os.environ:
        (Path(os.environ["OUT"]) / "hardware_images.json").write_text(json.dumps(records, indent=1))
    print(f"\n{report.count - len(report.failed)} of {report.count} held")
    for what in report.failed:
        print(f"  failed: {what}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
