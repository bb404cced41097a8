"""``cudarun --server PATH``: the same command in a server; the Python API in a server."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cudarun
from cudarun.session.workers import service
from tests.support.processes import PATIENCE, PYTHON_PATH, ROOT
from tests.support.servers import KERNELS, server

LAUNCH = ("launch", "k.ptx", "-d", "cpu", "--threads", "1", "-k")
FILL = (*LAUNCH, "fill", "y=i32[1]", "k=i32:7", "--print", "y")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with server(tmp_path_factory.mktemp("server")) as (found, _):
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.ptx").write_text(KERNELS)
    return tmp_path


def start(
    folder: Path, *words: str, path: Path | None = None, **options: object
) -> subprocess.Popen[str]:
    """Start a command, in a server if there is a path."""
    served = () if path is None else ("--server", str(path))
    return subprocess.Popen(
        [sys.executable, "-m", "cudarun", *served, *words], cwd=folder, text=True,
        env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )  # fmt: skip


def run(
    folder: Path, *words: str, path: Path | None = None, given: str | None = None
) -> tuple[int, str, str]:
    """Return the exit code of a command, and its output without times."""
    options = {} if given is None else {"stdin": subprocess.PIPE}
    with start(folder, *words, path=path, **options) as process:
        streams = process.communicate(given, PATIENCE)
    stdout, stderr = (
        re.sub(r"[\d.]+(?= (ms|s)\b)|(?<=seconds\": )[\d.]+", "T", each) for each in streams
    )
    return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    "words",
    [
        FILL,
        (*LAUNCH, "say"),
        (*LAUNCH, "fault"),
        (*FILL, "--check", "y == 8"),
        ("launch", "missing.ptx"),
        ("load", "--offline", "k.ptx", "--json"),
        ("record", "--list", "--", "true"),
        ("record", "--shrink", "small.cudarun"),
        ("nonsense",),
        (),
    ],
    ids=lambda words: " ".join(words[-2:]),
)
def test_the_same_output_and_exit_code(folder: Path, path: Path, words: tuple[str, ...]) -> None:
    assert run(folder, *words, path=path) == run(folder, *words)


def test_the_same_words_about_another_file(folder: Path, path: Path) -> None:
    first = run(folder, *FILL, path=path)
    assert run(folder, *FILL, path=path) == first
    (folder / "k.ptx").write_text(KERNELS.replace("fill", "full"))
    assert run(folder, *FILL, path=path)[0] == 2
    (folder / "k.ptx").write_text(KERNELS)
    assert run(folder, *FILL, path=path) == first
    triton = {"name": "fill", "num_warps": 2, "shared": 0}
    (folder / "k.json").write_text(json.dumps(triton))
    assert run(folder, *FILL, path=path) != first


COUNTER = """\
.version 7.0
.target sm_75
.address_size 64
.global .u32 count = 4;
.visible .entry add(.param .u64 y) {
  .reg .b32 %r; .reg .b64 %p;
  ld.global.u32 %r, [count]; add.u32 %r, %r, 1; st.global.u32 [count], %r;
  ld.param.u64 %p, [y]; st.global.u32 [%p], %r; ret; }
