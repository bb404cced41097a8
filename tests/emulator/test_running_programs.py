"""``python -m cudarun.emulator PROGRAM``: unchanged programs, their exit codes and tracebacks.

The programs in ``runtime_programs/`` are written for the bindings. What one prints is beside it,
and is the same on a GPU, where it runs as it stands if ``CUDARUN_BINDINGS_DEVICE`` is set.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.bindings import nvrtc

from cudarun.emulator.__main__ import main
from cudarun.emulator.nvrtc import CompilerModule
from cudarun.emulator.substitution import UNSUPPORTED, UnsupportedImports
from tests.support.processes import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((Path(__file__).parent / "runtime_programs").glob("*.py"))
EMULATED = [sys.executable, "-m", "cudarun.emulator"]
STATUS = 5


def run(command, folder=ROOT):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=folder,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_an_unchanged_program(path):
    done = run([*EMULATED, path, STATUS])
    assert done.stderr == ""
    assert done.stdout == path.with_suffix(".out").read_text()
    assert done.returncode == STATUS


@pytest.mark.skipif("CUDARUN_BINDINGS_DEVICE" not in os.environ, reason="needs a GPU")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_on_a_gpu(path):
    done = run([sys.executable, path, STATUS])
    assert done.stdout == path.with_suffix(".out").read_text()
    assert done.returncode == STATUS


RAISES = """\
import pickle, sys
import beside
class Value: pass
assert type(pickle.loads(pickle.dumps(Value()))) is Value
print(sys.argv, sys.path[0], __name__, __file__, __spec__, __package__, __doc__)
try:
    beside.divide(1, 0)
except ZeroDivisionError as error:
    raise ValueError("no number") from error
"""
BESIDE = "def divide(a, b):\n    return a / b\n"


@pytest.mark.parametrize("text", [RAISES, "def f(:\n"], ids=["raises", "syntax-error"])
def test_an_exception_is_reported_as_python_reports_it(tmp_path, text):
    (tmp_path / "program.py").write_text(text)
    (tmp_path / "beside.py").write_text(BESIDE)
    arguments = ["program.py", "-x", "two words"]
    real, emulated = (run([*start, *arguments], tmp_path) for start in ([sys.executable], EMULATED))
    assert emulated.stderr == real.stderr != ""
    assert emulated.stdout == real.stdout
    assert emulated.returncode == real.returncode == 1


FAULT = """\
from cuda.bindings import driver as cuda, runtime as cudart
ptx = b'''.version 8.0
.target sm_90
.address_size 64
.visible .entry stray()
{
    .reg .b64 %rd;
    mov.b64 %rd, 64;
    st.global.u32 [%rd], 1;
    ret;
}
'''
cudart.cudaFree(0)
kernel = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx + b"\\0")[1], b"stray")[1]
print(int(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, 0)[0]))
print(int(cudart.cudaDeviceSynchronize()[0]), int(cudart.cudaGetLastError()[0]))
print(int(cudart.cudaPeekAtLastError()[0]), int(cuda.cuCtxSynchronize()[0]))
try:
    cudart.cudaIpcGetMemHandle
except AttributeError as error:
    print(error)
"""


def test_a_fault_is_returned_and_reported_at_the_end(tmp_path):
    package = tmp_path / "faulty"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(FAULT)
    (package / "__main__.py").write_text("from . import kernels\n")
    done = run([*EMULATED, "-m", "faulty"], tmp_path)
    *codes, missing = done.stdout.splitlines()
    assert codes == ["0", "700 700", "700 700"]
    assert missing.startswith("cudaIpcGetMemHandle: the emulated device does not provide")
    assert done.stderr.startswith("cudarun: kernel stray: illegal address in a 4-byte store\n")
    assert done.returncode == 0


# --- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--unknown", "a.py"]])
def test_a_command_line_without_a_program(capsys, arguments):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: python -m cudarun.emulator PROGRAM [ARG...]")


def test_help(capsys):
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: ")


def test_a_missing_program(tmp_path):
    done = run([*EMULATED, "missing.py"], tmp_path)
    assert done.stderr == "error: missing.py: No such file or directory\n"
    assert done.returncode == 2


def test_unsupported_imports_are_refused_by_name():
    for name in UNSUPPORTED:
        with pytest.raises(ImportError, match=f"does not support {name}: it calls the driver"):
            UnsupportedImports().find_spec(name, None)
    assert UnsupportedImports().find_spec("cuda.pathfinder", None) is None


def compiled(compiler, architecture):
    _, program = compiler.nvrtcCreateProgram(b"__global__ void f() {}", b"f.cu", 0, [], [])
    assert not compiler.nvrtcCompileProgram(program, 1, [f"-arch={architecture}".encode()])[0]
    return program


def test_the_cubin_of_the_compiler_is_ptx():
    compiler = CompilerModule(nvrtc)
    program = compiled(compiler, "sm_90")
    error, size = compiler.nvrtcGetCUBINSize(program)
    code = b" " * size
    assert [int(error), *map(int, compiler.nvrtcGetCUBIN(program, code))] == [0, 0]
    text = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, text)
    assert code == text
    assert b".target sm_90" in code
    assert dir(compiler) == dir(nvrtc)


def test_a_virtual_architecture_has_no_cubin():
    compiler = CompilerModule(nvrtc)
    program = compiled(compiler, "compute_90")
    assert compiler.nvrtcGetCUBINSize(program) == nvrtc.nvrtcGetCUBINSize(program)
    code = b" "
    assert compiler.nvrtcGetCUBIN(program, code) == nvrtc.nvrtcGetCUBIN(program, code)


def test_the_cubin_of_the_newer_compiler_is_ptx():
    newer = pytest.importorskip("cuda.bindings._v2.nvrtc", reason="since CUDA 13.4")
    compiler = CompilerModule(importlib.import_module(newer.__name__))
    program = compiler.create_program(b"__global__ void f() {}", b"f.cu")
    compiler.compile_program(program, [b"-arch=sm_90"])
    assert compiler.get_cubin(program) == newer.get_ptx(program)
    assert compiler.get_cubin_size(program) == newer.get_ptx_size(program)
