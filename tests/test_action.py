"""The shell steps of `action.yml`, run with the tool of this environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.processes import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
ACTION = (ROOT / "action.yml").read_text()
STEPS = ROOT / ".github" / "action"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

SPEC = """
[[launch]]
name = "hello"
image = "hello.ptx"
threads = 1
args = ["year=i32:2026", "version=f64:1"]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with a kernel, and `cudarun` on a PATH of its own."""
    tool = tmp_path / "bin" / "cudarun"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cudarun "$@"\n')
    tool.chmod(0o755)
    folder = tmp_path / "a repository"
    folder.mkdir()
    shutil.copy(ROOT / "samples" / "hello.ptx", folder)
    return folder


def step(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    tools = folder.parent
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{tools / 'bin'}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(tools / "output"),
        "GITHUB_STEP_SUMMARY": str(tools / "summary.md"),
        "GITHUB_WORKSPACE": str(folder),
        **{f"INPUT_{key.upper()}": value for key, value in inputs.items()},
    }
    return subprocess.run(
        ["bash", str(STEPS / name)],
        cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def test_specs_run_and_the_largest_exit_code_counts(repository: Path) -> None:
    (repository / "kernels").mkdir()
    shutil.copy(repository / "hello.ptx", repository / "kernels")
    (repository / "kernels" / "good.toml").write_text(SPEC)
    (repository / "wrong.toml").write_text("\n[[launch]]\nimage = 'hello.ptx'\nblok = 1\n")
    done = step(
        "run.sh", repository,
        specs="kernels/**/*.toml\nwrong.toml\n", devices="cpu", arguments="--timeout\n60\n",
        junit="reports",
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "::error file=wrong.toml,line=4,title=RequestError::" in done.stdout
    suite = ElementTree.parse(repository / "reports" / "kernels-good.toml.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")
    summary = (repository.parent / "summary.md").read_text()
    assert "| passed | hello | cpu |" in summary
    assert (repository.parent / "output").read_text() == "junit=reports\n"


def test_every_spec_has_a_report(repository: Path) -> None:
    """Paths that differ in `/` and `-` only, and a spec named like the second report of another."""
    wrong = f"{SPEC}expect_error = 700\n"
    names = {"a/b.toml": wrong, "a-b.toml": SPEC, "a-b.toml-2": SPEC}
    for name, text in names.items():
        path = repository / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        shutil.copy(repository / "hello.ptx", repository / "a")
    done = step(
        "run.sh", repository, specs="\n".join(names), devices="cpu", arguments="", junit="reports"
    )
    assert done.returncode == 1
    roots = [ElementTree.parse(each).getroot() for each in (repository / "reports").iterdir()]
    assert {root.get("name"): root.get("failures") for root in roots} == {
        name: str(int(text == wrong)) for name, text in names.items()
    }


@pytest.mark.parametrize(
    ("specs", "message"),
    [("", "the input specs is empty"), ("no/*.toml", "no spec file matches the input specs")],
)
def test_no_spec_is_an_error(repository: Path, specs: str, message: str) -> None:
    done = step("run.sh", repository, specs=specs, devices="cpu", arguments="", junit="reports")
    assert done.returncode == 2
    assert done.stdout == f"::error title=cudarun::{message}\n"


def test_inputs_reach_the_steps_as_environment_only() -> None:
    """No expression is inside a script, where its value would be shell code."""
    scripts = re.findall(r"^      run: (.*)$", ACTION, re.M)
    assert scripts == [f'bash "$GITHUB_ACTION_PATH/.github/action/{each}"'
                       for each in ("install.sh", "run.sh")]  # fmt: skip
    declared = set(re.findall(r"^  (\w+):\n    description", ACTION.partition("outputs:")[0], re.M))
    passed = set(re.findall(r"INPUT_\w+: \$\{\{ inputs\.(\w+) \}\}", ACTION))
    assert declared == passed
    used = {name.lower() for file in STEPS.iterdir()
            for name in re.findall(r"\bINPUT_([A-Z]+)", file.read_text())}  # fmt: skip
    assert used == declared


def test_scripts_of_steps_parse() -> None:
    scripts = [*STEPS.glob("*.sh"), *(ROOT / ".github" / "workflows").glob("*.sh")]
    assert len(scripts) == 3
    for script in scripts:
        done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
