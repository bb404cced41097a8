"""The complete commands that `load` and the error for missing arguments suggest: they run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.conftest import SAMPLES

if TYPE_CHECKING:
    from conftest import Run

# Without the candidates of the judge: twenty kernels of one signature, most of which are wrong.
IMAGES = sorted(
    each.relative_to(SAMPLES.parent).as_posix()
    for each in SAMPLES.glob("**/*.ptx")
    if each.parent.name != "judge"
)

# Kernels whose suggestion cannot end well: they are samples of failures, or demand more of their
# arguments and blocks than a signature tells.
FAILING = {
    "deadlock": 5,
    "far_past": 5,
    "batched_matmul": 5,  # its parameters point to pointers
    "banks": 5,  # its integer is a stride in shared memory
    "double_buffer": 5,  # its array in shared memory is two arrays
    "pipeline": 5,  # half of its block produces for the other half
}
ENDLESS = {"endless"}
UNLINKED = {"samples/link/main.ptx", "samples/link/lib.ptx"}


def suggested(run: Run, image: str) -> dict[str, str]:
    """The command for each kernel of an image on `cpu`."""
    ran = run("load", image, "-d", "cpu", "--json")
    assert ran.code == 0, ran.err
    [outcome] = ran.document["outcomes"]
    return {kernel["name"]: kernel["launch"] for kernel in outcome["results"][0]["kernels"]}


def words(command: str) -> list[str]:
    """The arguments of ``cudarun`` in a shell command."""
    program, *arguments = shlex.split(command)
    assert program == "cudarun"
    return arguments


@pytest.mark.parametrize("image", [each for each in IMAGES if each not in UNLINKED])
def test_the_suggested_command_of_each_kernel_runs(run: Run, image: str) -> None:
    commands = suggested(run, image)
    assert commands
    for name, command in commands.items():
        if name not in ENDLESS:
            ran = run(*words(command), "-q")
            assert ran.code == FAILING.get(name, 0), f"{command}\n{ran.err}"


@pytest.mark.parametrize("name", ["saxpy", "matmul", "particles", "reduce"])
def test_the_suggestion_for_source_names_the_arguments_and_runs(run: Run, name: str) -> None:
    image = f"samples/{name}.cu"
    commands = suggested(run, image)
    for command in commands.values():
        assert run(*words(command), "-q").code == 0, command
        assert ("-k" in words(command)) == (len(commands) > 1)
    if name == "saxpy":
        assert commands["saxpy"] == (
            "cudarun launch samples/saxpy.cu -d cpu --threads n a=f32:1 'x=f32[n]:iota' "
            "'y=f32[n]:zeros' n=i32:1024"
        )


def hint(run: Run, *args: str, code: int = 2) -> str:
    """The command in the hint of an error."""
    ran = run(*args)
    assert ran.code == code
    introduction, command = ran.err[ran.err.index("hint: ") :].splitlines()
    assert introduction == "hint: a complete command:"
    return command


def test_missing_arguments_are_completed(run: Run) -> None:
    command = hint(run, "launch", "samples/saxpy.ptx", "-d", "cpu")
    assert command == (
        "cudarun launch samples/saxpy.ptx -d cpu --threads 1024 f32:1 'f32[1024]:iota' "
        "'f32[1024]:zeros' i32:1024"
    )
    assert run(*words(command), "-q").code == 0


def test_what_was_given_is_kept(run: Run) -> None:
    given = (
        "-d",
        "cpu",
        "-k",
        "matmul_tiled",
        "--grid",
        "2,2",
        "--block",
        "16x16",
        "f32[64,64]:ones",
    )
    command = hint(run, "launch", "samples/matmul.ptx", *given)
    assert command == (
        "cudarun launch samples/matmul.ptx -k matmul_tiled -d cpu --grid 2,2 --block 16,16 "
        "'f32[64,64]:ones' 'f32[4096]:iota' 'f32[4096]' i32:16 i32:16 i32:16"
    )
    assert run(*words(command), "-q").code == 0


def test_buffers_are_as_large_as_the_given_integers(run: Run) -> None:
    command = hint(run, "launch", "samples/saxpy.cu", "-d", "cpu", "n=5000")
    assert command == (
        "cudarun launch samples/saxpy.cu -d cpu --threads n a=f32:1 'x=f32[n]:iota' "
        "'y=f32[n]:zeros' n=5000"
    )
    assert run(*words(command), "-q").code == 0


def test_an_argument_that_does_not_match_is_replaced(run: Run) -> None:
    command = hint(run, "launch", "samples/saxpy.ptx", "-d", "cpu", "i32:3", "f32[8]:iota")
    assert words(command)[6:] == ["f32:1", "f32[8]:iota", "f32[1024]:zeros", "i32:1024"]


def test_a_plan_suggests_too(run: Run) -> None:
    command = hint(run, "launch", "samples/saxpy.ptx", "--dry-run", "-d", "cpu")
    assert words(command)[:4] == ["launch", "samples/saxpy.ptx", "-d", "cpu"]
    assert "-d" not in words(hint(run, "launch", "samples/saxpy.ptx", "--dry-run"))


def test_compile_options_are_kept(run: Run, tmp_path: Any) -> None:
    (tmp_path / "f.cu").write_text(
        'extern "C" __global__ void f(Word* x, int n) { if (n) x[0] = 1; }'
    )
    command = hint(run, "launch", "f.cu", "-d", "cpu", "-D", "Word=float", "--std", "c++17")
    assert words(command)[2:6] == ["-D", "Word=float", "--std", "c++17"]
    assert run(*words(command), "-q").code == 0


def test_standard_input_is_a_dash(run: Run, tmp_path: Any) -> None:
    data = (SAMPLES / "saxpy.ptx").read_bytes()
    ran = run("launch", "-", "-d", "cpu", stdin=data)
    assert "\ncudarun launch - -d cpu --threads 1024 " in ran.err


def test_no_command_where_too_many_are_given(run: Run) -> None:
    ran = run("launch", "samples/hello.ptx", "-d", "cpu", "--grid", "1", "1", "2", "3")
    assert (ran.code, "hint:" in ran.err) == (2, False)


def test_offline_too(run: Run) -> None:
    [file] = run("load", "--offline", "samples/saxpy.ptx", "--json").document["files"]
    assert file["kernels"][0]["launch"].startswith("cudarun launch samples/saxpy.ptx --threads")
    [file] = run("load", "--offline", "samples/link/main.ptx", "--json").document["files"]
    assert file["kernels"][0]["launch"] is None  # it has to be linked first


def test_arrays_of_numba_are_suggested_as_one_argument(run: Run) -> None:
    [command] = suggested(run, "samples/nbody.ptx").values()
    arrays = ["numba(f32[32,32]:rand)", "numba(f32[32,32]:rand)", "numba(f32[32,32])"]
    assert words(command)[-4:] == [*arrays, "f32:1"]
    ran = run("launch", "samples/nbody.ptx", "-d", "cpu", "p=numba(f32[8,4]:rand)")
    assert ran.err.splitlines()[-1].endswith(
        "'p=numba(f32[8,4]:rand)' 'numba(f32[32,32]:rand)' 'numba(f32[32,32])' f32:1"
    )
