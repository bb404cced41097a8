"""Shell completion: what the image, the spec and the machine on the line define."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cudarun.cli import cudarun
from tests.images.golden_files import golden
from tests.support.processes import PATIENCE
from tests.support.toolkit import without_driver
from tests.test_startup import HEAVY

if TYPE_CHECKING:
    from conftest import Run

SHELLS = ("bash", "zsh", "fish")
MATMUL = [f"{name}=" for name in ("a", "b", "c", "m", "n", "k")]
SPEC = """
[[launch]]
image = "saxpy.ptx"
name = "small"
[[launch]]
image = "saxpy.ptx"
name = "two words"
[[launch]]
image = "saxpy.ptx"
"""


@pytest.fixture
def complete(run: Run) -> Any:
    """Complete the last word of a command line, as a shell asks."""

    def complete(line: str, shell: str = "bash") -> list[str]:
        words = line.split(" ")
        env = {"_CUDARUN_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
        env["COMP_CWORD"] = words[-1] if shell == "fish" else str(len(words) - 1)
        ran = run(env=env)
        assert (ran.code, ran.err) == (0, "")
        lines = ran.out.splitlines()
        if shell == "zsh":  # type, word, description
            return lines[1::3]
        return [line.partition(",")[2].partition("\t")[0] for line in lines if "," in line]

    return complete


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cudarun lau", ["launch"]),
        ("cudarun launch samples/matmul.ptx -k ", ["matmul_naive", "matmul_tiled"]),
        ("cudarun launch samples/matmul.ptx -k matmul_t", ["matmul_tiled"]),
        ("cudarun launch samples/matmul.ptx -d cpu --kernel matmul_n", ["matmul_naive"]),
        ("cudarun launch samples/scale.ptx -k scale<f", ["'scale<float>'"]),
        ("cudarun launch samples/matmul.cu -k matmul_t", ["matmul_tiled"]),
        ("cudarun launch samples/saxpy.cu ", ["a=", "x=", "y=", "n="]),
        ("cudarun launch samples/saxpy.cu a=2 n=", ["n="]),
        ("cudarun launch samples/saxpy.cu n=3 y=f32[3] ", ["a=", "x="]),
        ("cudarun launch samples/saxpy.ptx y=f32[3] --save y", ["y="]),
        ("cudarun launch samples/saxpy.ptx y=f32[3] --show y", ["y=hist", "y=image", "y=plot"]),
        ("cudarun launch samples/saxpy.cu --check 2*", ["2*a", "2*x", "2*y", "2*n"]),
        ("cudarun launch samples/matmul.cu ", []),  # which kernel?
        ("cudarun launch samples/matmul.cu -k matmul_naive ", MATMUL),
        ("cudarun launch --detect ", ["race", "uninit", "sync", "race=strict", "all"]),
        (
            "cudarun launch --detect race,",
            ["race,uninit", "race,sync", "race,race=strict", "race,all"],
        ),
        ("cudarun launch --func-cache s", ["shared"]),
        pytest.param("cudarun launch -d ", ["cpu", "cpu:all"], marks=without_driver),
        pytest.param("cudarun devices --device cpu,", ["cpu,cpu:all"], marks=without_driver),
        ("cudarun launch --spec s.toml ", ["small", "'two words'"]),
        ("cudarun launch --spec s.toml small t", ["'two words'"]),
        ("cudarun launch samples/sa", ["samples/sa"]),
        ("cudarun load samples/sa", ["samples/sa"]),
        ("cudarun launch --spec s", ["s"]),
        ("cudarun launch -I inc", ["inc"]),
    ],
)
def test_completions(complete: Any, tmp_path: Path, line: str, words: list[str]) -> None:
    (tmp_path / "s.toml").write_text(SPEC)
    assert complete(line) == words


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell(complete: Any, shell: str) -> None:
    line = "cudarun launch samples/matmul.ptx -k matmul_t"
    assert complete(line, shell) == ["matmul_tiled"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_that_turns_it_on(run: Run, shell: str) -> None:
    ran = run(env={"_CUDARUN_COMPLETE": f"{shell}_source"})
    assert ran.code == 0, ran.err
    assert f"_CUDARUN_COMPLETE={shell}_complete" in ran.out
    corrected = ran.out.replace('string split ","', 'string split --max 1 ","')
    assert run("completion", shell).out.strip() == corrected.strip()


@pytest.mark.parametrize("option", ["launch --junit", "launch --candidate", "judge --problem"])
def test_the_shell_completes_files(run: Run, option: str) -> None:
    line = f"cudarun {option} k"
    env = {"_CUDARUN_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "3"}
    assert run(env=env).out == "file,k\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_accepts_the_script(run: Run) -> None:
    script = run(env={"_CUDARUN_COMPLETE": "bash_source"}).out
    done = subprocess.run(["bash", "-n"], input=script, text=True, timeout=PATIENCE)
    assert done.returncode == 0


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes_values_with_commas(run: Run, tmp_path: Path) -> None:
    (tmp_path / "complete.fish").write_text(run("completion", "fish").out)
    (tmp_path / "cudarun").write_text(f'#!/bin/sh\nexec {sys.executable} -m cudarun "$@"\n')
    (tmp_path / "cudarun").chmod(0o755)
    line = "source complete.fish; complete -C 'cudarun launch --detect race,'"
    done = subprocess.run(
        ["fish", "-N", "-c", line],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert sorted(done.stdout.split()) == ["race,all", "race,uninit"], done.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"\x7fELF damaged", b"\x7fELF" + bytes(60), b".version 8.0\n.target \xff",
     b"[[launch]]\nname=", b"\x50\xed\x55\xba\x01\x00\x10\x00" + b"\xff" * 64, None],
)  # fmt: skip
@pytest.mark.parametrize(
    "rest", ["FILE -k ", "FILE ", "FILE --check ", "--spec FILE ", "FILE --save "]
)
def test_a_damaged_or_missing_file_completes_nothing(
    complete: Any, tmp_path: Path, content: bytes | None, rest: str
) -> None:
    if content is not None:
        (tmp_path / "damaged").write_bytes(content)
    assert complete(f"cudarun launch {rest.replace('FILE', 'damaged')}") == []


def test_a_failure_is_silent(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    from cudarun.cli import main

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cudarun, "main", fail)
    monkeypatch.setenv("_CUDARUN_COMPLETE", "bash_complete")
    assert main([]) == 0
    assert capfd.readouterr() == ("", "")
    monkeypatch.delenv("_CUDARUN_COMPLETE")
    assert main([]) == 7


def test_it_is_quick() -> None:
    """It imports neither the tables nor numpy nor a driver."""
    root = Path(__file__).resolve().parents[2]
    code = (
        "import os, sys\n"
        "os.environ |= {'_CUDARUN_COMPLETE': 'bash_complete', 'COMP_CWORD': '4',\n"
        "    'COMP_WORDS': 'cudarun launch samples/matmul.ptx -k '}\n"
        "from cudarun.cli import main\n"
        "try:\n"
        "    main([])\n"
        "except SystemExit:\n"
        "    print(*sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "plain,matmul_tiled" in done.stdout
    found = set(done.stdout.splitlines()[-1].split())
    assert found & HEAVY - {"cuda"} == set()
    assert not [name for name in found if name.startswith(("cuda.bindings", "cudarun.emulator"))]


def test_parameters_of_images_with_debug_information(
    run: Run, complete: Any, tmp_path: Path
) -> None:
    (tmp_path / "debug.fatbin").write_bytes(golden("debug.fatbin"))
    names = complete("cudarun launch debug.fatbin -k apply n=3 ")
    assert names == ["y=", "x=", "settings="]
    assert complete("cudarun launch debug.fatbin ") == []  # of several kernels
    (tmp_path / "facts.cubin").write_bytes(golden("facts.cubin"))
    assert complete("cudarun launch facts.cubin -k frame ") == []
