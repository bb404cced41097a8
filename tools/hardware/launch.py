"""Everything of ``cudarun launch`` that only a GPU can show.

What needs Triton, CuPy, NVRTC or compute-sanitizer is skipped where that is not there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.samples_readme import samples
from tools.hardware.bench import Bench, Check, check, skipped

TIME_LIMIT = 300.0
OF_GPUS = ("timing", "cubin", "triton", "bench")
NOT_INSTALLED = 3

STRUCT = (
    *("--threads", "1"),
    "first=bool:true",
    "it={scale=f32:0.5, corner=float4:1,2,3,4, step=i16:-7, exact=f64:0.1, counts=i32[5], "
    "range={low=i8:-3, high=f32:2.5}, table=u16*5:10,20,30,40,65535}",
    "numbers=f64[16]",
    "last=i8:-1",
    *("--check", "numbers == [1, 0.5, 1, 2, 3, 4, -7, 0.1, -3, 2.5, 10, 20, 30, 40, 65535, -1]"),
    *("--check", "it.counts == [3, 13, 23, 33, 65528]"),
)
SYNC = ("x=f32[n]:rand(1,2)", "y=f32[n]", "total=f32[1]:zeros", "arrived=u32[1]:zeros")
SAXPY = ("a=f32:2", "x=f32[n]:rand", "y=f32[n]:rand")
Y = ("--check", "y == a*x + old(y)")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to see.

    Attributes:
        group: What it has in common with others.
        name: Unique in its group.
        command: What is run, from the root of the repository.
        exit_code: What it is to end with.
        says: What its output is to have in it.
        never: A pattern of what its output must not have in it.
        may_miss: A script that ends with `NOT_INSTALLED` where what it needs is not there.
    """

    group: str
    name: str
    command: tuple[str, ...]
    exit_code: int = 0
    says: str = ""
    never: str = r"(?!)"
    may_miss: bool = False


def checks(bench: Bench) -> Iterator[Check]:
    """Take each step, in order."""
    steps = Steps(bench.device, bench.work, bench.options.architecture, bench.interpreter)
    for step in steps.all():
        if bench.wants(f"{step.group}: {step.name}"):
            yield run(bench, step)


def run(bench: Bench, step: Step) -> Check:
    """Take one step; figures that it prints are kept."""
    name = f"{step.group}: {step.name}"
    if bench.is_emulated and step.group in OF_GPUS and not step.may_miss:
        return skipped(name, "not on the emulated device")
    if shutil.which(step.command[0]) is None:
        return skipped(name, f"{step.command[0]} is not on PATH")
    done = bench.run(*step.command, limit=TIME_LIMIT)
    text = f"{shlex.join(step.command)}\n{done.text}"
    if step.group in ("timing", "bench"):
        bench.keep(f"{name.replace(' ', '-').replace('/', '-').replace(':', '')}.txt", text)
    if step.may_miss and done.exit_code == NOT_INSTALLED:
        return skipped(name, done.out + done.err)
    if "No module named 'triton'" in done.out + done.err:
        return skipped(name, "no Triton")
    shown = done.out + done.err
    good = done.exit_code == step.exit_code and step.says in shown
    good = good and not re.search(step.never, shown)
    return check(name, good, "" if good else text, done.seconds)


