"""Geometry and attributes of ``cudarun launch``: what reaches the driver, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

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
    assert ran.out.splitlines()[0] == "where_am_i  grid 64  block 32  cluster 4×2  cooperative"


# --- what the device refuses ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (
            (*SYNC, "--cooperative", "--grid", "5000"),
            "blocks resident at once: 5000 asked for, 2112 is the limit (16 on each of 132 "
            "multiprocessors)",
        ),
        (
            (*CLUSTERS, "--grid", "30", "--cluster", "4"),
            "grid.x: 30 is no multiple of the cluster's 4",
        ),
        (
            (*CLUSTERS, "--grid", "64", "--cluster", "32"),
            "blocks per cluster: 32 asked for, 8 work on every device with clusters and 16 are "
            "the limit",
        ),
        (
            ("launch", "samples/reverse.ptx", "-k", "reverse", "-d", "cpu", "--smem", "300000",
             "data=i32[256]:iota"),
            "shared memory in bytes (0 static + 300000 dynamic): 300000 asked for, 232448 is the "
            "limit",
        ),
        (
            (*SYNC, "--grid", "1,70000,70000"),
            "grid.y: 70000 asked for, 65535 is the limit\n"
            "grid.z: 70000 asked for, 65535 is the limit",
        ),
        (
            ("launch", "samples/reverse.ptx", "-k", "reverse", "-d", "cpu", "--block", "1,1,65",
             "data=i32[256]:iota"),
            "block.z: 65 asked for, 64 is the limit",
        ),
    ],
)  # fmt: skip
def test_the_limit_stands_beside_the_request(run: Run, args: tuple[str, ...], hint: str) -> None:
    ran = run(*args)
    assert ran.code == 5
    assert ran.out == ""
    assert ran.err.endswith(f"\nhint: {hint}\n")


def test_a_priority_that_the_device_has_not(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--priority", "-9")
    assert ran.code == 2
    assert ran.err.startswith("error: --priority -9: device cpu has 0 (last) to -5 (first)\n")


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--carveout", "101"), "101 is more than 100"),
        (("--func-cache", "l3"), "'l3' is not one of 'none', 'shared', 'l1', 'equal'"),
        (("--cluster", "0"), "'0': a dimension is 1 to 4294967295"),
        (("--reference", "cpu,0"), "'cpu,0' is more than one device"),
        (("--reference", "all"), "'all' is more than one device"),
    ],
)
def test_refused_before_any_driver_is_touched(run: Run, option: tuple[str, str], says: str) -> None:
    ran = run(*SAXPY, *ARGUMENTS, *option, "--trace")
    assert ran.code == 2
    assert ran.err == (
        f"error: invalid value for '{option[0]}': {says}\n"
        "hint: 'cudarun launch --help' shows how it is used\n"
    )
