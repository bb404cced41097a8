"""Build the distributions and a wheelhouse, and check that they install without an index.

``python -m tools.check_release --out DIR --python 3.11 --python 3.13`` needs the extra ``release``.
It writes ``DIR/dist`` (what a release uploads) and ``DIR/wheelhouse`` (with every dependency), and
installs from the latter in fresh environments with pip, ``uv tool`` and pipx, for each Python. With
each it launches a kernel, and with pip's it runs the tests of a guide with pytest.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cudarun import __version__
from tests.support.console_blocks import files

ROOT = Path(__file__).resolve().parent.parent

_SAMPLE = "saxpy.cu"
_LAUNCH = (
    *("launch", _SAMPLE, "-d", "cpu", "--threads", "n", "a=2", "x=f32[n]:iota"),
    *("y=f32[n]:ones", "n=1000", "--check", "y == a*x + 1"),
)
_EXTRAS = "toolkit,pytest"
_GUIDE = ROOT / "docs" / "how-to" / "test-with-pytest.md"
_STORE = "part[threadIdx.x] = x[threadIdx.x];\n"  # its kernel lacks a barrier after it
_RESOLVED = "3.14"  # its wheels are resolved, whether that interpreter is installed or not
_PLACES = {
    "man page": "data/share/man/man1/cudarun.1",
    "license": "dist-info/licenses/LICENSE",
    "types": "cudarun/py.typed",
}


class _Failure(Exception):
    """A check of a release failed."""


def run(
    *command: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None, status: int = 0
) -> str:
    """Run a program and return its stdout.

    Raises:
        _Failure: It has another exit status.
    """
    words = [str(word) for word in command]
    outside = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "CUDARUN_DEVICE"}}
    done = subprocess.run(
        words, cwd=cwd, env=outside | dict(env or {}), capture_output=True, text=True
    )
    if done.returncode != status:
        raise _Failure(
            f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def contents(archive: Path) -> dict[str, bytes]:
    """Return the files of a wheel or of an sdist by name."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(archive) as sdist:
        files = {each.name: sdist.extractfile(each) for each in sdist.getmembers()}
        return {name: file.read() for name, file in files.items() if file is not None}


def build(dist: Path, scratch: Path) -> Path:
    """Build sdist and wheel, check them, and return the wheel.

    Raises:
        _Failure: The wheel of the sdist differs from that of the tree, or lacks a file.
    """
    python = Path(sys.executable)
    run(python, "-m", "build", "--outdir", dist, ROOT)  # the wheel is built from the sdist
    run(python, "-m", "build", "--wheel", "--outdir", scratch, ROOT)
    [wheel], [other] = dist.glob("*.whl"), scratch.glob("*.whl")
    of_sdist, of_tree = contents(wheel), contents(other)
    if of_sdist != of_tree:
        names = {n for n in of_sdist | of_tree if of_sdist.get(n) != of_tree.get(n)}
        raise _Failure(f"the wheels of sdist and tree differ in {sorted(names)}")
    for what, place in _PLACES.items():
        if not any(name.endswith(place) for name in of_sdist):
            raise _Failure(f"the wheel has no {what} ({place})")
    print(run(python, "-m", "twine", "check", "--strict", *sorted(dist.iterdir())), end="")
    return wheel


def download(wheel: Path, house: Path, python: str) -> None:
    """Add the wheels that a Python needs to the wheelhouse."""
    run(python, "-m", "pip", "download", "-q", "--only-binary", ":all:", "-d", house, wanted(wheel))


def wanted(wheel: Path) -> str:
    """Return the requirement of the wheel with its compiler and pytest."""
    return f"cudarun[{_EXTRAS}] @ {wheel.resolve().as_uri()}"


def resolve(version: str, scratch: Path) -> int:
    """Resolve the dependencies for a Python that need not be installed; return how many."""
    listed = run(
        *(sys.executable, "-m", "uv", "pip", "compile", "-q", "--python-version", version),
        *("--only-binary", ":all:"),
        *(
            word
            for extra in (*_EXTRAS.split(","), "compressed", "fast")
            for word in ("--extra", extra)
        ),
        *("--no-header", "--no-annotate", ROOT / "pyproject.toml"),
        cwd=scratch,
    )
    return len(listed.split())


