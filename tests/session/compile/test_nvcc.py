"""The arguments, the cache and the log of nvcc, with a program in its place.

The program records its arguments and answers with texts that nvcc 13.0 was seen to write.
tests/commands/test_nvcc.py has the tests of nvcc itself.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.diagnostics.entries import Diagnosed
from cudarun.images.versions import Architecture
from cudarun.session.compile import nvcc, nvrtc, source
from cudarun.session.compile import toolkit as toolkit_module
from cudarun.session.compile.source import compile_source
from cudarun.session.compile.task import Form
from cudarun.session.image.image import CompileOptions, Image
from tests.support.toolkit import needs_nvrtc

KERNEL = b'#include <vector>\nextern "C" __global__ void k(float *x) { *x = y; }\nint main() {}\n'

PTX = """\
.version 9.0
.target sm_90
.address_size 64
.global .align 8 .u64 __cudarun_kernel_0 = k;
.visible .entry k(.param .u64 k_param_0)
{
    .loc 1 2 0
    ret;
}
    .file 1 "{cwd}/own/kernel.cu"
"""

FAKE = """\
#!{python}
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
arguments = sys.argv[1:]
with open(here + "/calls", "a") as calls:
    print(*arguments, sep="\\x1f", file=calls)
log = here + "/log"
if os.path.exists(log):
    sys.stderr.write(open(log).read())
if os.path.exists(here + "/fails"):
    sys.exit(1)
given, result = arguments[-1], arguments[arguments.index("-o") + 1]
with open(given) as file:
    text = file.read()
with open(result, "w") as file:
    if "--preprocess" in arguments:
        file.write('# 1 "' + given + '"\\n' + text)
        file.write("__cudarun_versions 13 0 88 " + os.environ["FAKE_HOST_COMPILER"] + "\\n")
    elif "--ptx" in arguments:
        file.write({ptx!r}.replace("{{cwd}}", os.getcwd()))
    else:
        file.write("code of " + text)
