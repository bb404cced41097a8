"""``--repeat`` and ``--profile`` of ``cudarun launch`` on the emulated device."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from cudarun.model.runs import TimingResult
from cudarun.report.timing_tables import show_timing

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")


def test_the_last_run_is_as_the_first(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--repeat", "4", "--warmup", "1", "--check", "y == a*x + old(y)")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[1] == "4 runs after 1, wall time of the emulation"
    columns = ["min", "median", "mean", "deviation", "p5", "p25", "p75", "p95", "p99"]
    assert lines[2].split() == columns
    assert lines[-1].startswith("PASS y == a*x + old(y)")


def test_what_has_no_initialiser_is_poisoned_again(run: Run) -> None:
    ran = run(*SAXPY, "a=f32:2", "x=f32[n]:ones", "y=f32[200]", "n=i32:100", "--repeat", "3", "-q")
    assert "note y: 100 of 200 elements were never written" in ran.out


def test_an_emulated_device_has_no_rates(run: Run) -> None:
    words = (*SAXPY, *ARGUMENTS, "--repeat", "2", "--bytes", "12*n", "--flops", "2*n")
    ran = run(*words)
    assert ran.code == 0, ran.err
    assert "/s (median)" not in ran.out
    assert "note GB/s and GFLOP/s are not reported: emulated" in ran.out
    timing = run(*words, "--json").document["outcomes"][0]["result"]["timing"]
    assert (timing["gigabytes_per_second"], timing["gigaflops_per_second"]) == (None, None)
    assert timing["rates_left_out"]


@pytest.mark.parametrize("option", [("--bytes", "12*n"), ("--flops", "2*n")])
def test_a_rate_that_was_not_requested_is_not_missed(run: Run, option: tuple[str, str]) -> None:
    assert "GB/s and" not in run(*SAXPY, *ARGUMENTS, "--repeat", "2").out
    assert "GB/s and" in run(*SAXPY, *ARGUMENTS, "--repeat", "2", *option).out


def test_samples_are_in_the_document(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--repeat", "5", "--warmup", "0", "--hot", "--json")
    [outcome] = ran.document["outcomes"]
    timing = outcome["result"]["timing"]
    assert timing["clock"] == "wall time of the emulation"
    assert len(timing["samples"]) == 5
    assert timing["minimum"] == min(timing["samples"])
    assert (timing["warmup"], timing["flushed_bytes"], timing["throttled"]) == (0, 0, None)
    assert set(timing["percentiles"]) == {"5", "25", "75", "95", "99"}
    assert outcome["result"]["milliseconds"] == timing["median"]


def test_a_launch_that_is_not_repeated_has_no_timing(run: Run) -> None:
    [outcome] = run(*SAXPY, *ARGUMENTS, "--json").document["outcomes"]
    assert outcome["result"]["timing"] is None


RANDOM = ("a=f32:2", "x=f32[n]:rand", "y=f32[200]", "n=i32:100")
REPEAT = ("--repeat", "5", "--warmup", "1", "--input-sets", "3", "--seed", "4")


def test_the_last_run_of_each_input_set_is_checked(run: Run) -> None:
    ran = run(*SAXPY, *RANDOM, *REPEAT, "--check", "x == old(x)", "--print", "x[:2]", "--json")
    assert ran.code == 0, ran.err
    result = ran.document["outcomes"][0]["result"]
    assert result["input_sets"] == [{"seed": seed, "failures": []} for seed in (4, 5, 6)]
    assert len(result["timing"]["samples"]) == 5
    alone = run(*SAXPY, *RANDOM, "--seed", "4", "--print", "x[:2]", "--json").document
    assert result["prints"] == alone["outcomes"][0]["result"]["prints"]
    never_written = {each["name"]: each["never_written"] for each in result["buffers"]}
    assert never_written == {"x": None, "y": 100}


def test_a_failing_input_set_is_named(run: Run) -> None:
    x = run(*SAXPY, *RANDOM, "--seed", "5", "--print", "x[0]", "--json").document
    first = x["outcomes"][0]["result"]["prints"][0]["value"]
    ran = run(*SAXPY, *RANDOM, *REPEAT, "--check", f"x[0] != {first}", "-q")
    assert ran.code == 1
    assert f"FAIL x[0] != {first} with seed 5" in ran.out
    assert "\nFAIL 1 of 3 input sets: seed 5\n" in ran.out


def test_a_fault_while_timing_is_a_fault(run: Run) -> None:
    ran = run(
        "launch", "samples/out_of_bounds.ptx", "-k", "far_past", "-d", "cpu", "--grid", "2",
        "--block", "64", "x=i32[n]:zeros", "n=i32:100", "--repeat", "3",
    )  # fmt: skip
    assert ran.code == 5
    assert "CUDA_ERROR_ILLEGAL_ADDRESS, 700" in ran.err


def test_a_profiled_launch_copies_nothing_back(run: Run) -> None:
    args = (*SAXPY, "a=f32:2", "x=f32[n]:iota", "y=f32[n]", "n=i32:100", "--trace")
    bare, usual = run(*args, "--profile"), run(*args)
    assert (bare.code, usual.code) == (0, 0)
    assert "cuMemcpyDtoH(" not in bare.err
    assert ("cuMemsetD32Async(" in bare.err, "cuMemsetD32Async(" in usual.err) == (False, True)
    assert bare.err.count("cuLaunchKernel(") == 1


@pytest.mark.parametrize(("width", "rows"), [(80, 2), (90, 1)])
def test_the_figures_fit_the_terminal(width: int, rows: int) -> None:
    timing = TimingResult(
        clock="CUDA events", samples=(123.4, 456.7), warmup=1, flushed_bytes=0, minimum=123.4,
        median=234.5, mean=345.6, deviation=111.2,
        percentiles=dict.fromkeys(("5", "25", "75", "95", "99"), 456.7), noisy=False,
        throttled=None, gigabytes_per_second=None, gigaflops_per_second=None,
    )  # fmt: skip
    text = io.StringIO()
    show_timing(timing, Console(file=text, width=width))
    shown = text.getvalue().splitlines()
    assert len(shown) == 1 + 2 * rows
    assert "deviation" in shown[1]
    assert shown[-1].endswith("456.7 ms")
    assert all(len(line) <= width for line in shown)