def check_installs(house: Path, python: str, scratch: Path) -> None:
    """Install from the wheelhouse in three ways, and launch a kernel with each."""
    version = f"cudarun[toolkit]=={__version__}"
    tools = scratch / "tools"
    own = Path(sys.executable).parent
    shutil.copy(ROOT / "samples" / _SAMPLE, scratch)

    run(python, "-m", "venv", scratch / "venv")
    pip = (scratch / "venv/bin/python", "-m", "pip")
    extras = f"cudarun[{_EXTRAS}]=={__version__}"
    run(*pip, "install", "-q", "--no-index", "--find-links", house, extras, cwd=scratch)
    run(*pip, "check", cwd=scratch)
    check_tool("pip", scratch / "venv/bin/cudarun", python, scratch)
    if not (scratch / "venv/share/man/man1/cudarun.1").exists():
        raise _Failure("pip installed no man page")

    check_plugin(scratch / "venv/bin/python", scratch / "plugin")

    env = {"UV_TOOL_DIR": str(tools / "uv"), "UV_TOOL_BIN_DIR": str(tools / "uv-bin")}
    options = ("--offline", "--no-index", "--find-links", house, "--no-cache", "--python", python)
    run(own / "uv", "tool", "install", "-q", *options, version, cwd=scratch, env=env)
    check_tool("uv tool", tools / "uv-bin/cudarun", python, scratch)

    own_pip = scratch / "pip"  # which pipx shares between its environments
    run(python, "-m", "pip", "download", "-q", "--no-deps", "-d", own_pip, "pip", cwd=scratch)
    env = {
        "PIPX_HOME": str(tools / "pipx"),
        "PIPX_BIN_DIR": str(tools / "pipx-bin"),
        "PIPX_MAN_DIR": str(tools / "pipx-man"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": f"{house.resolve().as_uri()} {own_pip.as_uri()}",
        "PIPX_DEFAULT_BACKEND": "pip",
    }
    run(own / "pipx", "install", "--python", python, version, cwd=scratch, env=env)
    check_tool("pipx", tools / "pipx-bin/cudarun", python, scratch)


def check_plugin(python: Path, folder: Path) -> None:
    """Run the tests of the guide with an installed pytest: red with its race, green without.

    Raises:
        _Failure: The race is not found, or the tests fail without it.
    """
    folder.mkdir()
    for name, text in files(_GUIDE.read_text()).items():
        (folder / name).write_text(text)
    red = run(python, "-m", "pytest", cwd=folder, status=1)
    if "WrongResult: reverse" not in red or "FAIL race in shared memory" not in red:
        raise _Failure(f"pytest does not report the race:\n{red}")
    source = folder / "reverse.cu"
    source.write_text(source.read_text().replace(_STORE, f"{_STORE}    __syncthreads();\n"))
    green = run(python, "-m", "pytest", cwd=folder).splitlines()[-1].strip("= ")
    print(f"pytest with {run(python, '--version').strip()}: a race found; without it {green}")


def check_tool(how: str, program: Path, python: str, folder: Path) -> None:
    """Run an installed cudarun.

    Raises:
        _Failure: It has another version, or its launch fails.
    """
    first = run(program, "--version", cwd=folder).partition("\n")[0]
    if first != f"cudarun {__version__}":
        raise _Failure(f"{program} is {first!r}, expected version {__version__}")
    run(program, *_LAUNCH, cwd=folder)
    for shell in ("bash", "zsh", "fish"):
        run(program, "completion", shell, cwd=folder)
    print(f"{how} with {run(python, '--version').strip()}: installed and launched")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check; 1 where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="default: dist")
    parser.add_argument(
        "--python", action="append", help="a version (3.13) or a path; default: this one"
    )
    parser.add_argument("--build-only", action="store_true", help="install nothing")
    given = parser.parse_args(arguments)
    dist, house = given.out / "dist", given.out / "wheelhouse"
    for folder in (dist, house):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    names = given.python or [sys.executable]
    pythons = [f"python{each}" if each[0].isdigit() else each for each in names]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            wheel = build(dist, Path(scratch))
            if given.build_only:
                return 0
            print(f"Python {_RESOLVED}: {resolve(_RESOLVED, Path(scratch))} requirements resolved")
        for python in pythons:
            download(wheel, house, python)
        for python in pythons:
            with tempfile.TemporaryDirectory() as scratch:
                check_installs(house, python, Path(scratch))
    except _Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    print(f"{len(list(house.iterdir()))} wheels in {house}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