"""


class FakeNvcc:
    """A program in nvcc's place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.path = folder / "nvcc"
        self.path.write_text(FAKE.format(python=sys.executable, ptx=PTX))
        self.path.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Return the arguments of each call since the last time."""
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [line.split("\x1f") for line in lines]

    def stages(self) -> list[str]:
        """Return the stage of each call since the last time."""
        stages = {"--preprocess", "--ptx", "--cubin", "--ltoir"}
        return [stage for call in self.calls() for stage in call if stage in stages]

    def fails(self, log: str) -> None:
        (self.folder / "log").write_text(log)
        (self.folder / "fails").touch()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvcc:
    found = FakeNvcc(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{found.folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_CACHE_DISABLE", raising=False)
    monkeypatch.setenv("FAKE_HOST_COMPILER", '"12.2.0"')
    monkeypatch.chdir(tmp_path)
    return found


def compiled(
    options: CompileOptions | None = None,
    form: Form = "PTX",
    data: bytes = KERNEL,
    origin: str = "own/kernel.cu",
    number: int = 90,
    relocatable: bool = False,
) -> Image:
    options = options or CompileOptions(compiler="nvcc")
    target = Architecture(form == "PTX", number)
    return compile_source(
        Image(origin, data, compilation=options), target, form, relocatable=relocatable
    )


# --- the arguments -------------------------------------------------------------------------------


def test_the_arguments_of_ptx(fake: FakeNvcc) -> None:
    given = CompileOptions(
        include=("inc", "a,b"),
        defines=("N=4", "M=max(1,2)"),
        standard="c++20",
        options=("--use_fast_math", "-maxrregcount=32"),
        compiler="nvcc",
    )
    image = compiled(given)
    preprocess, ptx = fake.calls()
    common = [
        "--gpu-architecture=compute_90",
        "--generate-line-info",
        "--std=c++20",
        "--define-macro=N=4",
        "--define-macro=M=max(1\\,2)",
        "--include-path=inc",
        "--include-path=a\\,b",
        "--include-path=own",
        "--use_fast_math",
        "-maxrregcount=32",
    ]
    assert preprocess[: len(common)] == ptx[: len(common)] == common
    assert "--preprocess" in preprocess[len(common) :]
    assert ptx[len(common)] == "--ptx"
    assert image.data.startswith(b".version 9.0\n")
    assert b'.file 1 "own/kernel.cu"' in image.data
    assert image.is_compiled
    assert image.facts is not None
    [kernel] = image.facts.kernels
    assert [(each.type, each.name) for each in kernel.parameters] == [("float*", "x")]


@pytest.mark.parametrize(
    ("form", "stages"),
    [
        ("PTX", ["--preprocess", "--ptx"]),
        ("CUBIN", ["--preprocess", "--ptx", "--cubin"]),
        ("LTOIR", ["--preprocess", "--ltoir"]),
    ],
)
def test_the_stages_of_each_form(fake: FakeNvcc, form: Form, stages: list[str]) -> None:
    image = compiled(form=form, number=89, relocatable=True)
    calls = fake.calls()
    assert [stage for call in calls for stage in call if stage in stages] == stages
    target = "compute_89" if form == "PTX" else "sm_89"
    for call in calls:
        assert f"--gpu-architecture={target}" in call
        assert "--relocatable-device-code=true" in call
        assert ("-dlto" in call) == ("--ltoir" in call)
    assert image.data.startswith(b".version" if form == "PTX" else b"code of ")
    assert (image.facts is None) == (form == "LTOIR")


def test_the_names_of_kernels_to_be_instantiated(fake: FakeNvcc) -> None:
    image = compiled(CompileOptions(compiler="nvcc", kernels=("k<1>",)), "CUBIN")
    assert image.lowered == {"k<1>": "k"}
    assert b"__cudarun_kernel" not in image.data  # is the code of PTX without the variable


def test_a_source_from_stdin(fake: FakeNvcc) -> None:
    compiled(origin="<stdin>", data=b"\xef\xbb\xbf" + KERNEL)
    assert "--include-path=." in fake.calls()[0]


# --- the cache -----------------------------------------------------------------------------------


def test_a_result_is_reused(fake: FakeNvcc) -> None:
    first = compiled(form="CUBIN")
    assert fake.stages() == ["--preprocess", "--ptx", "--cubin"]
    assert compiled(form="CUBIN") == first
    assert fake.stages() == ["--preprocess"]


@pytest.mark.parametrize(
    "other",
    [
        {"options": CompileOptions(compiler="nvcc", options=("-O1",))},
        {"options": CompileOptions(compiler="nvcc", kernels=("k<1>",))},
        {"form": "CUBIN"},
        {"number": 80},
        {"data": KERNEL + b"\n"},
        {"origin": "own/other.cu"},
    ],
)
def test_what_a_result_depends_on(fake: FakeNvcc, other: dict[str, object]) -> None:
    compiled()
    fake.stages()
    compiled(**other)  # type: ignore[arg-type]
    assert "--ptx" in fake.stages()


def test_another_host_compiler(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setenv("FAKE_HOST_COMPILER", '"13.1.0"')
    fake.stages()
    compiled()
    assert fake.stages() == ["--preprocess", "--ptx"]


def test_flags_in_variables_of_nvcc(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-G")
    fake.stages()
    compiled()
    assert fake.stages() == ["--preprocess", "--ptx"]


def test_the_cache_is_off(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_CACHE_DISABLE", "1")
    for _ in range(2):
        compiled()
        assert fake.stages() == ["--preprocess", "--ptx"]
    assert not (tmp_path / "cache").exists()


def test_warnings_of_a_cached_result(fake: FakeNvcc) -> None:
    warning = 'own/kernel.cu(2): warning #177-D: variable "x" was declared but never referenced\n'
    (fake.folder / "log").write_text(warning)
    first = compiled()
    (fake.folder / "log").unlink()
    assert compiled().warnings == first.warnings
    [found] = first.warnings
    assert (found.tool, found.severity, found.file, found.line) == (
        "nvcc",
        "warning",
        "own/kernel.cu",
        2,
    )


# --- the log -------------------------------------------------------------------------------------


def test_an_error_is_shown_in_the_source(fake: FakeNvcc) -> None:
    fake.fails(
        'own/kernel.cu(2): error: identifier "y" is undefined\n'
        '  extern "C" __attribute__((global)) void k(float *x) { *x = y; }\n'
        "                                                             ^\n\n"
        '1 error detected in the compilation of "kernel.cu".\n'
    )
    with pytest.raises(Diagnosed) as caught:
        compiled()
    assert caught.value.what == "nvcc: the source does not compile"
    [found] = caught.value.diagnostics
    assert found.place == "own/kernel.cu:2:47"
    assert found.source == 'extern "C" __global__ void k(float *x) { *x = y; }'


def test_an_error_of_the_host_compiler(fake: FakeNvcc) -> None:
    fake.fails(
        "own/kernel.cu:1:10: fatal error: none.h: No such file or directory\n"
        '    1 | #include "none.h"\n'
        "      |          ^~~~~~~~\n"
        "compilation terminated.\n"
    )
    with pytest.raises(Diagnosed) as caught:
        compiled()
    [found] = caught.value.diagnostics
    assert (found.severity, found.place) == ("fatal", "own/kernel.cu:1:10")
    assert caught.value.explanation == "nvcc did not find none.h in any include directory."


@pytest.mark.parametrize(
    ("log", "message", "hint"),
    [
        ("nvcc fatal   : Unknown option '--foo'", "nvcc: Unknown option '--foo'", None),
        (
            "nvcc fatal   : Unsupported gpu architecture 'compute_90'",
            "nvcc: Unsupported gpu architecture 'compute_90'",
            "nvcc --list-gpu-arch",
        ),
        (
            "gcc: No such file or directory\n"
            "nvcc fatal   : Failed to preprocess host compiler properties.",
            "nvcc did not find a host compiler",
            "--compiler-bindir=PATH",
        ),
    ],
)
def test_a_request_that_nvcc_refuses(
    fake: FakeNvcc, log: str, message: str, hint: str | None
) -> None:
    fake.fails(f"{log}\n")
    with pytest.raises(RequestError) as caught:
        compiled()
    assert caught.value.what == message
    assert (hint or "") in (caught.value.hint or "")


def test_a_crash_of_nvcc(fake: FakeNvcc) -> None:
    fake.fails("Segmentation fault\n")
    with pytest.raises(Diagnosed) as caught:
        compiled()
    assert caught.value.what == "nvcc ended with status 1"
    assert caught.value.log == "Segmentation fault"


# --- the choice of a compiler --------------------------------------------------------------------


def test_auto_takes_nvcc_where_nvrtc_is_not_installed(
    fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvrtc, "is_installed", lambda: False)
    [note] = compiled(CompileOptions()).warnings
    assert (note.tool, note.severity) == ("cudarun", "note")
    assert note.message == "own/kernel.cu is compiled by nvcc 13.0: NVRTC is not installed"


def test_a_chosen_compiler_has_no_note(fake: FakeNvcc) -> None:
    assert compiled().warnings == ()


def test_where_nvcc_is_looked_for(
    fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert toolkit_module.find_program("nvcc") == os.fspath(fake.path)
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    fake.folder.rename(toolkit / "bin")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.setattr(toolkit_module, "_DEFAULT_HOME", "/nowhere")
    monkeypatch.setattr(sys, "path", [])
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert toolkit_module.find_program("nvcc") is None
    monkeypatch.setenv("CUDA_HOME", os.fspath(toolkit))
    assert toolkit_module.find_program("nvcc") == os.fspath(toolkit / "bin/nvcc")
    monkeypatch.delenv("CUDA_HOME")
    wheel = tmp_path / "site/nvidia/cu13"
    wheel.mkdir(parents=True)
    (toolkit / "bin").rename(wheel / "bin")
    monkeypatch.setattr(sys, "path", [os.fspath(tmp_path / "site")])
    assert toolkit_module.find_program("nvcc") == os.fspath(wheel / "bin/nvcc")


def test_nvcc_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find_program", lambda name: None)
    with pytest.raises(RequestError) as caught:
        compiled()
    assert caught.value.message == "--compiler: nvcc is not installed"
    assert "pip install nvidia-cuda-nvcc nvidia-cuda-cccl" in (caught.value.hint or "")
    assert "NVRTC compiles files without host code" in (caught.value.hint or "")


@needs_nvrtc
def test_auto_without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is NVRTC's, and the hint says how to get nvcc."""
    monkeypatch.setattr(source, "find_program", lambda name: None)
    with pytest.raises(Diagnosed) as caught:
        compiled(CompileOptions())
    assert caught.value.explanation == (
        "NVRTC compiles device code only, and <vector> is a host header."
    )
    assert "install nvcc, which may compile it" in (caught.value.hint or "")
    assert "pip install nvidia-cuda-nvcc" in (caught.value.hint or "")


