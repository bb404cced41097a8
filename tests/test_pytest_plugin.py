"""The pytest plugin, in runs of pytest of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.console_blocks import files
from tests.support.processes import PATIENCE, PYTHON_PATH, ROOT, marked, wait_until

PAGE = ROOT / "docs" / "how-to" / "test-with-pytest.md"


def run(folder: Path, *options: str, device: str = "") -> subprocess.CompletedProcess[str]:
    """Run pytest with the plugin in a folder; no process is left."""
    environment = {
        **os.environ,
        "CUDARUN_DEVICE": device,
        "PYTHONPATH": PYTHON_PATH,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # also of an installed cudarun
        "CUDARUN_MARK": str(folder),
    }
    plugins = ("-p", "cudarun.pytest_plugin", "-p", "xdist.plugin", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--strict-markers", "-W", "error", *options],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    wait_until(lambda: not marked(f"CUDARUN_MARK={folder}"), "end of all processes")
    return done


def write(folder: Path, **contents: str) -> None:
    """Write files; ``__`` in a name is its dot."""
    for name, content in contents.items():
        folder.joinpath(name.replace("__", ".")).write_text(content)


def test_the_page_finds_a_race_and_passes_without(tmp_path: Path) -> None:
    for name, content in files(PAGE.read_text()).items():
        (tmp_path / name).write_text(content)
    [of_readme] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    write(tmp_path, test_readme__py=f"import numpy as np\n\n{of_readme}")
    (tmp_path / "saxpy.cu").write_bytes((ROOT / "samples" / "saxpy.cu").read_bytes())
    done = run(tmp_path, "-q")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 8 passed" in done.stdout
    for line in PAGE.read_text().splitlines():
        if line.startswith(("FAIL ", "  written by", "  read by")):
            assert f"E       {line}\n" in done.stdout
    assert "functions.py" not in done.stdout  # the traceback ends at the test
    source = tmp_path / "reverse.cu"
    store = "part[threadIdx.x] = x[threadIdx.x];"
    source.write_text(source.read_text().replace(store, f"{store} __syncthreads();"))
    done = run(tmp_path, "-q", "-n", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "9 passed" in done.stdout


def test_github_gets_the_lines_of_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        'extern "C" __global__ void fill(int *y, int n) {\n'
        "    if (threadIdx.x <= n)\n        y[threadIdx.x] = 1;\n}\n"
    )
    case = (
        '[[launch]]\nimage = "fill.cu"\nthreads = 8\nargs = ["y=i32[n]", "n=4"]\ncheck = "y == 1"\n'
    )
    write(tmp_path, fill__cu=source, test_fill__cudarun__toml=case, test_a__py=f"""
def test_file(cudarun):
    cudarun.launch("fill.cu", threads=8, args={{"y": "i32[n]", "n": 4}})

def test_text(cudarun):
    cudarun.launch({source!r}, threads=8, args={{"y": "i32[n]", "n": 4}})

def test_none(cudarun):
    assert cudarun is None
""")  # fmt: skip
    assert "::error" not in run(tmp_path, "-q").stdout
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    for options in ((), ("-n", "2")):
        done = run(tmp_path, "-q", *options)
        found = [line for line in done.stdout.splitlines() if line.startswith("::error")]
        assert {each.partition(",title")[0] for each in found} == {
            "::error file=fill.cu,line=3", "::error file=test_fill.cudarun.toml,line=1",
        }, done.stdout  # fmt: skip


TESTS = """
import pytest

def launch(cudarun, n=4, **options):
    args = {"x": "i32[4]:iota", "n": n}
    return cudarun.launch("kernels/add.cu", threads=n, args=args, **options)

def test_first(cudarun, capsys):
    assert launch(cudarun)["x"].tolist() == [1, 2, 3, 4]
    assert capsys.readouterr().out == "thread 0\\n"

def test_fault(cudarun):
    launch(cudarun, n=5)

def test_after_the_fault(cudarun):
    launch(cudarun, check="x == old(x) + 1")
    assert cudarun.load("kernels/add.cu").kernels == ("add",)

