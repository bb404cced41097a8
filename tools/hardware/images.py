"""What only a GPU can show of ``cudarun load`` and ``cudarun link``.

1. Facts: samples, golden images, what nvcc, NVRTC, Triton and CuPy make here, and cubins out of a
   library of NVIDIA's. What the files say of their kernels (registers, shared, local and constant
   memory, parameters) is what the driver says; every kernel loads both ways.
2. Links: the same two files through both linkers, from PTX and from source, give kernels that pass
   the same check. Logs: of what is compiled something is said, and of what comes from the driver's
   compute cache, of which its compiler says nothing, that it does.
3. Options of the driver's compiler, one by one: what it takes. Static shared memory: how much of it
   loads and is launched.
4. Refusals: every one of ``tests/support/refusals.py``, and its explanation.
5. Damaged cubins, fatbins and PTX: whatever the driver does, the command goes on to the next; and
   what a driver does of a fatbin that is cut off, which `cudarun` does not hand over.

What fails in one part keeps no other from its turn. All that was seen is kept in ``images.json``,
the refusals in ``refusals.json``, of which ``tests/data/refusals`` keeps one for each device.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support import refusals
from tests.support.processes import ROOT
from tools.hardware.bench import Bench, Check, Done, check, guarded, skipped

GOLDEN = ROOT / "tests/images/golden"
CHECK = (
    "--threads", "1000", "--block", "128",
    "in=f32[n]:iota", "out=f32[n]", "n=u32:1000", "--check", "out == in*3 + 3",
)  # fmt: skip
SAME = ("registers", "shared_bytes", "local_bytes", "const_bytes")
LARGEST_LIBRARY = 200 << 20
KERNELS_OF_A_CUBIN = 400
Records = dict[str, Any]


def checks(bench: Bench) -> Iterator[Check]:
    """Do each part; an error of one ends that part alone."""
    records: Records = {}
    parts: dict[str, Callable[[Bench, Records], Iterator[Check]]] = {
        "built": build, "facts": facts, "links": links, "logs": logs, "options": options,
        "shared": shared, "refusals": explanations, "bare": bare, "damage": damage,
    }  # fmt: skip
    for name, part in parts.items():
        if bench.wants(name):
            yield from guarded(name, part(bench, records))
    bench.keep("images.json", records)


# --- 1: facts ------------------------------------------------------------------------------------


def build(bench: Bench, records: Records) -> Iterator[Check]:
    """Make more images in the bench's folder, by whatever is installed here."""
    for name, maker in _MAKERS.items():
        before = len([*bench.work.iterdir()])
        problem = ""
        try:
            maker(bench)
        except (OSError, ValueError) as error:
            problem = str(error).strip()[-300:]
        made = len([*bench.work.iterdir()]) - before
        what = f"images made by {name}"
        yield skipped(what, problem) if problem else check(what, True, str(made))
    if bench.options.libraries:
        taken, problems = from_libraries(bench.work, bench.options.libraries)
        yield check("cubins out of libraries", True, "\n".join([str(taken), *problems]))


