"""Programs of cuda-python run on the emulated device, unchanged but for the import.

The programs in ``cuda_python/`` are written for the bindings. Each runs in a process of its
own, with ``cudarun.emulator`` in place of ``cuda.bindings``; and as it stands where
``CUDARUN_BINDINGS_DEVICE`` says that there is a GPU. What it prints is beside it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((Path(__file__).parent / "cuda_python").glob("*.py"))
OF_THE_BINDINGS = "from cuda.bindings import driver as cuda\n"
OF_THE_EMULATOR = "from cudarun.emulator import driver as cuda\n"
DOCUMENT = ROOT / "docs" / "reference" / "emulated-device.md"


def run(source, path, **environment):
    done = subprocess.run(
        [sys.executable, "-c", f"__file__ = {str(path)!r}\n{source}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=ROOT,
        env=os.environ | environment,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("devices", ["1", "3"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_but_for_its_import(path, devices):
    source = path.read_text()
    assert source.count(OF_THE_BINDINGS) == 1
    source = source.replace(OF_THE_BINDINGS, OF_THE_EMULATOR)
    printed = run(source, path, CUDARUN_CPU_DEVICES=devices)
    assert printed == path.with_suffix(".out").read_text()


def documented():
    """The program of the document, and what it says that it prints."""
    text = DOCUMENT.read_text()
    found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found.groups()


def test_the_program_of_the_document():
    source, printed = documented()
    assert source.count(OF_THE_EMULATOR.strip()) == 1
    assert run(source, DOCUMENT) == printed


on_a_gpu = pytest.mark.skipif("CUDARUN_BINDINGS_DEVICE" not in os.environ, reason="needs a GPU")


@on_a_gpu
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_on_a_gpu(path):
    assert run(path.read_text(), path) == path.with_suffix(".out").read_text()


@on_a_gpu
def test_the_program_of_the_document_on_a_gpu():
    source, printed = documented()
    source = source.replace(OF_THE_EMULATOR.strip(), OF_THE_BINDINGS.strip())
    assert run(source, DOCUMENT) == printed
