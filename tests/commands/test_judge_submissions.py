"""``judge``: honest submissions pass, and each cheat breaks the rule that is meant for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudarun.session.compile import landlock
from cudarun.session.judge.observation import is_library_kernel
from cudarun.session.judge.parent import RuleBroken, refuse_too_fast
from tests.commands.conftest import Run
from tests.support.toolkit import without_driver
from tools.judge_submissions import FOLDER, STYLES, expected_rule, judged

CHEATS = FOLDER / "cheats"
SHORT = ("-d", "cpu", "--runs", "2")


def test_honest_submissions_pass() -> None:
    for style, name in (("gpumode", "matvec"), ("kernelbench", "linear_relu")):
        problem = FOLDER / style / f"{name}.py"
        [found] = judged(str(problem), [problem.parent / "honest" / problem.name], *SHORT)
        assert found.is_right, found


def test_cheats_break_the_rules_that_are_meant_for_them() -> None:
    names = (
        *("cached_by_address", "knows_seed", "busy_kernel", "exits", "lazy_output", "network"),
        *("patched_comparison", "patched_code", "reads_memory", "command_line", "late_process"),
    )
    paths = [CHEATS / f"{name}.py" for name in names]
    if not landlock.version():
        pytest.skip("the kernel has no Landlock")
    for found in judged("gpumode/center.py", paths, *SHORT):
        assert found.is_right, found


def test_a_submission_executes_what_is_asserted(run: Run) -> None:
    honest = FOLDER / "gpumode" / "honest" / "center.py"
    problem = ("judge", "--problem", str(FOLDER / "gpumode" / "center.py"), str(honest), *SHORT)
    ran = run(*problem, "--assert", "div.full.f32 >= 0", "--assert", "bank_conflicts == 0")
    assert ran.code == 0, ran.out
    ran = run(*problem, "--assert", "mma > 0")
    assert ran.code == 1
    assert "assert: mma > 0: got 0; executed: add, and, bra, cvt," in ran.out
    ran = run(*problem, "--assert", "mmma == 0")
    assert ran.code == 2
    assert ran.err.startswith("error: --assert: mmma is not an instruction of PTX\n")
    ran = run(*problem, "--assert", "registers > 0")
    assert (ran.code, ran.err) == (2, "error: --assert: judge counts instructions, on cpu only\n")


def test_a_submission_ends_at_its_limits() -> None:
    [found] = judged("gpumode/center.py", [CHEATS / "hangs.py"], *SHORT, "--timeout", "1")
    assert found.is_right, found
    limit = ("--max-memory", "1000")
    [found] = judged("gpumode/center.py", [CHEATS / "memory.py"], *SHORT, *limit)
    assert found.is_right, found


def test_the_set_is_complete() -> None:
    problems = [path for style in STYLES[:2] for path in (FOLDER / style).glob("*.py")]
    assert len(problems) >= 60
    assert all((path.parent / "honest" / path.name).is_file() for path in problems)
    cheats = [*CHEATS.glob("*.py")]
    assert len(cheats) >= 40
    assert {expected_rule(path) for path in cheats} == {
        *("error", "ended", "host", "inputs", "launches", "memory", "mismatch", "output"),
        *("patched", "timeout"),
    }


def test_the_hardware_has_a_floor() -> None:
    speeds = (1e12, 1e15)
    facts = {"sizes": [8 << 20, 4 << 20], "least": [None, None]}
    refuse_too_fast(9e-6, facts, speeds)
    with pytest.raises(RuleBroken, match=r"5 µs for 8.39e\+06 bytes, which need 8.39 µs"):
        refuse_too_fast(5e-6, facts, speeds)
    with pytest.raises(RuleBroken, match="operations"):
        refuse_too_fast(5e-6, {**facts, "least": [0, 1e10]}, speeds)


@pytest.mark.parametrize(
    ("kernel", "is_library"),
    [
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>", True),
        ("nvjet_sm90_hsh_64x32_64x16_2x4_h_bz_coopA_NNT", True),
        ("ampere_sgemm_128x64_tn", True),
        (
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
            False,
        ),
        (
            "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>",
            False,
        ),
        ("my_gemm_kernel(float*)", False),
        ("_matmul_kernel", False),
    ],
)
def test_kernels_of_libraries_have_names(kernel: str, *, is_library: bool) -> None:
    assert is_library_kernel(kernel) == is_library


@without_driver
@pytest.mark.parametrize("options", [(), ("--timeout", "0.001")])
def test_a_driver_that_does_not_work_is_no_fault_of_the_submission(
    run: Run, options: tuple[str, ...]
) -> None:
    problem, submission = FOLDER / "gpumode/center.py", FOLDER / "gpumode/honest/center.py"
    result = run("judge", "-d", "0", "--problem", str(problem), str(submission), *options)
    assert result.code == 3
    assert "in the confined process of a submission" in result.err


def test_a_pytorch_without_cuda_is_no_fault_of_the_submission(run: Run) -> None:
    torch = pytest.importorskip("torch")
    if torch.version.cuda is not None:
        pytest.skip("this PyTorch is built for CUDA")
    problem = FOLDER / "torch/biased_relu.py"
    result = run("judge", "-d", "cpu", "--problem", str(problem), str(problem))
    assert (result.code, "its PyTorch is built without CUDA" in result.err) == (3, True)


def test_what_is_no_problem(run: Run, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text("x = 1\n")
    (tmp_path / "a.py").write_text("def custom_kernel(data): return data\n")
    ran = run("judge", "--problem", "problem.py", "a.py", "-d", "cpu")
    assert "has neither Model nor generate_input" in ran.err
    ran = run("judge", "--problem", "missing.py", "a.py", "-d", "cpu")
    assert (ran.code, "missing.py: no such file" in ran.err) == (2, True)
    ran = run("judge", "--problem", "problem.py", "-d", "cpu")
    assert (ran.code, "missing SUBMISSION" in ran.err) == (2, True)
    ran = run("judge", "a.py", "-d", "cpu")
    assert (ran.code, "missing option '--problem'" in ran.err) == (2, True)


def test_the_cases_of_a_task_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    (tmp_path / "task/reference.py").write_text(
        "import numpy as np\n"
        "from task import SCALE\n"
        "def generate_input(size, kind, seed):\n"
        "    assert (size, kind) in ((3, 'a'), (5, 'b'))\n"
        "    return np.random.default_rng(seed).random(size, dtype=np.float32)\n"
        "def ref_kernel(data):\n    return data * np.float32(SCALE)\n"
        "def check_implementation(data, output):\n"
        "    good = np.array_equal(ref_kernel(data), output)\n"
        "    return good, '' if good else 'mismatch found'\n"
    )
    (tmp_path / "task/task.py").write_text("SCALE = 2\n")
    (tmp_path / "task/task.yml").write_text(
        'lang: "py"\ntests:\n  - {"size": 3, "kind": "a", "seed": 7}\n'
        "  # sizes\n  - {size: 5, kind: b, seed: 8}\nbenchmarks:\n  - {size: 9, kind: c, seed: 9}\n"
    )
    (tmp_path / "host.py").write_text(
        "from task import SCALE\n"
        "def custom_kernel(data):\n    return data * data.dtype.type(SCALE)\n"
    )
    (tmp_path / "wrong.py").write_text("def custom_kernel(data):\n    return data\n")
    ran = run("judge", "--problem", "task", "host.py", "wrong.py", *SHORT, "--seed", "5", "--json")
    host, wrong = json.loads(ran.out)["submissions"]
    assert [case["name"] for case in host["cases"]] == [
        "size=3, kind=a, seed=7", "size=5, kind=b, seed=8",
    ]  # fmt: skip
    assert (host["rule"], wrong["rule"]) == ("launches", "mismatch")
    assert wrong["message"] == "run 1: mismatch found"


def test_comparisons_by_type(run: Run, tmp_path: Path) -> None:
    """Integers are compared exactly, and complex numbers with the tolerance of their parts."""
    (tmp_path / "problem.py").write_text(
        "import collections\n"
        "import numpy as np\n"
        "Pair = collections.namedtuple('Pair', 'first second')  # as numpy.linalg.qr returns\n"
        "cases = [{'seed': 1}]\n"
        "def generate_input(seed): return np.array([1 << 60, (1 << 60) + seed])\n"
        "def ref_kernel(x): return Pair(x + 1, np.array([1 + 2j, np.nan], np.complex64))\n"
    )
    (tmp_path / "near.py").write_text(
        "import numpy as np\n"
        "def custom_kernel(x): return x + 1, np.array([1.00001 + 2j, np.nan], np.complex64)\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import numpy as np\n"
        "def custom_kernel(x): return x + 2, np.array([1 + 2j, np.nan], np.complex64)\n"
    )
    ran = run("judge", "--problem", "problem.py", "near.py", "wrong.py", *SHORT, "--json")
    near, wrong = json.loads(ran.out)["submissions"]
    assert (near["rule"], wrong["rule"]) == ("launches", "mismatch")
    assert "output 0: 2 of 2 elements mismatched" in wrong["message"]