def by_nvcc(bench: Bench) -> None:
    """The samples for several architectures at once, and two of them as cubins."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise OSError("no nvcc")
    several = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in ("80", "90", "90a")]
    for name in ("softmax", "matmul", "histogram"):
        source, stem = ROOT / f"samples/{name}.cu", bench.work / f"nvcc_{name}"
        _made(bench.run(nvcc, "-fatbin", *several, "-o", f"{stem}.fatbin", source))
        _made(bench.run(nvcc, "-cubin", "-arch=sm_90", "-o", f"{stem}.cubin", source))


def by_nvrtc(bench: Bench) -> None:
    """Every sample, by the NVRTC that is installed."""
    from cudarun.base.errors import CudarunError
    from cudarun.images.versions import Architecture
    from cudarun.session.compile.source import compile_source
    from cudarun.session.image.image import Image

    for source in sorted((ROOT / "samples").glob("*.cu")):
        for target in (Architecture(False, 90), Architecture(False, 90, "a")):
            try:
                made = compile_source(Image(str(source), source.read_bytes()), target, "CUBIN")
            except CudarunError as error:
                raise ValueError(f"{error}") from None
            (bench.work / f"nvrtc_{source.stem}_{target}.cubin").write_bytes(made.data)


def by_triton(bench: Bench) -> None:
    """The kernels of ``triton_kernels.py``."""
    cache = bench.work / "triton"
    done = bench.python("-m", "tools.hardware.triton_kernels", cache, limit=90)
    for path in sorted(cache.glob("*/*.cubin")):
        shutil.copy(path, bench.work / f"triton_{path.name}")
    shutil.rmtree(cache, ignore_errors=True)
    _made(done)


def by_cupy(bench: Bench) -> None:
    """Of saxpy."""
    _made(bench.python("-m", "tools.hardware.other_cubins", "cupy", bench.work / "cupy.cubin"))


_MAKERS: dict[str, Callable[[Bench], None]] = {
    "nvcc": by_nvcc, "NVRTC": by_nvrtc, "Triton": by_triton, "CuPy": by_cupy,
}  # fmt: skip


def _made(done: Done) -> None:
    if done.exit_code != 0:
        raise ValueError(done.err or done.text)


def from_libraries(folder: Path, wanted: int) -> tuple[int, list[str]]:
    """Take cubins for sm_90 out of the smallest of NVIDIA's libraries that have some.

    Returns:
        How many were taken, and which libraries could not be read.
    """
    from cudarun.base.errors import ImageRefused
    from cudarun.images.reader import fatbins_in

    taken, problems = 0, []
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
            problems.append(f"{library}: {error}")
        if taken >= wanted:
            break
    return taken, problems


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
    from cudarun.images.kinds import ImageKind
    from cudarun.images.reader import read_image

    for fatbin in fatbins:
        for entry in read_entries(fatbin, name):
            if entry.kind is ImageKind.CUBIN and entry.target in ("sm_90", "sm_90a"):
                cubin = entry.content(name)
                facts = read_image(cubin, name)
                if 0 < len(facts.kernels) < KERNELS_OF_A_CUBIN and not facts.is_relocatable:
                    yield cubin, fatbin


def facts(bench: Bench, records: Records) -> Iterator[Check]:
    """Load every image, and compare the file's own facts with the driver's."""
    paths = [
        *sorted((ROOT / "samples").glob("*.ptx")),
        *sorted(GOLDEN.glob("*.cubin")),
        *(GOLDEN / name for name in ("facts.ptx", "tiny.fatbin", "tiny.o", "tiny_zstd.fatbin")),
        *sorted((ROOT / "tests/data/triton").glob("*.cubin")),
        *sorted(bench.work.glob("*.cubin")),
        *sorted(bench.work.glob("*.fatbin")),
    ]
    loaded = bench.document("load", *paths, "-d", bench.device, "--via", "both", limit=150)
    loads = loaded["outcomes"]
    files = bench.document("load", "--offline", *paths, limit=60)["files"]
    kernels = 0
    for path, outcome, file in zip(paths, loads, files, strict=True):
        verdict, error = outcome["verdict"], outcome["error"] or {}
        wanted = expected(file, bench.device)
        detail = f"{verdict}: {error.get('message')}"
        yield check(f"{path.name} is as it should be", verdict in wanted, detail)
        for number, result in enumerate(outcome["results"] if verdict == "loaded" else ()):
            wrong = [*result["differences"]]
            if not bench.is_emulated:  # whose registers are its own
                wrong += differences(file, result)
            wrong += [f"{k['name']} is not loaded" for k in result["kernels"] if not k["is_loaded"]]
            yield check(f"facts of {path.name}, {number}", not wrong, "\n".join(wrong))
            kernels += len(result["kernels"])
    records["loads"] = loads
    yield check("facts", True, f"{kernels} kernels of {len(paths)} images")


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


def links(bench: Bench, records: Records) -> Iterator[Check]:
    """Both linkers, from PTX and from source; what they make runs."""
    on = ("-d", bench.device)
    for kind in ("ptx", "cu"):
        inputs = [ROOT / f"samples/link/{name}.{kind}" for name in ("main", "lib")]
        for linker in ("driver",) if bench.is_emulated else ("driver", "nvjitlink"):
            out = bench.work / f"linked_{kind}_{linker}"
            done = bench.cudarun(
                "link", *inputs, "-o", out, "--force", "--linker", linker, *on, "--load"
            )
            yield check(f"link {kind} by {linker}", done.exit_code == 0, done.err, done.seconds)
            if done.exit_code == 0:
                ran = bench.cudarun("launch", out, *on, *CHECK)
                name = f"what was linked runs ({kind}, {linker})"
                yield check(name, ran.exit_code == 0, ran.err, ran.seconds)


def logs(bench: Bench, records: Records) -> Iterator[Check]:
    """What is said by a cold compiler, by one whose work is cached, and by one without a cache."""
    on = ("-d", bench.device, "--verbose")
    ptx = [ROOT / f"samples/link/{name}.ptx" for name in ("main", "lib")]
    link = ("link", *ptx, "-o", bench.work / "log", "--force", "--linker", "driver")
    load = ("load", ROOT / "samples/softmax.ptx", "--via")
    notes = []
    commands = {"link": link} | {f"load by {via}": (*load, via) for via in _VIAS}
    for what, command in commands.items():
        for state in ("cold", "cached", "no cache"):
            cache = {"CUDA_CACHE_PATH": str(bench.work / f"cache of {what}")}
            told = bench.document(
                *command, *on, **cache, CUDA_CACHE_DISABLE=str(int(state == "no cache"))
            )
            if what != "link":
                [told] = told["outcomes"][0]["results"][0]["ways"]
            log, silence = told["info_log"].strip(), told.get("silence")
            records[f"log of {what}, {state}"] = {"log": log, "silence": silence}
            must_speak = what == "link" or state != "cached" or bench.is_emulated
            yield check(f"log of {what}, {state}", log or (silence and not must_speak))
            notes += [f"{what}, {state}"] if silence else []
    yield check("logs", True, f"silent: {'; '.join(notes) or 'none'}")


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


def options(bench: Bench, records: Records) -> Iterator[Check]:
    """Load one text with each of them, both ways; which are refused is noted."""
    load = ("load", ROOT / "samples/softmax.ptx", "-d", bench.device, "--via", "both")
    with ThreadPoolExecutor(4) as pool:
        told = [*pool.map(lambda option: bench.document(*load, *option), OPTIONS)]
    notes = []
    for option, loaded in zip(OPTIONS, told, strict=True):
        name, [outcome] = " ".join(option), loaded["outcomes"]
        ways = [way for result in outcome["results"] for way in result["ways"]]
        errors = {way["via"]: way["error"] for way in ways if way["error"]}
        registers = [k["registers"] for r in outcome["results"] for k in r["kernels"]]
        logs = {way["via"]: way["info_log"] for way in ways}
        records[f"option {name}"] = {
            "errors": errors, "registers": registers, "logs": logs, "error": outcome["error"],
        }  # fmt: skip
        errors |= {} if errors or not outcome["error"] else {"both": outcome["error"]}
        if option in MAY_BE_REFUSED or bench.is_emulated:
            notes += [f"{name} by {via}" for via in errors]
        else:
            yield check(f"option {name}", not errors, json.dumps(errors))
        if option == ("--max-registers", "32") and registers:
            yield check(f"{name}: at most 32", max(registers) <= 32, str(registers))
    yield check("options", True, f"refused: {', '.join(notes) or 'none'}")


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


def shared(bench: Bench, records: Records) -> Iterator[Check]:
    """Kernels with much static shared memory: which load, and are launched as they are."""
    for size in SHARED:
        path = bench.work / f"shared_{size}.ptx"
        path.write_text(STATIC.replace("SIZE", str(size)).replace("LAST", str(size - 4)))
        loaded = bench.cudarun("load", path, "-d", bench.device)
        command = ("launch", path, "-d", bench.device, "--grid", "1", "--block", "1")
        ran = bench.cudarun(*command, "out=i32[1]", "--check", "out[0] == 7")
        records[f"{size} static"] = {"load": _short(loaded), "launch": _short(ran)}
        wanted = 0 if size <= MOST_SHARED else 4
        yield check(f"{size} static: load", loaded.exit_code == wanted, loaded.text)
        yield check(f"{size} static: launch", ran.exit_code == wanted, ran.text)


def _short(done: Done) -> dict[str, Any]:
    return {"status": done.exit_code, "stderr": done.err, "stdout": done.out[:2000]}


# --- 4: refusals ---------------------------------------------------------------------------------

SECONDS_TO_REFUSE = 15


def explanations(bench: Bench, records: Records) -> Iterator[Check]:
    """Provoke every refusal; on stderr is what explains it, in the records all of it."""
    folder = bench.work / "refused"
    folder.mkdir()
    refusals.write(folder)
    wanted = [each for each in refusals.REFUSALS if not (each.gpu and bench.is_emulated)]
    out = bench.work / "never"

    def provoke(refusal: refusals.Refusal) -> tuple[Done, Any]:
        """Return what is said of it, and its document; ``None`` where there is none."""
        paths = [refusals.path_of(name, folder) for name in refusal.files]
        link = ("link", "--linker", "driver", "-o", out, "--force")
        command = link if refusal.link else ("load", "-q")
        args = (*command, *paths, "-d", bench.device, "--timeout", SECONDS_TO_REFUSE)
        done = bench.cudarun(*args)
        try:
            return done, bench.document(*args) if done.exit_code == 4 else None
        except ValueError:
            return done, None

    kept = []
    with ThreadPoolExecutor(4) as pool:
        for refusal, (done, told) in zip(wanted, pool.map(provoke, wanted), strict=True):
            found = re.search(refusal.says, done.err) is not None
            is_well = done.exit_code == 4 and found and told is not None and not out.exists()
            detail = "" if is_well else f"no /{refusal.says}/\n{done.text}"
            yield check(f"refusal: {refusal.name}", is_well, detail, done.seconds)
            records[f"refusal {refusal.name}"] = _short(done)
            if told is not None:
                kept.append(record(refusal, told, folder))
    [told] = bench.document("devices", "-d", bench.device)["devices"]
    device = {key: told[key] for key in ("name", "compute_capability", "driver_version")}
    bench.keep("refusals.json", {"device": device, "refusals": kept})


def record(refusal: refusals.Refusal, told: Any, folder: Path) -> dict[str, Any]:
    """What is kept of a refusal: names of files without this machine's folders."""
    error = told.get("error") or told.get("outcomes", [{}])[0].get("error")
    text = json.dumps({"name": refusal.name, "error": error})
    plain: dict[str, Any] = json.loads(text.replace(f"{folder}/", "").replace(f"{ROOT}/", ""))
    return plain