"""


def test_each_launch_begins_with_the_variables_of_the_image(folder: Path, path: Path) -> None:
    """Also that of an image that was loaded before its launch."""
    (folder / "count.ptx").write_text(COUNTER)
    words = ("launch", "count.ptx", "-d", "cpu", "--threads", "1", "y=u32[1]", "--print", "y")
    first = run(folder, *words, path=path)
    assert "y = [5]" in first[1]
    recording = str(ROOT / "tests/data/recordings/cluster.cudarun")
    own = (*words, "--algebra"), FILL, ("launch", recording, "-d", "cpu"), ("devices", "-d", "cpu")
    for between in (words, words, *own):
        found = run(folder, *between, path=path)
        assert found == first if between is words else found[0] == 0
        assert run(folder, *words, path=path) == first


def test_completion(folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CUDARUN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "cudarun lau")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run(folder, path=path) == (0, "plain,launch\n", "")


def test_stdin_and_files_of_the_client(folder: Path, path: Path) -> None:
    words = [each if each != "k.ptx" else "-" for each in (*FILL, "--save", "y=out.npy")]
    before = os.umask(0o077)
    try:
        assert run(folder, *words, path=path, given=KERNELS)[0] == 0
    finally:
        os.umask(before)
    assert np.load(folder / "out.npy").tolist() == [7]
    assert stat.S_IMODE((folder / "out.npy").stat().st_mode) == 0o600


def test_a_terminal_of_the_client(folder: Path, path: Path) -> None:
    own, terminal = pty.openpty()
    with start(folder, *LAUNCH, "fault", path=path, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        text = b""
        try:
            while part := os.read(own, 4096):
                text += part
        except OSError:  # its end
            pass
    os.close(own)
    assert process.returncode == 5
    assert b"\x1b[" in text  # colors


def test_ctrl_c_cancels(folder: Path, path: Path) -> None:
    with start(folder, *LAUNCH, "endless", "-v", path=path) as process:
        assert process.stderr is not None
        while "running endless" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "error: interrupted" in stderr


def test_a_killed_client_frees_its_process(folder: Path, tmp_path: Path) -> None:
    with server(tmp_path, "--jobs", "1") as (path, _):
        with start(folder, *LAUNCH, "endless", "-v", path=path) as process:
            assert process.stderr is not None
            while "running endless" not in process.stderr.readline():
                pass
            process.kill()
        assert run(folder, *FILL, path=path)[0] == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(folder: Path, path: Path, closed: str) -> None:
    """No stream is the connection."""
    found = []
    for served in ("", f"--server {path}"):
        command = f"{sys.executable} -m cudarun {served} load --offline none.ptx - {closed}"
        done = subprocess.run(
            command, shell=True, cwd=folder, timeout=PATIENCE, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": PYTHON_PATH},
        )  # fmt: skip
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0] == found[1]


def test_a_folder_that_is_gone(folder: Path, path: Path) -> None:
    command = f"{sys.executable} -m cudarun --server {path} devices"
    (folder / "gone").mkdir()
    done = subprocess.run(
        f"cd gone; rmdir ../gone; {command}", shell=True, cwd=folder, timeout=PATIENCE,
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": PYTHON_PATH},
    )  # fmt: skip
    assert done.returncode == 2
    assert "error: the working directory: No such file or directory\n" in done.stderr


def test_a_long_path(folder: Path) -> None:
    assert "path too long" in run(folder, "devices", path=Path("x" * 200))[2]


def test_no_server(folder: Path) -> None:
    code, stdout, stderr = run(folder, "devices", path=folder / "none.sock")
    assert (code, stdout) == (2, "")
    assert "No such file or directory" in stderr
    assert f"cudarun serve --socket {folder / 'none.sock'}" in stderr


def test_the_api_and_the_plugin_use_the_server(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = {*service._all}
    monkeypatch.setenv("CUDARUN_SERVER", str(path))
    y = np.zeros(1, np.int32)
    launched = cudarun.launch(KERNELS, "fill", device="cpu", threads=1, args={"y": y, "k": 9})
    assert (launched["y"].tolist(), y.tolist()) == ([9], [0])
    with pytest.raises(cudarun.ExecutionFailed):
        cudarun.launch(KERNELS, "fault", device="cpu", threads=1)
    with pytest.raises(TypeError, match="neither a number nor an array"):
        cudarun.launch(KERNELS, "fill", device="cpu", args={"y": object()})
    assert {*service._all} == processes
    (folder / "test_fill.py").write_text(
        "def test(cudarun):\n"
        "    out = cudarun.launch('k.ptx', 'fill', threads=1, args=['i32[1]', 'i32:3'])\n"
        "    assert out['y'][0] == 3\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fill.py"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "1 passed" in done.stdout
    monkeypatch.setenv("CUDARUN_SERVER", str(folder / "none.sock"))
    with pytest.raises(cudarun.WorkerFailed, match="No such file or directory"):
        cudarun.launch(KERNELS, "fill", device="cpu", threads=1, args={"y": y, "k": 9})


def test_the_client_imports_only_itself(path: Path) -> None:
    """Modules in C, whose names start with an underscore, are few and quick."""
    command = [sys.executable, "-X", "importtime"]
    found = []
    for words in (["-m", "cudarun", "--server", path, "--help"], ["-c", "import runpy"]):
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=PATIENCE)
        found.append({line.rpartition("|")[2].strip() for line in done.stderr.splitlines()})
    names = {each for each in found[0] - found[1] if not each.startswith("_")}
    assert names == {"cudarun", "cudarun.client"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_sample_in_c(tmp_path: Path, path: Path) -> None:
    source, program = ROOT / "samples" / "serve" / "client.c", tmp_path / "client"
    command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program, source]
    subprocess.run(command, check=True, timeout=PATIENCE)
    done = subprocess.run(
        [program, path], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    answers = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert [answers[k]["exit_code"] for k in (1, 2, 3)] == [0, 0, 0]
    assert [answers[k]["report"].splitlines()[-1] for k in (1, 2)] == [
        "y = [0 1 2 3]",
        "y = [0 2 4 6]",
    ]


def test_record_in_a_server(folder: Path, path: Path) -> None:
    shutil.copy(ROOT / "tests/data/recordings/overrun.cudarun", folder)
    words = ("record", "--shrink", "overrun.cudarun", "-o")
    assert run(folder, *words, "served.cudarun", path=path)[0] == 0
    assert run(folder, *words, "own.cudarun")[0] == 0
    assert (folder / "served.cudarun").read_bytes() == (folder / "own.cudarun").read_bytes()