class Steps:
    """The steps on one device; ``folder`` is for files made on the way."""

    def __init__(self, device: str, folder: Path, architecture: str, python: str) -> None:
        self.device = device
        self.python = python
        self.folder = folder
        self.architecture = architecture

    def launch(self, *args: str) -> tuple[str, ...]:
        """A launch on the device."""
        return (self.python, "-m", "cudarun", "launch", *args, "-d", self.device)

    def tool(self, group: str, name: str, *words: str, says: str = "") -> Step:
        """A script of the repository."""
        return Step(group, name, (self.python, *words), says=says, may_miss=True)

    def all(self) -> Iterator[Step]:
        """Every step, in order."""
        yield from self.parameters()
        yield from self.geometry()
        yield from self.refusals()
        yield from self.timing()
        yield from self.others()
        yield from self.triton()
        yield from self.references()
        yield self.tool("bench", "median beside triton.testing.do_bench",
                        "benchmarks/do_bench.py", "--arch", self.architecture)  # fmt: skip

    def parameters(self) -> Iterator[Step]:
        """Structs by value, both ways, and their layout."""
        for passing in ("array", "buffer"):
            command = self.launch("samples/parameters.ptx", "--params", passing, *STRUCT)
            yield Step("struct", f"struct with a member of every kind, {passing}", command)
        yield self.tool("struct", "layout of 500 random structs", "-m", "tools.record_layouts",
                        "--device", self.device, says="the same")  # fmt: skip
        yield Step("objects", "textures and surfaces, compared with cpu",
                   self.launch("--spec", "tests/data/specs/objects.toml"))  # fmt: skip
        yield Step("tensor maps", "boxes and bytes of tensor maps, compared with cpu",
                   self.launch("--spec", "tests/data/specs/tensor_maps.toml"))  # fmt: skip

    def geometry(self) -> Iterator[Step]:
        """Clusters, cooperative grids, much shared memory, preferences, contexts."""
        for width in (4, 8, 16):
            checks = (
                *("--check", f"place[:, 0] == arange(64) // {width}"),
                *("--check", f"place[:, 1] == arange(64) % {width}", "--check", f"size == {width}"),
            )
            place = ("--grid", "64", "--block", "32", "place=int2[64]", "size=i32[64]")
            command = self.launch("samples/clusters.ptx", "--cluster", str(width), *place, *checks)
            yield Step("geometry", f"clusters of {width}", command)
        for passing in ("array", "buffer"):
            command = self.launch(
                "samples/grid_sync.ptx", "--cooperative", "--grid", "264", "--block", "256",
                *SYNC, "n=i32:1000000", "--params", passing,
                "--check", "y == x / sum(x)", "--check", "sum(y) == 1", "--rtol", "1e-4",
            )  # fmt: skip
            yield Step("geometry", f"cooperative grid of 264 blocks, {passing}", command)
        command = self.launch(
            "samples/reverse.ptx", "-k", "reverse", "--block", "256", "--smem", "200Ki",
            "data=i32[256]:iota", "--check", "data == old(data)[::-1]",
        )  # fmt: skip
        yield Step("geometry", "200 KiB of dynamic shared memory", command)
        for option in (
            ("--carveout", "50"),
            ("--func-cache", "l1"),
            ("--priority", "-5"),
            ("--context", "new", "--ctx-flags", "spin,map-host", "--cache-config", "shared"),
            ("--limit", "stack=8Ki", "--limit", "malloc-heap=64Mi", "--limit", "printf-fifo=1Mi"),
        ):
            command = self.launch("samples/saxpy.ptx", "--threads", "1000000", *SAXPY,
                                  "n=i32:1000000", *Y, *option)  # fmt: skip
            yield Step("geometry", " ".join(option), command)

    def refusals(self) -> Iterator[Step]:
        """The device's limit beside the request."""
        for name, args, says in (
            (
                "cooperative grid too large",
                ("samples/grid_sync.ptx", "--cooperative", "--grid", "100000", "--block", "256",
                 *SYNC, "n=i32:1000"),
                "resident blocks: 100000 requested, ",
            ),
            (
                "too much shared memory",
                ("samples/reverse.ptx", "-k", "reverse", "--threads", "256", "--smem", "300000",
                 "data=i32[256]:iota"),
                "300000 requested, ",
            ),
            (
                "cluster too large",
                ("samples/clusters.ptx", "--grid", "64", "--cluster", "32", "place=int2[64]",
                 "size=i32[64]"),
                "blocks per cluster: 32 requested, ",
            ),
            (
                "grid no multiple of the cluster",
                ("samples/clusters.ptx", "--grid", "63", "--cluster", "4", "place=int2[64]",
                 "size=i32[64]"),
                "grid.x: 63 is not a multiple of the cluster's 4",
            ),
            (
                "block too large",
                ("samples/saxpy.ptx", "--block", "2048", *SAXPY, "n=i32:1000"),
                "threads per block: 2048 requested, the limit is 1024",
            ),
        ):  # fmt: skip
            yield Step("refusal", name, self.launch(*args), exit_code=5, says=says)

    def timing(self) -> Iterator[Step]:
        """Repeats, their table, and a bare launch under a sanitizer."""
        saxpy = ("samples/saxpy.ptx", "--threads", "67108864", *SAXPY, "n=i32:67108864")
        repeat = ("--repeat", "200", "--bytes", "12*n", "--flops", "2*n")
        yield Step("timing", "saxpy over 2^26", self.launch(*saxpy, *repeat, *Y), says="GB/s")
        yield Step("timing", "the same, hot", self.launch(*saxpy, *repeat, "--hot"), says="GB/s")
        bare = self.launch("samples/saxpy.ptx", "--threads", "1000", *SAXPY, "n=i32:1000")
        sanitized = ("compute-sanitizer", "--target-processes", "all", *bare, "--profile")
        # cuda-bindings ask a driver for functions of newer ones; all other calls are ours.
        failed_calls = r"Invalid|API call to (?!cuGetProcAddress)"
        yield Step("timing", "--profile in compute-sanitizer", sanitized, says="ERROR SUMMARY",
                   never=failed_calls)  # fmt: skip

    def others(self) -> Iterator[Step]:
        """Cubins that others made."""
        for maker in ("nvrtc", "cupy"):
            cubin = str(self.folder / f"{maker}.cubin")
            yield self.tool("cubin", f"made by {maker}", "-m", "tools.hardware.other_cubins",
                            maker, cubin, "--arch", self.architecture)  # fmt: skip
            if os.path.exists(cubin):
                command = self.launch(cubin, "--threads", "1000000", *SAXPY, "n=i32:1000000", *Y)
                yield Step("cubin", f"launched, made by {maker}", command)

    def triton(self) -> Iterator[Step]:
        """Kernels from Triton's cache."""
        cache = self.folder / "triton"
        number = self.architecture.removeprefix("sm_")
        yield self.tool("triton", "compiled into its cache", "-m", "tools.hardware.triton_kernels",
                        str(cache), "--arch", number)  # fmt: skip
        launches = {
            "softmax": (
                *("--grid", "4096", "y=f32[4096,1000]", "x=f32[4096,1000]:randn"),
                *("i32:1000", "i32:1000"),
                *("--check", "y == exp(x) / sum(exp(x), axis=1, keepdims=true)"),
            ),
            "matmul": (
                *(
                    "--grid",
                    "8,8",
                    "c=f32[500,512]",
                    "a=f16[500,256]:randn",
                    "b=f16[256,512]:randn",
                ),
                *("i32:500", "i32:512", "i32:256", "--check", "c == a @ b"),
            ),
            "tiles": (
                *("--grid", "4,2", "y=f32[128,64]", "x=f32[128,64]:iota", "i32:128", "i32:64"),
                *("--check", "y == x"),
            ),
            "clustered": (
                *("--grid", "4", "y=f32[2000]", "x=f32[2000]:iota", "i32:2000"),
                *("--check", "y == x + 1"),
            ),
        }
        for name, args in launches.items():
            for cubin in cache.glob(f"*/{name}.cubin"):
                yield Step("triton", f"{name} from the cache", self.launch(str(cubin), *args))

    def references(self) -> Iterator[Step]:
        """Every sample that is right on both, compared with the emulated device."""
        for sample in samples():
            if "locked_count" in sample.arguments:  # who came last depends on the scheduler
                continue
            if sample.exit_on_gpu == sample.exit_on_cpu == 0 and sample.arguments[0] == "launch":
                arguments = sample.on_device(self.device).arguments
                command = (self.python, "-m", "cudarun", *arguments, "--reference", "cpu")
                yield Step("reference", sample.name, command)