# --- 5: damage -----------------------------------------------------------------------------------


def damage(bench: Bench, records: Records) -> Iterator[Check]:
    """``tools.fuzz.images``, in a process of its own."""
    count = bench.options.fuzz
    if not count:
        return
    kinds = ("--kinds", "ptx") if bench.is_emulated else ("--kinds", "cubin", "ptx", "fatbin")
    done = bench.python(
        "-m", "tools.fuzz.images", "--count", count, "--seed", "2", "--device", bench.device,
        *kinds, limit=240,
    )  # fmt: skip
    records["damage"] = done.out
    good = done.exit_code == 0
    detail = " / ".join(done.out.splitlines()[:2]) if good else done.text
    yield check(f"{count} damaged images", good, detail, done.seconds)


BARE = """
import sys
from cuda.bindings import driver
driver.cuInit(0)
_, context = driver.cuDevicePrimaryCtxRetain(int(sys.argv[2]))
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


def bare(bench: Bench, records: Records) -> Iterator[Check]:
    """What the driver alone does of a fatbin that is cut off; only looked at."""
    if bench.is_emulated:
        yield skipped("bare driver", "not on the emulated device")
        return
    whole = (GOLDEN / "tiny.fatbin").read_bytes()
    notes = []
    for kept in (len(whole), 4000, 200):
        path = bench.work / f"bare_{kept}.fatbin"
        path.write_bytes(whole[:kept])
        done = bench.python("-c", BARE, path, bench.ordinal, limit=8)
        notes.append(f"{kept} bytes: status {done.exit_code}, {done.out.strip()}")
    records["bare"] = notes
    yield check("bare driver", True, "; ".join(notes))
