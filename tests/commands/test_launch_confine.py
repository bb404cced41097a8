"""``launch --spec --confine DIR``: no case reads or writes anything outside a folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.landlock import needs_landlock

if TYPE_CHECKING:
    from conftest import Run

SPEC = ("launch", "--spec", "in/cases.toml", "--confine", "in", "-d", "cpu", "-q")
KERNEL = 'extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1.0f; }\n'


@pytest.fixture
def inside(run: Run, tmp_path: Path) -> Path:
    """The folder, with files inside and outside that a spec could name."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder):
        shutil.copy(tmp_path / "samples" / "saxpy.ptx", place)
        np.save(place / "x.npy", np.arange(4, dtype="f4"))
        (place / "k.cu").write_text(KERNEL)
        (place / "one.h").write_text(f"#define ONE {int(place == folder)}\n")
    (folder / "link").symlink_to("..")
    (folder / "link.npy").symlink_to("../x.npy")
    (folder / "link.ptx").symlink_to("../saxpy.ptx")
    (folder / "new.npy").symlink_to("../new.npy")
    return folder


def write(inside: Path, rest: str = "", image: str = "saxpy.ptx", x: str = "@x.npy") -> None:
    arguments = f"""args = ["a=f32:2", '''x=f32[n]:{x}''', "y=f32[n]:ones", "n=i32:4"]"""
    (inside / "cases.toml").write_text(
        f'[[launch]]\nname = "c"\nimage = "{image}"\nthreads = 4\nblock = 4\n{arguments}\n{rest}\n'
    )


def write_source(inside: Path, text: str, rest: str = "") -> None:
    (inside / "source.cu").write_text(text + KERNEL)
    write_case(inside, "y=f32[4]", rest)


def write_case(inside: Path, argument: str, rest: str = "") -> None:
    (inside / "cases.toml").write_text(
        f'[[launch]]\nname = "c"\nimage = "source.cu"\nthreads = 4\nargs = ["{argument}"]\n{rest}\n'
    )


def refusal(run: Run) -> str:
    ran = run(*SPEC)
    assert (ran.code, ran.out) == (2, ""), ran.out + ran.err
    assert "--confine" in ran.err or "outside in" in ran.err
    return ran.err


def test_what_is_inside_is_accepted(run: Run, inside: Path) -> None:
    write(
        inside,
        'check = "x == load(\'sub/../x.npy\')"\nexpect = "x=@x.npy"\nsave = "y=sub/y.npy"',
    )
    ran = run(*SPEC)
    assert ran.code == 0, ran.out + ran.err
    assert (inside / "sub" / "y.npy").exists()


@pytest.mark.parametrize("path", ["../x.npy", "link/x.npy", "link.npy", "{outside}/x.npy"])
@pytest.mark.parametrize("key", ["args", "check", "print", "let", "expect"])
def test_inputs_outside(run: Run, inside: Path, key: str, path: str) -> None:
    path = path.replace("{outside}", str(inside.parent))
    if key == "args":
        write(inside, x=f"@{path}")
    else:
        values = {
            "check": f"x == load('{path}')",
            "print": f"load('{path}')",
            "let": f"z = load('{path}')",
            "expect": f"x=@{path}",
        }
        write(inside, f'{key} = "{values[key]}"')
    assert f"case 'c': {key}: " in refusal(run)


def test_a_file_in_the_home_directory(run: Run, inside: Path) -> None:
    write(inside, x="@~/x.npy")
    assert "is outside in" in refusal(run)


@pytest.mark.parametrize("image", ["../saxpy.ptx", "link/saxpy.ptx", "link.ptx"])
def test_an_image_outside(run: Run, inside: Path, image: str) -> None:
    write(inside, image=image)
    assert f"case 'c': image: in/{image} is outside in, it resolves to " in refusal(run)


def test_the_json_beside_an_image(run: Run, inside: Path) -> None:
    write(inside)
    (inside / "saxpy.json").symlink_to("../saxpy.json")
    assert "image: in/saxpy.json is outside in" in refusal(run)


@pytest.mark.parametrize("path", ["../y.npy", "link/y.npy", "new.npy", "/tmp/cudarun-y.npy"])
def test_outputs_outside(run: Run, inside: Path, path: str) -> None:
    write(inside, f'save = "y={path}"\nforce = true')
    assert "case 'c': save: " in refusal(run)
    assert not (inside.parent / "new.npy").exists()


SECRET = "secret_outside"


@needs_landlock
@pytest.mark.parametrize(
    "text",
    [
        '#include "../one.h"\n',
        "#include <../one.h>\n",
        '#include "link/one.h"\n',
        '#include "link.h"\n',
        '#include "{outside}/one.h"\n',
        '%: /* a */ include /* b */ "../one.h"\n',
        '#inc\\\nlude "../one.h"\n',
        '#define FILE "../one.h"\n#include FILE\n',
        '#include "deep.h"\n',
        '#include_next "../one.h"\n',
        # Of these a scanner of directives sees another text than the compiler.
        '// %: /*\n#include "../one.h"\n// */\n',
        'constexpr char s[] = "# /*";\n#include "../one.h"\nconstexpr char t[] = "*/";\n',
        'constexpr char s[] = R"(#if 0 /*)";\n#include "../one.h"\n//*/\n',
        '#include <sub/"/../../../one.h>\n',
        "#include <sub/*/../../../one.h>\n/**/\n",
    ],
)
def test_headers_outside(run: Run, inside: Path, text: str) -> None:
    """The kernel would compile with the header: nothing is read from it, and nothing is shown."""
    (inside.parent / "one.h").write_text(f"#define OUTSIDE\n{SECRET}\n")
    (inside / "link.h").symlink_to("../one.h")
    for name in ("*", '"'):
        (inside / "sub" / name).mkdir(parents=True)
    (inside / "deep.h").write_text('#include "sub/deeper.h"\n')
    (inside / "sub" / "deeper.h").write_text('#include "../../one.h"\n')
    write_source(inside, text.replace("{outside}", str(inside.parent)))
    ran = run(*SPEC)
    assert ran.code == 4, ran.out + ran.err
    assert "open source file" in ran.out
    assert SECRET not in ran.out + ran.err