@pytest.mark.cudarun_device("cpu", 63)
def test_marked(cudarun, cudarun_device):
    assert cudarun.device == cudarun_device == "cpu"
    launch(cudarun)
"""
KERNEL = """
#include <cstdio>
extern "C" __global__ void add(int* x, int n) {
    if (threadIdx.x == 0) printf("thread 0\\n");
    if (threadIdx.x < n) ++x[threadIdx.x];
}
"""
SPEC = """
[defaults]
image = "kernels/add.cu"
threads = 4
args = ["x=i32[4]:iota", "n=4"]

[[launch]]
name = "right"
check = "x == old(x) + 1"

[[launch]]
name = "wrong"
check = "x == old(x)"

[[launch]]
name = "of a GPU"
requires = "sm_100"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with tests of all kinds."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "add.cu").write_text(KERNEL)
    write(tmp_path, test_add__py=TESTS, test_add__cudarun__toml=SPEC)
    return tmp_path


def test_outcomes_with_xdist(project: Path) -> None:
    done = run(project, "-n", "2", "-rA", "--tb=short")
    found = {line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED"))}
    names = {line.removesuffix("]").partition(" - ")[0] for line in found}
    assert names == {
        "PASSED test_add.py::test_first",
        "FAILED test_add.py::test_fault",
        "PASSED test_add.py::test_after_the_fault",
        "PASSED test_add.py::test_marked[cpu",
        "PASSED test_add.cudarun.toml::right",
        "FAILED test_add.cudarun.toml::wrong",
    }
    assert "ExecutionFailed: error: cuCtxSynchronize: an illegal memory access" in done.stdout
    assert "that is element 4 of buffer x, i32[4]" in done.stdout
    assert "\nFAIL x == old(x)\n  4 of 4 elements mismatched" in done.stdout
    assert "device 63: " in done.stdout
    assert "requires sm_100" in done.stdout
    assert "2 failed, 4 passed, 2 skipped" in done.stdout


def test_each_of_several_devices(project: Path) -> None:
    done = run(project, "-v", "-k", "first or marked or right", "--cudarun-device=cpu,63")
    lines = (line.partition("::")[2].split() for line in done.stdout.splitlines() if "%]" in line)
    assert {(words[0], words[1]) for words in lines} == {
        ("test_first[cpu]", "PASSED"),
        ("test_first[63]", "FAILED"),  # of the option: not skipped
        ("test_marked[cpu]", "PASSED"),
        ("test_marked[63]", "SKIPPED"),
        ("right[cpu]", "PASSED"),
        ("right[63]", "FAILED"),
    }
    assert "DeviceNotFound" in done.stdout


def test_invalid_spec(tmp_path: Path) -> None:
    write(tmp_path, test_k__cudarun__toml="[[launch]]\nimage = 3\n", other__cudarun__toml="?")
    done = run(tmp_path, "-q")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "error: test_k.cudarun.toml:2: image" in done.stdout
    assert "1 error" in done.stdout


@pytest.mark.parametrize(
    ("mark", "options", "said"),
    [
        ("", ["--cudarun-device=cpu,"], "--cudarun-device: name devices such as 'cpu' or 0, got"),
        ("", [], "CUDARUN_DEVICE: name devices such as 'cpu' or 0, got all"),
        ("@pytest.mark.cudarun_device", [], "test_k: cudarun_device: name devices such as"),
    ],
)
def test_unusable_devices(tmp_path: Path, mark: str, options: list[str], said: str) -> None:
    write(tmp_path, test_k__py=f"import pytest\n{mark}\ndef test_k(cudarun): pass\n")
    done = run(tmp_path, *options, device="all")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout


def test_environment_is_of_no_account_to_other_tests(tmp_path: Path) -> None:
    write(tmp_path, test_k__py="def test_k(): pass\n")
    assert run(tmp_path, device="all").returncode == 0


def test_plugin_imports_nothing_heavy() -> None:
    program = "import cudarun.pytest_plugin, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    loaded = done.stdout.split()
    assert {name for name in loaded if name.startswith("cudarun")} == {
        "cudarun",
        "cudarun.pytest_plugin",
    }
    assert not {"numpy", "click", "rich"} & set(loaded)
