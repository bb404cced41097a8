"""What only a GPU can show of `cudarun load` and `cudarun link`: a line for each failure, a sum.

::

    python3 tools/hardware_images.py                # GPU 0, two minutes
    python3 tools/hardware_images.py --fuzz 0 --libraries 0 --device 1
    python3 tools/hardware_images.py --device cpu   # what can be done without a GPU

1. Facts: samples, golden images, what nvcc, NVRTC, Triton and CuPy make here, and cubins out of a
   library of NVIDIA's. What the files say of their kernels (registers, shared, local and constant
   memory, parameters) is what the driver says; every kernel loads both ways.
2. Links: the same two files through both linkers, from PTX and from source, give kernels that pass
   the same check. Logs: of what is compiled something is said, and of what comes from the driver's
   compute cache, of which its compiler says nothing, that it does.
3. Options of the driver's compiler, one by one: what it takes. Static shared memory: how much of it
   loads and is launched.
4. Refusals: every one of ``tools/refusals.py``, and its explanation.
5. Damaged cubins, fatbins and PTX: whatever the driver does, the command goes on to the next; and
   what a driver does of a fatbin that is cut off, which `cudarun` does not hand over.

What fails in one part keeps no other from its turn. Records go to
``$OUT/hardware_images.json``, the refusals to ``$OUT/refusals.json``, of which
``tests/data/refusals`` keeps one for each device. Exit status: 0 when all of it held, 1 otherwise.
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
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support import refusals

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/images/golden"
sys.path.insert(0, str(ROOT))

CHECK = (
    "--threads", "1000", "--block", "128",
    "in=f32[n]:iota", "out=f32[n]", "n=u32:1000", "--check", "out == in*3 + 3",
)  # fmt: skip
SAME = ("registers", "shared_bytes", "local_bytes", "const_bytes")
LARGEST_LIBRARY = 200 << 20
KERNELS_OF_A_CUBIN = 400


class Report:
    """What held and what did not. Only failures and sums are printed."""

    def __init__(self, device: str, folder: Path) -> None:
        self.device = device
        self.folder = folder
        self.failed: list[str] = []
        self.held = 0
        self.records: dict[str, Any] = {}

    @property
    def is_emulated(self) -> bool:
        """Whether the device is ``cpu``."""
        return self.device.startswith("cpu")

    def check(self, what: str, held: bool, detail: str = "") -> bool:
        """Count it; where it did not hold, a line with the beginning of the detail."""
        if held:
            self.held += 1
        else:
            self.failed.append(what)
            shown = "\n        ".join(detail.strip().splitlines()[:6])
            print(f"FAILED  {what}\n        {shown}" if shown else f"FAILED  {what}", flush=True)
        return held

    def part(self, name: str, work: Callable[[Report], object]) -> None:
        """Do one part; an error of this script ends that part alone."""
        held, failed, started = self.held, len(self.failed), time.monotonic()
        try:
            said = work(self)
        except Exception:
            self.check(f"{name}: the script itself", False, traceback.format_exc(limit=-3))
            said = None
        seconds = time.monotonic() - started
        sums = f"{self.held - held} held, {len(self.failed) - failed} failed"
        print(f"{name}: {sums}, {seconds:.0f} s{f'; {said}' if said else ''}", flush=True)


def run(
    *command: object, limit: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command; one that takes too long is a failed one."""
    try:
        return subprocess.run(
            [*map(str, command)], capture_output=True, text=True, errors="replace", timeout=limit,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment, check=False,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError) as error:
        return subprocess.CompletedProcess(command, 124, "", f"{error}")