@needs_landlock
def test_a_directive_that_is_not_compiled_reads_nothing(run: Run, inside: Path) -> None:
    """The names of parameters come from headers, too, by another reader than the compiler's."""
    (inside.parent / "one.h").write_text('extern "C" __global__ void k(float* secret_outside);\n')
    directive = '#if 0\n#include "../one.h"\n#endif\n'
    kernel = '#define K(name) extern "C" __global__ void name(float*) {}\nK(k)\n'
    (inside / "source.cu").write_text(directive + kernel)
    write_case(inside, "y=i8:1")
    with_secret = run("launch", "--spec", "in/cases.toml", "-d", "cpu", "-q")
    assert SECRET in with_secret.out
    ran = run(*SPEC)
    assert ran.code == with_secret.code
    assert SECRET not in ran.out + ran.err


@needs_landlock
def test_a_question_for_a_file_outside(run: Run, inside: Path) -> None:
    question = '#if __has_include("{}")\n#error exists\n#endif\n'
    write_source(inside, question.format("../one.h"))
    assert run(*SPEC).code == 0
    write_source(inside, question.format("one.h"))
    assert run(*SPEC).code == 4


@needs_landlock
def test_a_macro_names_a_header_inside(run: Run, inside: Path) -> None:
    write_source(inside, '#define FILE "one.h"\n#include FILE\nstatic_assert(ONE == 1);\n')
    ran = run(*SPEC)
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize(
    "name",
    [
        'k<1>\\n#include \\"../one.h\\"\\n',
        'k\\n#include \\"../one.h\\"\\n<1>',
        '#include \\"../one.h\\" // k<1>',
        "k<1>; struct other {}; int x = (0)",
    ],
)
@pytest.mark.parametrize("confined", [True, False])
def test_a_name_that_is_source_text(run: Run, inside: Path, name: str, confined: bool) -> None:
    (inside.parent / "one.h").write_text(f"{SECRET}\n")
    (inside / "source.cu").write_text("template <int N> __global__ void k(float* y) { *y = N; }\n")
    write_case(inside, "y=f32[4]", f'kernel = "{name}"')
    ran = run(*SPEC) if confined else run("launch", "--spec", "in/cases.toml", "-d", "cpu", "-q")
    assert ran.code in (2, 4)
    assert SECRET not in ran.out + ran.err


@needs_landlock
def test_headers_inside_and_those_of_cuda(run: Run, inside: Path) -> None:
    (inside / "sub" / "two.h").write_text('#include "../one.h"\n')
    text = (
        '#include <cstdint>\n#include <cuda_fp16.h>\n#include "two.h"\nstatic_assert(ONE == 1);\n'
    )
    write_source(inside, text, 'include = "sub"')
    ran = run(*SPEC)
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize("folder", ["..", "link", "/usr/include"])
def test_include_folders_outside(run: Run, inside: Path, folder: str) -> None:
    write_source(inside, "", f'include = "{folder}"')
    assert "case 'c': include: " in refusal(run)


def test_options_of_the_compiler(run: Run, inside: Path) -> None:
    write_source(inside, "", 'compile_option = "--pre-include=/etc/passwd"')
    assert "--confine does not allow compiler options, which can name any file" in refusal(run)


def test_another_compiler(run: Run, inside: Path) -> None:
    write_source(inside, "", 'compiler = "nvcc"')
    assert (
        "case 'c': compiler: --confine does not allow nvcc, which includes files of the host"
        in refusal(run)
    )
    write_source(inside, "int main() { return 0; }\n")  # for which auto is nvcc
    assert run(*SPEC).code == 4


def test_a_header_that_another_case_would_write(run: Run, inside: Path) -> None:
    """It is not there when the source is examined, and would be when it is compiled."""
    write_source(inside, '#include "later.bin"\n')
    with (inside / "cases.toml").open("a") as spec:
        spec.write(
            '[[launch]]\nname = "d"\nimage = "k.cu"\nthreads = 4\nargs = ["y=f32[4]"]\n'
            'save = "y=later.bin"\n'
        )
    ran = run(*SPEC)
    assert ran.code == 2
    assert "--save: in/later.bin is also an input of this command" in ran.err


def test_it_is_for_specs_and_names_a_folder(run: Run, inside: Path) -> None:
    write(inside)
    ran = run("launch", "samples/saxpy.ptx", "-d", "cpu", "--confine", ".")
    assert (ran.code, ran.err) == (2, "error: --confine requires --spec\n")
    ran = run("launch", "--spec", "in/cases.toml", "-d", "cpu", "--confine", "in/x.npy")
    assert (ran.code, ran.err) == (2, "error: --confine: in/x.npy is not a folder\n")
