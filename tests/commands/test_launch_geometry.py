"""Geometry and attributes of ``cudarun launch``: what reaches the driver, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Ran, Run

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100", "--check", "y == a*x + 1")
SYNC = (
    *("launch", "samples/grid_sync.ptx", "-d", "cpu", "--block", "64"),
    *("x=f32[n]:ones", "y=f32[n]", "total=f32[1]:zeros", "arrived=u32[1]:zeros", "n=i32:1000"),
)
CLUSTERS = (
    *("launch", "samples/clusters.ptx", "-d", "cpu", "--block", "32"),
    *("place=int2[64]", "size=i32[64]"),
)


# --- what reaches the driver ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        (("--carveout", "50"), ["cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY"]),
        (("--func-cache", "l1"), ["cuKernelSetCacheConfig(", "CU_FUNC_CACHE_PREFER_L1"]),
        (("--priority", "-3"), ["cuStreamCreateWithPriority(0, -3)"]),
        (("--context", "new"), ["cuCtxCreate("]),
        (("--ctx-flags", "spin,map-host"), ["cuDevicePrimaryCtxSetFlags(0, 9)"]),
        (("--limit", "stack=4Ki"), ["cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096)"]),
        (("--limit", "malloc-heap=1Mi"), ["cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0x100000)"]),
        (("--cache-config", "shared"), ["cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED)"]),
    ],
)
def test_the_driver_is_told(run: Run, options: tuple[str, ...], calls: list[str]) -> None:
    ran = run(*SAXPY, *ARGUMENTS, *options, "--trace")
    assert ran.code == 0, ran.err
    for call in calls:
        assert call in ran.err
    assert ran.err.index(calls[0]) < ran.err.index("cuLaunchKernel(")


def test_nothing_is_said_that_was_not_asked_for(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--trace")
    assert ran.code == 0
    for call in ("cuKernelSet", "cuStreamCreate", "cuCtxSetLimit", "cuLaunchKernelEx"):
        assert call not in ran.err


def test_a_flag_and_a_limit_also_of_a_context_of_its_own(run: Run) -> None:
    ran = run(
        *SAXPY, *ARGUMENTS, "--context", "new", "--ctx-flags", "yield", "--limit", "stack=2048",
        "--trace",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "cuCtxCreate(None, 2, 0)" in ran.err
    assert "cuDevicePrimaryCtxRetain" not in ran.err
    assert ran.err.index("cuCtxCreate") < ran.err.index("cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048)")


def test_much_dynamic_shared_memory_is_opted_into(run: Run) -> None:
    ran = run(
        "launch", "samples/reverse.ptx", "-k", "reverse", "-d", "cpu", "--block", "256",
        "--smem", "200Ki", "data=i32[256]:iota", "--check", "data == old(data)[::-1]", "--trace",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    attribute = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    assert f"cuKernelSetAttribute({attribute}, 0x32000," in ran.err


def test_a_cooperative_grid_waits_for_itself(run: Run) -> None:
    for passing in ("array", "buffer"):
        ran = run(*SYNC, "--cooperative", "--grid", "8", "--params", passing, "--check", "y*n == 1")
        assert ran.code == 0, ran.err
        assert "  cooperative  " in ran.out


def test_clusters_are_seen_by_the_kernel(run: Run) -> None:
    for passing in ("array", "buffer"):
        ran = run(
            *CLUSTERS, "--grid", "4,4,4", "--cluster", "2,2,2", "--params", passing, "--json",
            "--check", "size == 8",
        )  # fmt: skip
        [outcome] = ran.document["outcomes"]
        assert outcome["result"]["cluster"] == [2, 2, 2]
        assert outcome["result"]["cooperative"] is False


def test_a_cluster_that_is_not_portable(run: Run) -> None:
    ran = run(*CLUSTERS, "--grid", "64", "--cluster", "16", "--check", "size == 16", "--trace")
    assert ran.code == 0
    allowed = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
    assert ran.err.index(f"cuKernelSetAttribute({allowed}, 1,") < ran.err.index("cuLaunchKernelEx")


def test_a_dry_run_shows_cluster_and_cooperation(run: Run) -> None:
    ran = run(*CLUSTERS, "--grid", "64", "--cluster", "4,2", "--cooperative", "--dry-run")
    assert ran.out.splitlines()[0] == (
        "where_am_i  grid 64 × block 32 = 2048 threads  cluster 4×2  cooperative"
    )


# --- the geometry from the arguments and the kernel -----------------------------------------------

UNGUARDED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out, .param .u32 n, .param .u32 m) BOUNDS {
    .reg .b32 %r<10>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %ctaid.x;  mov.u32 %r2, %ntid.x;  mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""
COUNT = ("launch", "count.ptx", "-d", "cpu", "out=u32[n]", "n=50", "m=7")
DRY = ("launch", "count.ptx", "--dry-run", "null", "n=50", "m=7")


@pytest.fixture
def count(tmp_path: Path) -> Callable[[str], None]:
    """Write ``count.ptx``, which has no bounds guard, with performance-tuning directives."""
    return lambda bounds: (
        (tmp_path / "count.ptx").write_text(UNGUARDED.replace("BOUNDS", bounds)) and None
    )


def headline(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, "")
    return ran.out.splitlines()[0]


def test_as_many_threads_as_requested(run: Run, count: Callable[[str], None]) -> None:
    count("")
    ran = run(*COUNT, "--threads", "50", "--check", "out == arange(50)")
    assert headline(ran).startswith("count  grid 1 × block 50 = 50 threads  on cpu ")


@pytest.mark.parametrize(
    ("bounds", "options", "geometry"),
    [
        ("", ("--threads", "1M"), "grid 3907 × block 256 = 1000192 threads (1000000 requested)"),
        ("", ("--threads", "256,1"), "grid 16 × block 16 = 256 threads"),
        ("", ("--threads", "100,50"), "grid 7×4 × block 16×16 = 7168 threads (100×50 requested)"),
        ("", ("--threads", "3,1000"), "grid 1×63 × block 3×16 = 3024 threads (3×1000 requested)"),
        ("", ("--threads", "9,9,9"), "grid 2×2×3 × block 8×8×4 = 3072 threads (9×9×9 requested)"),
        ("", ("--threads", "2,1,9"), "grid 1×1×3 × block 2×1×4 = 24 threads (2×1×9 requested)"),
        ("", ("--block", "8"), "grid 1 × block 8 = 8 threads"),
        ("", ("--grid", "1"), "grid 1 × block 1 = 1 thread"),
        ("", ("--grid", "1", "--block", "1"), "grid 1 × block 1 = 1 thread"),
        (".reqntid 32, 2", ("--threads", "50"), "grid 2 × block 32×2 = 128 threads (50 requested)"),
        (".reqntid 32, 2", ("--grid", "3"), "grid 3 × block 32×2 = 192 threads"),
        (".maxntid 128", ("--threads", "1K"), "grid 8 × block 128 = 1024 threads (1000 requested)"),
        (".maxntid 1024", ("--threads", "512"), "grid 2 × block 256 = 512 threads"),
        (
            ".maxntid 8, 12",
            ("--threads", "64,64"),
            "grid 4×11 × block 16×6 = 4224 threads (64×64 requested)",
        ),
        (".maxntid 4", ("--threads", "8,8,4"), "grid 2×8×4 × block 4 = 256 threads"),
    ],
)  # fmt: skip
def test_the_default_block(
    run: Run, count: Callable[[str], None], bounds: str, options: tuple[str, ...], geometry: str
) -> None:
    count(bounds)
    assert headline(run(*DRY, *options)) == f"count  {geometry}"


@pytest.mark.parametrize(
    ("bounds", "options", "blocks"),
    [
        ("", ("--grid", "4x2"), 8),
        ("", ("--grid", "8", "--block", "1"), 0),
        ("", ("--grid", "1"), 0),
        ("", ("--threads", "8"), 0),
        (".reqntid 1", ("--grid", "8"), 0),
    ],
)
def test_blocks_of_one_thread_are_noted(
    run: Run, count: Callable[[str], None], bounds: str, options: tuple[str, ...], blocks: int
) -> None:
    count(bounds)
    expected = [f"--grid without --block: each of the {blocks} blocks has 1 thread"][: blocks or 0]
    for dry in ((), ("--dry-run",)):
        document = run(*COUNT, *options, *dry, "--json").document
        result = document if dry else document["outcomes"][0]["result"]
        notes = [each["message"] for each in result["diagnostics"]]
        assert [note for note in notes if "--block" in note] == expected
        assert result["block"] == [1 if options[0] == "--grid" else 8, 1, 1]


@pytest.mark.parametrize(
    ("options", "geometry"),
    [
        (("--threads", "n"), "grid 1 × block 50 = 50 threads"),
        (("--threads", "n*8,m"), "grid 25 × block 16×7 = 2800 threads"),
        (("--grid", "(n+31)//32", "--block", "32"), "grid 2 × block 32 = 64 threads"),
        (("--grid", "4x2", "--block", "8 x 8"), "grid 4×2 × block 8×8 = 512 threads"),
        (("--grid", "0x10", "--block", "2x3x1"), "grid 16 × block 2×3 = 96 threads"),
        (("--block", "n", "--smem", "256*4"), "grid 1 × block 50 = 50 threads  shared 1024 B"),
        (("--block", "32", "--smem", "n*m*4"), "grid 1 × block 32 = 32 threads  shared 1400 B"),
        (
            ("--grid", "n*2", "--block", "1", "--cluster", "m-5"),
            "grid 100 × block 1 = 100 threads  cluster 2",
        ),
    ],
)
def test_expressions_over_the_arguments(
    run: Run,
    count: Callable[[str], None],
    tmp_path: Path,
    options: tuple[str, ...],
    geometry: str,
) -> None:
    count("")
    assert headline(run(*DRY, *options)) == f"count  {geometry}"
    keys = [f"{name[2:]} = '{value}'" for name, value in pairwise(options) if name[:2] == "--"]
    lines = ["[[launch]]", "image = 'count.ptx'", "args = ['u32[4Ki]', 'n=50', 'm=7']", *keys]
    (tmp_path / "cases.toml").write_text("\n".join(lines))
    [case] = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json").document["cases"]
    launched = run(*COUNT[:4], "u32[4Ki]", *COUNT[5:], *options, "--json").document
    for member in ("grid", "block", "threads", "shared_bytes", "cluster"):
        assert case["result"][member] == launched["outcomes"][0]["result"][member]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("out=u32[n]", "50", "7"), "--threads n for a thread per element of out, u32[50]"),
        (
            ("u32[2*n,m]", "n=50", "m=7"),
            "--threads 'm,2*n' for a thread per element of out, u32[100,7]",
        ),
        (("u32[2,3,4,5]", "1", "7"), "--threads 120 for a thread per element of out, u32[2,3,4,5]"),
        (("u32[0]", "50", "7"), "--grid 1 --block 1 for a single thread"),
        (("null", "50", "7"), "--grid 1 --block 1 for a single thread"),
    ],
)  # fmt: skip
def test_no_geometry_is_refused(
    run: Run, count: Callable[[str], None], arguments: tuple[str, ...], hint: str
) -> None:
    count("")
    for dry in ((), ("--dry-run",)):
        ran = run(*COUNT[:4], *arguments, *dry)
        assert (ran.code, ran.out) == (2, "")
        lines = ran.err.splitlines()
        assert lines[0] == "error: launch: neither --threads nor --grid nor --block is given"
        assert lines[-1] == f"hint: add {hint}"


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--grid", "k", "'k': unknown integer argument 'k'; the integer arguments are: n, m"),
        ("--threads", "n-50", "'n-50' is 0: a dimension must be 1 to 4294967295"),
        ("--block", "m-n", "'m-n' is -43: a dimension must be 1 to 4294967295"),
        ("--grid", "n//(m-7)", "'n//(m-7)': 50 // 0: division by zero"),
        ("--smem", "m-n", "'m-n' is -43: a size must be 0 to 4294967295"),
        ("--smem", "4Gi", "'4Gi' is 4294967296: a size must be 0 to 4294967295"),
        ("--smem", "-1", "-1: a size must be 0 to 4294967295"),
        ("--smem", "4KX", "'4KX' is not a number\n  4KX\n  ^"),
        ("--smem", "1.5", "1.5 is not an integer in the expression '1.5'\n  1.5\n  ^"),
        ("--cluster", "0", "0: a dimension must be 1 to 4294967295"),
        ("--block", "4x0", "0: a dimension must be 1 to 4294967295"),
        ("--block", "4x3x2x1", "'4,3,2,1' has 4 dimensions; the maximum is 3"),
        (
            "--block",
            "n/2",
            "'/' does not produce an integer (use '//') in the dimension 'n/2'\n  n/2\n  ^",
        ),
        ("--block", "4,", "expected a value, found the end\n  4,\n    ^"),
        ("--block", "", "expected a value, found the end"),
    ],
)  # fmt: skip
def test_no_geometry_of_it(
    run: Run, count: Callable[[str], None], option: str, value: str, says: str
) -> None:
    count("")
    given = (option, value) if option in ("--threads", "--grid", "--block") else (
        *("--block", "1"), option, value
    )  # fmt: skip
    ran = run(*COUNT, *given)
    assert (ran.code, ran.out) == (2, "")
    assert f"{ran.err}\n".startswith(f"error: {option}: {says}\n")


# --- what the device refuses ---------------------------------------------------------------------