def cudarun(
    *args: object, limit: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return run(sys.executable, "-m", "cudarun", *args, limit=limit, **environment)


def document(*args: object, limit: float = 60, **environment: str) -> Any:
    """The JSON document of a command.

    Raises:
        ValueError: There is none.
    """
    done = cudarun(*args, "--json", limit=limit, **environment)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise ValueError(f"cudarun {args[0]}: status {done.returncode}: {done.stderr}") from None


# --- 1: facts ------------------------------------------------------------------------------------


def build(report: Report, libraries: int) -> str:
    """Make more images in the report's folder, by whatever is installed here."""
    made = []
    for name, maker in _MAKERS.items():
        before = len([*report.folder.iterdir()])
        try:
            maker(report.folder)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            print(f"        not made by {name}: {str(error).strip()[-300:]}")
        made.append(f"{len([*report.folder.iterdir()]) - before} by {name}")
    if libraries:
        made.append(f"{from_libraries(report.folder, libraries)} out of libraries")
    return ", ".join(made)


def by_nvcc(folder: Path) -> None:
    """The samples for several architectures at once, and two of them as cubins."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise OSError("no nvcc")
    several = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in ("80", "90", "90a")]
    for name in ("softmax", "matmul", "histogram"):
        source = ROOT / f"samples/{name}.cu"
        _made(run(nvcc, "-fatbin", *several, "-o", folder / f"nvcc_{name}.fatbin", source))
        _made(run(nvcc, "-cubin", "-arch=sm_90", "-o", folder / f"nvcc_{name}.cubin", source))


def by_nvrtc(folder: Path) -> None:
    """Every sample, by the NVRTC that is installed."""
    from cudarun.errors import CudarunError
    from cudarun.images.versions import Target
    from cudarun.session.compile.nvrtc import compile_source
    from cudarun.session.image.image import Image

    for source in sorted((ROOT / "samples").glob("*.cu")):
        for target in (Target(False, 90), Target(False, 90, "a")):
            try:
                made = compile_source(Image(str(source), source.read_bytes()), target, "CUBIN")
            except CudarunError as error:
                raise ValueError(f"{error}") from None
            (folder / f"nvrtc_{source.stem}_{target}.cubin").write_bytes(made.data)


def by_triton(folder: Path) -> None:
    """The kernels of ``triton_kernels.py``."""
    cache = folder / "triton"
    done = run(sys.executable, ROOT / "tools/triton_kernels.py", cache, limit=90)
    for path in sorted(cache.glob("*/*.cubin")):
        shutil.copy(path, folder / f"triton_{path.name}")
    shutil.rmtree(cache, ignore_errors=True)
    _made(done)


def by_cupy(folder: Path) -> None:
    """Of saxpy."""
    _made(run(sys.executable, ROOT / "tools/other_cubins.py", "cupy", folder / "cupy.cubin"))


_MAKERS: dict[str, Callable[[Path], None]] = {
    "nvcc": by_nvcc, "NVRTC": by_nvrtc, "Triton": by_triton, "CuPy": by_cupy,
}  # fmt: skip


def _made(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        raise ValueError(done.stderr or f"status {done.returncode}")


def from_libraries(folder: Path, wanted: int) -> int:
    """Cubins for sm_90 out of the smallest of NVIDIA's libraries that have some."""
    from cudarun.errors import ImageRefused
    from cudarun.images.read import fatbins_in

    taken = 0
    for library in sorted(_libraries(), key=lambda path: path.stat().st_size):
        data = library.read_bytes()
        if b".nv_fatbin\0" not in data:
            continue
        try:
            found = _cubins_of(fatbins_in(data, library.name), library.name)
            for number, (cubin, fatbin) in zip(range(3), found, strict=False):
                stem = folder / f"{library.name.partition('.')[0]}_{number}"
                stem.with_suffix(".cubin").write_bytes(cubin)
                stem.with_suffix(".fatbin").write_bytes(fatbin)
                taken += 1
        except ImageRefused as error:
            print(f"        {library}: {error}")
        if taken >= wanted:
            break
    return taken


def _libraries() -> Iterator[Path]:
    for entry in map(Path, sys.path):
        for pattern in ("nvidia/*/lib/*.so*", "torch/lib/*.so"):
            for path in entry.glob(pattern):
                if path.is_file() and path.stat().st_size < LARGEST_LIBRARY:
                    yield path
    yield from Path("/usr/local/cuda/lib64").glob("lib*.so.*.*.*")


def _cubins_of(fatbins: tuple[bytes, ...], name: str) -> Iterator[tuple[bytes, bytes]]:
    """The code for sm_90 in each fatbin, and the fatbin."""
    from cudarun.images.fatbin import read_entries
    from cudarun.images.identify import ImageKind
    from cudarun.images.read import read_image

    for fatbin in fatbins:
        for entry in read_entries(fatbin, name):
            if entry.kind is ImageKind.CUBIN and entry.target in ("sm_90", "sm_90a"):
                cubin = entry.content(name)
                facts = read_image(cubin, name)
                if 0 < len(facts.kernels) < KERNELS_OF_A_CUBIN and not facts.is_relocatable:
                    yield cubin, fatbin


def facts(report: Report) -> str:
    """Load every image, and hold the file's own facts against the driver's."""
    paths = [
        *sorted((ROOT / "samples").glob("*.ptx")),
        *sorted(GOLDEN.glob("*.cubin")),
        *(GOLDEN / name for name in ("facts.ptx", "tiny.fatbin", "tiny.o", "tiny_zstd.fatbin")),
        *sorted((ROOT / "tests/data/triton").glob("*.cubin")),
        *sorted(report.folder.glob("*.cubin")),
        *sorted(report.folder.glob("*.fatbin")),
    ]
    loads = document("load", *paths, "-d", report.device, "--via", "both", limit=150)["outcomes"]
    files = document("load", "--offline", *paths, limit=60)["files"]
    kernels = 0
    for path, outcome, file in zip(paths, loads, files, strict=True):
        verdict, error = outcome["verdict"], outcome["error"] or {}
        wanted = expected(file, report.device)
        report.check(f"{path.name} is {verdict}", verdict in wanted, str(error.get("message")))
        for result in outcome["results"] if verdict == "loaded" else ():
            wrong = [*result["differences"]]
            if not report.is_emulated:  # whose registers are its own
                wrong += differences(file, result)
            lazy = [f"{k['name']} is not loaded" for k in result["kernels"] if not k["is_loaded"]]
            report.check(f"facts of {path.name}", not wrong + lazy, "\n".join(wrong + lazy))
            kernels += len(result["kernels"])
    report.records["loads"] = loads
    return f"{kernels} kernels of {len(paths)} images"


def expected(file: Any, device: str) -> set[str]:
    """The verdicts that would be right, on an H200 (sm_90) or the emulated device."""
    from cudarun.images.versions import parse_target

    names = [
        name.replace("sm_", "compute_") if file["kind"] == "PTX" else name
        for name in file["targets"]
    ]
    targets = [target for target in map(parse_target, names) if target]
    if device.startswith("cpu"):
        targets = [target for target in targets if target.is_virtual]
    if not any(target.runs_on(90) for target in targets):
        return {"refused"}
    # A relocatable one that wants nothing may load unlinked.
    return {"loaded", "refused"} if file["externs"] or file["is_relocatable"] else {"loaded"}


def differences(file: Any, result: Any) -> Iterator[str]:
    """Where the file and the driver do not say the same of a kernel."""
    for kernel in result["kernels"]:
        told = _told(file, kernel)
        if told is None:
            yield f"{kernel['name']}: the file does not tell of it"
            continue
        for name in SAME:
            if told[name] is not None and told[name] != kernel[name]:
                yield f"{kernel['name']}: {name} {told[name]} in the file, {kernel[name]}"
        layouts = [[(p["offset"], p["size"]) for p in k["parameters"]] for k in (told, kernel)]
        if layouts[0] != layouts[1]:
            yield f"{kernel['name']}: parameters {layouts[0]} in the file, {layouts[1]}"


def _told(file: Any, kernel: Any) -> Any:
    """The kernel as the file tells it: of several parts, as the one does that was loaded."""
    own = f"sm_{kernel['binary_version']}"
    exact = [part for part in file["parts"] if part["target"] in (f"{own}a", own)]
    texts = [part for part in file["parts"] if part["kind"] == "PTX"]
    places = exact or texts or ([] if file["parts"] else [file])
    found = (told for place in places for told in place["kernels"])
    return next((told for told in found if told["name"] == kernel["name"]), None)


# --- 2: links and logs ---------------------------------------------------------------------------


def links(report: Report) -> None:
    """Both linkers, from PTX and from source; what they make runs."""
    on = ("-d", report.device)
    for kind in ("ptx", "cu"):
        inputs = [ROOT / f"samples/link/{name}.{kind}" for name in ("main", "lib")]
        for linker in ("driver",) if report.is_emulated else ("driver", "nvjitlink"):
            out = report.folder / f"linked_{kind}_{linker}"
            done = cudarun("link", *inputs, "-o", out, "--linker", linker, *on, "--load")
            if report.check(f"link {kind} by {linker}", done.returncode == 0, done.stderr):
                ran = cudarun("launch", out, *on, *CHECK)
                report.check(f"it runs ({kind}, {linker})", ran.returncode == 0, ran.stderr)


def logs(report: Report) -> str:
    """What is said by a cold compiler, by one whose work is cached, and by one without a cache."""
    on = ("-d", report.device, "--verbose")
    ptx = [ROOT / f"samples/link/{name}.ptx" for name in ("main", "lib")]
    link = ("link", *ptx, "-o", report.folder / "log", "--linker", "driver")
    load = ("load", ROOT / "samples/softmax.ptx", "--via")
    notes = []
    commands = {"link": link} | {f"load by {via}": (*load, via) for via in _VIAS}
    for what, command in commands.items():
        for state in ("cold", "cached", "no cache"):
            cache = {"CUDA_CACHE_PATH": str(report.folder / f"cache of {what}")}
            told = document(
                *command, *on, **cache, CUDA_CACHE_DISABLE=str(int(state == "no cache"))
            )
            if what != "link":
                [told] = told["outcomes"][0]["results"][0]["ways"]
            log, silence = told["info_log"].strip(), told.get("silence")
            report.records[f"log of {what}, {state}"] = {"log": log, "silence": silence}
            must_speak = what == "link" or state != "cached" or report.is_emulated
            report.check(f"log of {what}, {state}", bool(log or (silence and not must_speak)))
            notes += [f"{what}, {state}"] if silence else []
    return f"silent: {'; '.join(notes) or 'none'}"


_VIAS = ("library", "module")


# --- 3: options ----------------------------------------------------------------------------------

OPTIONS = (
    *(("-O", str(level)) for level in range(5)),
    ("--max-registers", "32"), ("--threads-per-block", "512"), ("--threads-per-block", "4096"),
    ("--lineinfo",), ("-g",), ("--position-independent",), ("--cache-mode", "ca"),
    ("--cache-mode", "cg"), ("--cache-mode", "none"), ("--fallback", "prefer-ptx"),
    ("--fallback", "prefer-binary"), ("--target", "sm_90"), ("--target", "sm_80"),
)  # fmt: skip
MAY_BE_REFUSED = (
    ("--target", "sm_80"), ("--threads-per-block", "4096"), ("-g",), ("--position-independent",),
)  # fmt: skip


def options(report: Report) -> str:
    """Load one text with each of them, both ways; which are refused is noted."""
    load = ("load", ROOT / "samples/softmax.ptx", "-d", report.device, "--via", "both")
    with ThreadPoolExecutor(4) as pool:
        told = [*pool.map(lambda option: document(*load, *option), OPTIONS)]
    notes = []
    for option, loaded in zip(OPTIONS, told, strict=True):
        name, [outcome] = " ".join(option), loaded["outcomes"]
        ways = [way for result in outcome["results"] for way in result["ways"]]
        errors = {way["via"]: way["error"] for way in ways if way["error"]}
        registers = [k["registers"] for r in outcome["results"] for k in r["kernels"]]
        logs = {way["via"]: way["info_log"] for way in ways}
        report.records[f"option {name}"] = {
            "errors": errors, "registers": registers, "logs": logs, "error": outcome["error"],
        }  # fmt: skip
        errors |= {} if errors or not outcome["error"] else {"both": outcome["error"]}
        if option in MAY_BE_REFUSED or report.is_emulated:
            notes += [f"{name} by {via}" for via in errors]
        else:
            report.check(f"option {name}", not errors, json.dumps(errors))
        if option == ("--max-registers", "32") and registers:
            report.check(f"{name}: at most 32", max(registers) <= 32, str(registers))
    return f"refused: {', '.join(notes) or 'none'}"


SHARED = (48 << 10, (48 << 10) + 4, 100000, 160000, 232444, 232448, 232452)
MOST_SHARED = 232448

STATIC = """\
.version 8.0
.target sm_75
.address_size 64

.visible .entry large(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	.shared .align 4 .b8 tile[SIZE];
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	add.u32 %r2, %r1, 7;
	mov.u32 %r3, tile;
	st.shared.u32 [%r3+LAST], %r2;
	bar.sync 0;
	ld.shared.u32 %r2, [%r3+LAST];
	st.global.u32 [%rd2], %r2;
	ret;
}
"""


def shared(report: Report) -> str:
    """Kernels with much static shared memory: which load, and are launched as they are."""
    notes = []
    for size in SHARED:
        path = report.folder / f"shared_{size}.ptx"
        path.write_text(STATIC.replace("SIZE", str(size)).replace("LAST", str(size - 4)))
        loaded = cudarun("load", path, "-d", report.device)
        command = ("launch", path, "-d", report.device, "--grid", "1", "--block", "1")
        ran = cudarun(*command, "out=i32[1]", "--check", "out[0] == 7")
        report.records[f"{size} static"] = {"load": _short(loaded), "launch": _short(ran)}
        wanted = 0 if size <= MOST_SHARED else 4
        report.check(f"{size} static: load", loaded.returncode == wanted, loaded.stderr)
        report.check(f"{size} static: launch", ran.returncode == wanted, ran.stderr)
        notes.append(f"{size}: {loaded.returncode}, {ran.returncode}")
    return "; ".join(notes)


def _short(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {"status": done.returncode, "stderr": done.stderr, "stdout": done.stdout[:2000]}


# --- 4: refusals ---------------------------------------------------------------------------------


def explanations(report: Report) -> str:
    """Provoke every refusal; on stderr is what explains it, in the records all of it."""
    folder = report.folder / "refused"
    folder.mkdir()
    refusals.write(folder)
    wanted = [each for each in refusals.REFUSALS if not (each.gpu and report.is_emulated)]
    out = report.folder / "never"

    def provoke(refusal: refusals.Refusal) -> tuple[subprocess.CompletedProcess[str], Any]:
        """What is said of it, and its document; ``None`` where there is none."""
        paths = [refusals.path_of(name, folder) for name in refusal.files]
        command = ("link", "--linker", "driver", "-o", out) if refusal.link else ("load", "-q")
        args = (*command, *paths, "-d", report.device, "--timeout", SECONDS_TO_REFUSE)
        done = cudarun(*args)
        try:
            return done, document(*args) if done.returncode == 4 else None
        except ValueError:
            return done, None

    records = []
    with ThreadPoolExecutor(4) as pool:
        for refusal, (done, told) in zip(wanted, pool.map(provoke, wanted), strict=True):
            found = re.search(refusal.says, done.stderr) is not None
            what = f"{refusal.name}: status {done.returncode}, /{refusal.says}/"
            is_well = done.returncode == 4 and found and told is not None and not out.exists()
            report.check(what, is_well, done.stderr or done.stdout)
            report.records[f"refusal {refusal.name}"] = _short(done)
            if told is not None:
                records.append(record(refusal, told, folder))
    [told] = document("devices", "-d", report.device)["devices"]
    device = {key: told[key] for key in ("name", "compute_capability", "driver_version")}
    keep(report, "refusals.json", {"device": device, "refusals": records})
    return f"{len(records)} refusals"


SECONDS_TO_REFUSE = 15


def record(refusal: refusals.Refusal, told: Any, folder: Path) -> dict[str, Any]:
    """What is kept of a refusal: names of files without this machine's folders."""
    error = told.get("error") or told.get("outcomes", [{}])[0].get("error")
    text = json.dumps({"name": refusal.name, "error": error})
    plain: dict[str, Any] = json.loads(text.replace(f"{folder}/", "").replace(f"{ROOT}/", ""))
    return plain


def keep(report: Report, name: str, records: Any) -> None:
    """Write records to ``$OUT``, where that is set."""
    if "OUT" in os.environ:
        path = Path(os.environ["OUT"]) / name
        path.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n")
        print(f"records: {path}")


# --- 5: damage -----------------------------------------------------------------------------------


def damage(report: Report, count: int) -> str:
    """``fuzz_images.py``, in a process of its own."""
    fuzz = ROOT / "tools/fuzz_images.py"
    kinds = ("--kinds", "ptx") if report.is_emulated else ("--kinds", "cubin", "ptx", "fatbin")
    done = run(
        sys.executable, fuzz, "--count", count, "--seed", "2", "--device", report.device, *kinds,
        limit=240,
    )  # fmt: skip
    report.check(f"{count} damaged images", done.returncode == 0, done.stdout + done.stderr)
    report.records["damage"] = done.stdout
    return " / ".join(done.stdout.splitlines()[:2])


BARE = """
import sys
from cuda.bindings import driver
driver.cuInit(0)
_, context = driver.cuDevicePrimaryCtxRetain(0)
driver.cuCtxSetCurrent(context)
data = open(sys.argv[1], "rb").read()
print("load", end=" ", flush=True)
result, library = driver.cuLibraryLoadData(data, [], [], 0, [], [], 0)
print(result.name, "count", end=" ", flush=True)
result, count = driver.cuLibraryGetKernelCount(library)
print(result.name, count, "kernel", end=" ", flush=True)
result, kernel = driver.cuLibraryGetKernel(library, b"tiny")
print(result.name, "function", end=" ", flush=True)
print(driver.cuKernelGetFunction(kernel)[0].name if int(result) == 0 else "-")
"""


def bare(report: Report) -> str:
    """What the driver alone does of a fatbin that is cut off; only looked at."""
    if report.is_emulated:
        return "not on the emulated device"
    script = report.folder / "bare.py"
    script.write_text(BARE)
    whole = (GOLDEN / "tiny.fatbin").read_bytes()
    notes = []
    for kept in (len(whole), 4000, 200):
        path = report.folder / f"bare_{kept}.fatbin"
        path.write_bytes(whole[:kept])
        done = run("timeout", "8", sys.executable, script, path)
        notes.append(f"{kept} bytes: status {done.returncode}, {done.stdout.strip()}")
    report.records["bare"] = notes
    return "; ".join(notes)


def main() -> int:
    """Everything; 1 when any of it did not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="0")
    parser.add_argument("--fuzz", type=int, default=200, help="how many damaged images")
    parser.add_argument("--libraries", type=int, default=4, help="how many cubins of libraries")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = Report(arguments.device, Path(name))
        report.part("built", lambda each: build(each, arguments.libraries))
        report.part("facts", facts)
        report.part("links", links)
        report.part("logs", logs)
        report.part("options", options)
        report.part("shared", shared)
        report.part("refusals", explanations)
        report.part("bare", bare)
        if arguments.fuzz:
            report.part("damage", lambda each: damage(each, arguments.fuzz))
    keep(report, "hardware_images.json", report.records)
    print(f"{report.held} held, {len(report.failed)} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
