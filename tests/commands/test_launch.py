"""``cudarun launch`` on the emulated device: results, reports, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.commands.notes import BY_ORDER

if TYPE_CHECKING:
    from tests.commands.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")


# --- results -------------------------------------------------------------------------------------


def test_a_launch_that_holds(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--check", "y == a*x + 1", "--print", "y[:4]")
    assert ran.code == 0
    headline, printed, held = ran.out.splitlines()
    assert headline.startswith(
        "saxpy  grid 4 × block 32 = 128 threads (100 requested)  on cpu (cudarun emulated device)  "
    )
    assert headline.endswith(" ms")
    assert printed == "y[:4] = [1. 3. 5. 7.]"
    assert held == "PASS y == a*x + 1  (rtol 1e-05, atol 1e-06)"
    assert ran.err == BY_ORDER


def test_quiet_prints_what_was_asked_for(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "-q", "--print", "sum(y)")
    assert (ran.code, ran.out, ran.err) == (0, "sum(y) = 10000.0\n", "")


def test_a_wrong_answer_is_exit_code_1_with_the_first_differences(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "-q", "--check", "y == a*x + where(x == 3, 2, 1)")
    assert ran.code == 1
    assert ran.out == (
        "FAIL y == a*x + where(x == 3, 2, 1)  (rtol 1e-05, atol 1e-06)\n"
        "  1 of 100 elements mismatched; largest absolute error 1; largest relative error 0.125\n"
        "  [3]: got 7.0, expected 8.0\n"
    )


def test_json_is_one_document_with_everything(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--json", "--check", "y == a*x + 1", "--print", "y[:2]")
    assert (ran.code, ran.err) == (0, "")
    report = ran.document
    [outcome] = report.pop("outcomes")
    assert [each["label"] for each in report.pop("machine")["devices"]] == ["cpu"]
    assert report == {
        "schema": "cudarun/launch/1",
        "exit_code": 0,
        "error": None,
        "image": "samples/saxpy.ptx",
        "seed": None,
    }
    assert (outcome["device"], outcome["error"], outcome["output"]) == ("cpu", None, "")
    result = outcome["result"]
    assert result["kernel"] == "saxpy"
    assert (result["grid"], result["block"]) == ([4, 1, 1], [32, 1, 1])
    assert result["threads"] == [100, 1, 1]
    assert [(row["name"], row["offset"], row["size"]) for row in result["parameters"]] == [
        ("a", 0, 4),
        ("x", 8, 8),
        ("y", 16, 8),
        ("n", 24, 4),
    ]
    [check] = result["checks"]
    assert check == {
        "expression": "y == a*x + 1",
        "passed": True,
        "elements": 100,
        "mismatches": 0,
        "max_abs_error": 0.0,
        "max_rel_error": 0.0,
        "rtol": 1e-05,
        "atol": 1e-06,
        "first": [],
        "worst": None,
        "location": None,
        "both_nan": 0,
        "long_sum": None,
        "is_empty": False,
        "evaluated": True,
        "step": None,
    }
    assert result["prints"] == [
        {"expression": "y[:2]", "text": "[1. 3.]", "value": [1.0, 3.0], "step": None}
    ]


def test_nan_in_json_is_a_string(run: Run) -> None:
    ran = run(*SAXPY, "a=f32:nan", *ARGUMENTS[1:], "--json", "--print", "y[0]")
    [outcome] = ran.document["outcomes"]
    assert outcome["result"]["prints"][0]["value"] == "NaN"


@pytest.mark.parametrize("passing", ["array", "buffer"])
@pytest.mark.parametrize("context", ["primary", "new"])
def test_both_ways_to_pass_parameters_in_both_kinds_of_context(
    run: Run, passing: str, context: str
) -> None:
    ran = run(
        *SAXPY, *ARGUMENTS, "--params", passing, "--context", context, "--check", "y == a*x + 1"
    )
    assert ran.code == 0, ran.err


def test_elements_never_written_are_counted(run: Run) -> None:
    ran = run(*SAXPY, "a=f32:2", "x=f32[n]:ones", "y=f32[200]", "n=i32:100", "-q")
    assert (ran.code, ran.out) == (0, "note y: 100 of 200 elements were never written\n")


SCALE = ("launch", "samples/scale.ptx", "-k", "scale<float>", "--threads", "4")
NOTE = "x is float* in the kernel, got i32[4]"


def test_a_buffer_of_another_type_is_refused_or_allowed_with_a_note(run: Run) -> None:
    """Once, although every device says it."""
    args = (*SCALE, "x=i32[4]:ones", "1", "4")
    ran = run(*args, "-d", "cpu")
    assert (ran.code, ran.out) == (2, "")
    assert NOTE in ran.err
    assert "hint: pass 'x=f32[4]:ones'\nor pass the data unchanged with --allow" in ran.err
    args = (*args, "--allow-type-mismatch")
    ran = run(*args, "-d", "cpu:all", env={"CUDARUN_CPU_DEVICES": "2"})
    assert (ran.code, ran.err) == (0, f"{BY_ORDER}note: {NOTE}\n")
    ran = run(*args, "-d", "cpu", "-q")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = run(*args, "-d", "cpu", "--json")
    [outcome] = ran.document["outcomes"]
    _, note = outcome["result"]["diagnostics"]
    assert (ran.code, ran.err) == (0, "")
    assert (note["tool"], note["severity"], note["message"]) == ("cudarun", "note", NOTE)


def test_the_note_on_a_buffer_of_a_launch_that_failed(run: Run) -> None:
    args = (*SCALE, "-d", "cpu", "x=u32[4]:ones", "1", "9", "--threads", "9")
    args = (*args, "--allow-type-mismatch")
    note = NOTE.replace("i32", "u32")
    ran = run(*args)
    assert ran.code == 5
    assert ran.err.startswith(f"{BY_ORDER}note: {note}\nerror: ")
    [outcome] = run(*args, "--json").document["outcomes"]
    assert [each["message"] for each in outcome["error"]["warnings"]][1:] == [note]


def test_types_are_compared_in_a_dry_run(run: Run) -> None:
    args = (*SCALE, "--dry-run", "x=i32[4]:ones", "1", "4")
    assert run(*args).code == 2
    args = (*args, "--allow-type-mismatch")
    assert run(*args).err == f"{BY_ORDER}note: {NOTE}\n"
    assert run(*args, "--json").document["diagnostics"][1]["message"] == NOTE


def test_outputs_are_saved_also_when_a_check_fails(run: Run, tmp_path: Path) -> None:
    ran = run(
        *SAXPY, *ARGUMENTS, "--check", "y == 0",
        "--save", "y=y.npy", "--save", "x=x.bin",
    )  # fmt: skip
    assert ran.code == 1
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.arange(100) * 2 + 1)
    assert (tmp_path / "x.bin").read_bytes() == np.arange(100, dtype=np.float32).tobytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["samples", "x.bin", "y.npy"]


def test_force_replaces_an_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_text("old")
    ran = run(*SAXPY, *ARGUMENTS, "--save", "y=y.npy", "--force")
    assert ran.code == 0
    assert np.load(tmp_path / "y.npy")[1] == 3


def test_a_saved_buffer_is_an_argument_again(run: Run) -> None:
    run(*SAXPY, *ARGUMENTS, "--save", "y=y.npy")
    ran = run(
        *SAXPY, "a=f32:1", "x=@y.npy", "y=f32[n]:zeros", "n=i32:100", "-q",
        "--check", 'y == load("y.npy")', "--check", "y == x",
    )  # fmt: skip
    assert ran.code == 0, ran.err


def test_a_seed_makes_random_arguments_repeatable(run: Run) -> None:
    args = ("a=f32:1", "x=f32[n]:rand", "y=f32[n]:zeros", "n=i32:100", "--print", "y[:3]")
    first, second = (run(*SAXPY, *args, "-q", "--seed", "7").out for _ in range(2))
    assert first == second
    assert run(*SAXPY, *args, "--seed", "7").out.endswith(first)
    zero = run(*SAXPY, *args, "-q", "--seed", "0").out
    assert run(*SAXPY, *args, "-q").out == zero != first
    chosen, shown = run(*SAXPY, *args, "--seed", "random").out.splitlines()[::2]
    seed = chosen.split()[1]
    assert chosen == f"seed {seed}  (--seed {seed} repeats it)"
    assert run(*SAXPY, *args, "-q", "--seed", seed).out.splitlines() == [shown]


def test_several_devices_are_reported_in_the_order_asked_for(run: Run) -> None:
    for together in ((), ("--together",)):
        ran = run(
            *SAXPY[:2], "-d", "cpu:1,cpu:0", *SAXPY[4:], *ARGUMENTS, *together, "--json",
            env={"CUDARUN_CPU_DEVICES": "2"},
        )  # fmt: skip
        assert [outcome["device"] for outcome in ran.document["outcomes"]] == ["cpu:1", "cpu"]
        assert ran.code == 0


def test_together_loads_the_library_once(run: Run) -> None:
    ran = run(
        *SAXPY[:2], "-d", "cpu:all", *SAXPY[4:], *ARGUMENTS, "--together", "--trace",
        env={"CUDARUN_CPU_DEVICES": "2"},
    )  # fmt: skip
    calls = [line.partition("(")[0] for line in ran.err.splitlines()]
    assert calls.count("cuLibraryLoadData") == 1
    assert calls.count("cuLaunchKernel") == 2
    assert calls.index("cuLibraryLoadData") < calls.index("cuDevicePrimaryCtxRetain")


def test_trace_shows_each_call_with_its_result_and_time(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--trace", "-q")
    first = ran.err.splitlines()[0]
    assert first.startswith("cuInit(0) = CUDA_SUCCESS <")
    assert first.endswith(" µs>")
    assert "cuCtxSynchronize() = CUDA_SUCCESS <" in ran.err


def test_printf_goes_to_stdout_or_into_the_document(run: Run) -> None:
    args = ("launch", "samples/hello.ptx", "-d", "cpu", "--block", "2", "2026", "1.5")
    said = "".join(
        f"hello from block 0, thread {i}: the year is 2026, the version 1.5\n" for i in range(2)
    )
    assert run(*args, "-q").out == said
    [outcome] = run(*args, "--json").document["outcomes"]
    assert outcome["output"] == said


def test_a_dry_run_shows_the_layout_and_needs_no_device(run: Run) -> None:
    ran = run(*SAXPY[:2], *SAXPY[4:], *ARGUMENTS, "--dry-run")
    assert (ran.code, ran.err) == (0, BY_ORDER)
    assert ran.out.splitlines() == [
        "saxpy  grid 4 × block 32 = 128 threads (100 requested)",
        "offset  size  align  padding  name  type  value",
        "0       4     4               a     f32   2",
        "8       8     8      4        x     f32*  f32[100]:iota",
        "16      8     8               y     f32*  f32[100]:ones",
        "24      4     4               n     i32   100",
        "parameter buffer: 28 bytes",
    ]


def test_the_image_can_come_from_stdin(run: Run) -> None:
    ran = run(
        "launch", "-", *SAXPY[2:], *ARGUMENTS, "-q", "--check", "y == a*x + 1",
        stdin=(ROOT / "samples" / "saxpy.ptx").read_bytes(),
    )  # fmt: skip
    assert ran.code == 0, ran.err


def test_two_buffers_cannot_be_saved_to_one_file(run: Run, tmp_path: Path) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--save", "y=z.npy", "--save", "x=z.npy")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: --save: z.npy is also written by --save\n"
    assert not (tmp_path / "z.npy").exists()


# --- what the kernel and the device refuse -------------------------------------------------------


def test_broken_ptx_comes_with_the_compilers_log(run: Run, tmp_path: Path) -> None:
    text = (ROOT / "samples" / "saxpy.ptx").read_text().replace("fma.rn.f32", "fma.rn.f31")
    (tmp_path / "broken.ptx").write_text(text)
    ran = run("launch", "broken.ptx", *SAXPY[2:], *ARGUMENTS)
    assert ran.code == 4
    assert ran.err.startswith("error: broken.ptx: ")
    assert "broken.ptx:51:8: error: " in ran.err
    assert "    51 |  fma.rn.f31" in ran.err


def test_a_truncated_cubin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short.cubin").write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 11 + b"\xbe\0")
    ran = run("launch", "short.cubin", *SAXPY[2:], *ARGUMENTS)
    assert ran.code == 4
    assert ran.err == "error: short.cubin: not a cubin: the file is truncated in the ELF header\n"


def test_unimplemented_instructions_are_all_named(run: Run, tmp_path: Path) -> None:
    text = (ROOT / "samples" / "saxpy.ptx").read_text()
    (tmp_path / "odd.ptx").write_text(
        text.replace(
            "ret;",
            "multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r1;\n"
            "\ttcgen05.fence::before_thread_sync;\n\tret;",
        )
    )
    ran = run("launch", "odd.ptx", *SAXPY[2:], *ARGUMENTS)
    assert ran.code == 4
    assert "multimem.red" in ran.err
    assert "tcgen05.fence" in ran.err