@needs_nvrtc
@pytest.mark.parametrize(
    ("text", "calls_nvcc"),
    [
        ("#include <unistd.h>\n", True),
        ("#include <vector>\n", True),
        ('#include "none.h"\n', False),
        ("int main() {}\n", True),
        ("__host__ void f() {}\n", True),
        ("#include <cub/device/device_scan.cuh>\n", True),
        ("#include <thrust/host_vector.h>\n", True),
        ("#error not with NVRTC\n", True),
        ("#error too old\n", False),
        ("\ufeff", False),
        ("__device__ __int128 i;\n", False),
        ("__device__ int f() { return missing; }\n", False),
        ("#ifndef __CUDACC_RTC__\n#include <vector>\nint main() {}\n#endif\n", False),
    ],
)
def test_what_auto_gives_to_nvcc(
    fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch, text: str, calls_nvcc: bool
) -> None:
    monkeypatch.setenv("CUDARUN_CACHE", "off")
    with suppress(Diagnosed):
        compiled(CompileOptions(), data=f"{text}__global__ void k() {{}}\n".encode())
    assert (fake.calls() != []) == calls_nvcc


@needs_nvrtc
@pytest.mark.parametrize(
    ("options", "number"), [(("-Xcompiler=-Wall",), 90), (("--no-such",), 90), ((), 999)]
)
def test_options_that_nvrtc_does_not_know(
    fake: FakeNvcc, options: tuple[str, ...], number: int
) -> None:
    """They are for nvcc, which knows them or says so."""
    [note] = compiled(
        CompileOptions(options=options), data=b"__global__ void k() {}", number=number
    ).warnings
    assert f": NVRTC: {'unrecognized option' if options else 'invalid value'}" in note.message


@needs_nvrtc
def test_a_known_header_that_nobody_has(fake: FakeNvcc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is better advice than nvcc."""
    monkeypatch.setattr(source, "find_program", lambda name: None)
    with pytest.raises(Diagnosed) as caught:
        compiled(CompileOptions(), data=b"#include <cutlass/gemm.h>\n__global__ void k() {}\n")
    assert "github.com/NVIDIA/cutlass" in (caught.value.hint or "")
