"""``cudarun record`` with a stub of the driver, and replays of what it records."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from cudarun.session.record.parent import SOURCES
from cudarun.session.recording.archive import read_recording
from tests.commands.conftest import ROOT, Recorder
from tests.support.stub_driver import PTX


@pytest.mark.parametrize("task", ["scale", "packed", "config", "gather", "fork"])
def test_a_launch_is_recorded_and_replayed(recorder: Recorder, task: str) -> None:
    ran = recorder("-o", "x.cudarun", "--json", task=task)
    assert ran.code == 0, ran.err
    [file] = ran.document["files"]
    kernel = "gather" if task == "gather" else "scale"
    assert (file["path"], file["kernel"], file["status"]) == ("x.cudarun", kernel, 0)
    assert file["ranges"] == (5 if task == "gather" else 2)  # only what is reachable
    assert file["has_ptx"]
    assert task == "fork" or "the program's output" in ran.err  # stdout is the document

    replayed = recorder.replay("x.cudarun", "--detect", "race,uninit")
    assert replayed.code == 0, replayed.err
    passed = [line for line in replayed.out.splitlines() if line.endswith("== recorded")]
    assert passed == (
        ["PASS m1 == recorded"]
        if task == "gather"
        else ["PASS m0 == recorded", "PASS launches == recorded"]
    )


def test_the_program_is_unchanged(recorder: Recorder) -> None:
    ran = recorder("-o", "x.cudarun", task="status")
    assert (ran.code, ran.out) == (7, "the program's output\n")
    assert ran.err.startswith("recorded x.cudarun: scale, launch 1, grid 4, block 256, 7.81 KiB")


def test_a_different_result_fails(recorder: Recorder) -> None:
    recorder("-o", "x.cudarun", task="scale")
    ran = recorder.replay("x.cudarun", "--set", "factor=f32[2]:3")
    assert ran.code == 1
    assert "FAIL m0 == recorded" in ran.out
    assert "PASS launches == recorded" in ran.out
    assert "give the numbers types with cudarun record --shrink, and add --rtol 1e-5" in ran.err
    recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun")
    ran = recorder.replay("small.cudarun", "--set", "factor=f32[2]:3")
    assert "to accept rounding errors, add --rtol 1e-5" in ran.err


def test_options_of_launch_apply(recorder: Recorder, tmp_path: Path) -> None:
    recorder("-o", "x.cudarun", task="scale")
    ran = recorder.replay("x.cudarun", "--repeat", "2", "--print", "m1[:4]", "--reference", "cpu")
    assert ran.code == 0, ran.err
    assert "m1[:4] = [  0   0 128  63]" in ran.out
    (tmp_path / "spec.toml").write_text('[[launch]]\nname = "one"\nimage = "x.cudarun"\n')
    assert recorder._run("launch", "--spec", "spec.toml", "-d", "cpu").code == 0
    refused = recorder.replay("x.cudarun", "f32:1")
    assert refused.code == 2
    assert "a recording has its own arguments" in refused.err


def test_launches_are_chosen(recorder: Recorder, tmp_path: Path) -> None:
    ran = recorder("-k", "sc*", "--nth", "2", task="twice")
    assert ran.code == 0
    assert "recorded scale.cudarun: scale, launch 2" in ran.err
    ran = recorder("--all-kernels", task="twice")
    assert sorted(path.name for path in tmp_path.glob("*.cudarun")) == [
        "gather.cudarun",
        "scale-2.cudarun",
        "scale.cudarun",
    ]
    ran = recorder("--count", "3", "-o", "all.cudarun", task="twice")
    assert len([*tmp_path.glob("all*.cudarun")]) == 3


def test_launches_are_listed(recorder: Recorder) -> None:
    ran = recorder("--list", task="twice")
    assert ran.code == 0
    assert ran.out.splitlines()[1:] == [
        "launches  ms     grid  block  shared  kernel",
        "2         1.000  4     256    0       scale",
        "1         0.500  1     32     0       gather",
    ]
    [row] = recorder("--list", "--json", "-k", "gather", task="twice").document["launches"]
    assert (row["kernel"], row["launches"], row["block"]) == ("gather", 1, [32, 1, 1])


@pytest.mark.parametrize("task", ["graph", "graph-change", "graph-child"])
def test_a_launch_of_a_graph_is_recorded(recorder: Recorder, tmp_path: Path, task: str) -> None:
    ran = recorder("--nth", "4", "--count", "2", "-o", "x.cudarun", task=task)
    assert ran.code == 0, ran.err
    assert [line.split(",")[1] for line in ran.err.splitlines()] == [" launch 4", " launch 5"]
    for name, count in (("x", 1000), ("x-2", 500 if task == "graph-change" else 1000)):
        assert "PASS launches == recorded" in recorder.replay(f"{name}.cudarun").out
        manifest = read_recording(str(tmp_path / f"{name}.cudarun"), 1 << 20).manifest
        assert int.from_bytes(manifest.parameters[16:20], "little") == count


@pytest.mark.parametrize("task", ["graph", "graph-child"])
def test_launches_of_graphs_are_listed(recorder: Recorder, task: str) -> None:
    [row] = recorder("--list", "--json", task=task).document["launches"]
    assert (row["kernel"], row["launches"], row["in_graph"]) == ("scale", 6, True)
    assert "6         graph  4     256    0       scale" in recorder("--list", task=task).out


def test_a_fault_in_a_graph_is_found(recorder: Recorder) -> None:
    ran = recorder("--at-fault", "-o", "x.cudarun", task="graph-fault")
    assert ran.code == 87, ran.err
    assert "note: launch 1 of overrun faults with 700\n" in ran.err
    assert "recorded x.cudarun: overrun, launch 1" in ran.err


def test_a_graph_that_cannot_be_split_is_named(recorder: Recorder) -> None:
    ran = recorder("-k", "scale", task="graph-allocation")
    assert ran.code == 1
    assert "scale cannot be recorded in a CUDA graph with a memory allocation node" in ran.err
    assert (
        recorder("--list", "--json", task="graph-allocation").document["launches"][0]["launches"]
        == 6
    )


@pytest.mark.parametrize(
    ("options", "task", "code", "message"),
    [
        (("-k", "none"), "scale", 1, "no launch matches"),
        (("-k", "none"), "status", 7, "no launch matches"),
        (("--nth", "9"), "scale", 1, "--nth 9: the program has only 1 matching launches"),
        (
            ("--max-size", "100"),
            "scale",
            1,
            "at least 4,000 bytes of memory, which exceeds",
        ),
        (("-o", "missing/x.cudarun"), "scale", 2, "the directory missing does not exist"),
    ],
)
def test_what_is_not_recorded_is_said(
    recorder: Recorder, options: tuple[str, ...], task: str, code: int, message: str
) -> None:
    ran = recorder(*options, task=task)
    assert (ran.code, ran.err.count(message)) == (code, 1), ran.err


def test_too_much_memory_suggests_how_programs_use_less(recorder: Recorder) -> None:
    ran = recorder("--max-size", "100", task="scale")
    assert "set XLA_PYTHON_CLIENT_PREALLOCATE=false" in ran.err


LIMIT = "ulimit -S -f 700; exec"  # of files: 700 blocks of 512 bytes, more than the control page
NO_LIMIT = "ulimit -S -f unlimited; exec"


def _shell(setting: str, *words: str) -> tuple[str, ...]:
    return ("sh", "-c", f'{setting} "$@"', "sh", *words)


def test_a_full_disk_of_the_program_leaves_it_alone(recorder: Recorder, tmp_path: Path) -> None:
    program = (os.fspath(recorder.stub / "program"), "status", os.fspath(PTX))
    noisy = {"NOISE": "400000"}
    ran = recorder.of("-o", "x.cudarun", "--", *_shell(LIMIT, *program), **noisy)
    assert (ran.code, ran.out) == (7, "the program's output\n"), ran.err
    assert "error: no launch was recorded: a raw file cannot be written: File too large" in ran.err
    assert not [*tmp_path.glob("*.cudarun*")]
    ran = recorder.of("--list", "--", *_shell("ulimit -S -f 1; exec", *program))
    assert (ran.code, ran.out) == (7, "the program's output\nno launches\n"), ran.err
    assert "note: the list of launches is not complete: File too large" in ran.err


def test_a_full_disk_of_the_recorder_leaves_no_half_file(
    recorder: Recorder, tmp_path: Path
) -> None:
    program = (os.fspath(recorder.stub / "program"), "status", os.fspath(PTX))
    assert recorder("-o", "small.cudarun", task="scale").code == 0  # the library is built
    words = (sys.executable, "-m", "cudarun", "record", "-o", "x.cudarun", "--")
    done = subprocess.run(
        _shell(LIMIT, *words, *_shell(NO_LIMIT, *program)),
        cwd=tmp_path,
        env=os.environ | recorder.places | {"NOISE": "400000", "PYTHONPATH": os.fspath(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (7, "the program's output\n"), done.stderr
    assert done.stderr == "error: -o: x.cudarun cannot be written: File too large\n"
    assert [path.name for path in tmp_path.glob("*.cudarun*")] == ["small.cudarun"]


def test_a_killed_program_leaves_no_half_file(recorder: Recorder, tmp_path: Path) -> None:
    ran = recorder("-k", "overrun", "-o", "x.cudarun", task="fault", STUB_KILLS="1")
    assert ran.code == 137
    assert "error: the program ended before the launch that is recorded" in ran.err
    assert not [*tmp_path.glob("*.cudarun*")]


def test_nothing_is_overwritten(recorder: Recorder, tmp_path: Path) -> None:
    (tmp_path / "x.cudarun").write_text("mine")
    ran = recorder("-o", "x.cudarun", task="scale")
    assert (ran.code, ran.out) == (2, "")  # before the program starts
    assert (tmp_path / "x.cudarun").read_text() == "mine"


def test_eight_threads_launch_while_one_is_recorded(recorder: Recorder) -> None:
    ran = recorder("--nth", "100", "--count", "3", "-o", "x.cudarun", task="threads")
    assert ran.code == 0, ran.err
    for name in ("x.cudarun", "x-2.cudarun", "x-3.cudarun"):
        assert "PASS m0 == recorded" in recorder.replay(name).out


def test_a_fault_is_found_recorded_and_shrunk(recorder: Recorder, tmp_path: Path) -> None:
    ran = recorder("--at-fault", "-o", "x.cudarun", task="fault")
    assert ran.code == 70, ran.err
    assert "note: launch 1 of overrun faults with 700\n" in ran.err
    assert "recorded x.cudarun: overrun, launch 1" in ran.err
    assert ran.err.endswith("failed with 700\n")
    assert recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun").code == 0
    replayed = recorder.replay("small.cudarun")
    assert replayed.code == 5
    assert "illegal address in a 4-byte store" in replayed.err
    assert "that is element 1048579 of buffer m0, f32[1000]" in replayed.err
    assert "from kernels.cu:32" in replayed.err
    assert "thread (3, 0, 0)" in replayed.err


def test_an_endless_launch_is_found_and_recorded(recorder: Recorder) -> None:
    ran = recorder("--at-fault", "--timeout", "0.5", "-o", "x", task="fault", STUB_HANGS="1")
    assert ran.code == 137
    assert "note: launch 1 of overrun does not end\n" in ran.err
    assert "did not end" in ran.err.splitlines()[-1]


def test_without_a_fault_nothing_is_recorded(recorder: Recorder) -> None:
    ran = recorder("--at-fault", task="scale")
    assert (ran.code, "no launch faults" in ran.err) == (1, True)
    refused = recorder("-d", "cpu", task="scale")
    assert (refused.code, "requires --shrink" in refused.err) == (2, True)
    refused = recorder("--at-fault", "--nth", "2", task="scale")
    assert (refused.code, "cannot be combined" in refused.err) == (2, True)


def test_without_a_compiler_or_a_program(recorder: Recorder, tmp_path: Path) -> None:
    cache = os.fspath(tmp_path / "cache")
    ran = recorder.of("--", "true", PATH="/none", CC="", XDG_CACHE_HOME=cache)
    assert ran.code == 2
    assert "no C compiler: cc or gcc or clang is not installed" in ran.err
    ran = recorder.of("--", "./none")
    assert (ran.code, "./none cannot be started: No such file" in ran.err) == (2, True)
    assert recorder.of().code == 2


def test_a_tensor_map_is_recorded_with_its_arguments(recorder: Recorder, tmp_path: Path) -> None:
    ran = recorder("-o", "x.cudarun", "--json", task="tile")
    assert ran.document["files"][0]["ranges"] == 2  # that of the map, too
    manifest = read_recording(str(tmp_path / "x.cudarun"), 1 << 20).manifest
    [tensor] = manifest.tensor_maps
    assert (tensor.offset, tensor.type, manifest.layout) == (48, 7, ((48, 128), (176, 8)))
    assert tensor.address == _address(manifest.parameters[48:])
    assert (tensor.shape, tensor.strides) == ((52, 19), (208,))
    assert (tensor.box, tensor.steps, tensor.swizzle) == ((8, 4), (1, 1), 0)
    replayed = recorder.replay("x.cudarun")  # PTX has the parameters at 0 and 128
    assert (replayed.code, "== recorded" in replayed.out) == (0, True), replayed.err


def test_an_im2col_map_is_recorded_with_its_arguments(recorder: Recorder, tmp_path: Path) -> None:
    assert recorder("-o", "x.cudarun", task="im2col").code == 0
    [tensor] = read_recording(str(tmp_path / "x.cudarun"), 1 << 20).manifest.tensor_maps
    assert (tensor.shape, tensor.strides, tensor.box) == ((16, 8, 7, 1), (64, 512, 3584), ())
    assert (tensor.lower, tensor.upper) == ((-1, -2), (-1, 0))
    assert (tensor.channels, tensor.pixels) == (16, 8)
    replayed = recorder.replay("x.cudarun")
    assert (replayed.code, "== recorded" in replayed.out) == (0, True), replayed.err


def _address(parameters: bytes) -> int:
    return int.from_bytes(parameters[:8], "little")


def test_textures_and_surfaces_are_recorded(recorder: Recorder, tmp_path: Path) -> None:
    ran = recorder("-o", "x.cudarun", task="fetch")
    assert ran.code == 0, ran.err
    manifest = read_recording(str(tmp_path / "x.cudarun"), 1 << 20).manifest
    assert [(each.handle, each.surface, each.array) for each in manifest.objects] == [
        (2, False, "a0"),
        (3, True, "a1"),
    ]
    assert [(each.size, bool(each.after)) for each in manifest.arrays] == [
        (512, False),
        (512, True),
    ]
    ran = recorder.replay("x.cudarun", "--print", "a1[3,:2]")
    assert (ran.code, "a1[3,:2] = [97. 99.]" in ran.out) == (0, True), ran.out + ran.err
    passed = [line for line in ran.out.splitlines() if line.startswith("PASS")]
    assert passed == ["PASS m0 == recorded", "PASS a1 == recorded"]
    assert recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun").code == 0
    assert "PASS a1 == recorded" in recorder.replay("small.cudarun").out
    refused = recorder.of("--edit", "small.cudarun", "-o", "x.toml")
    assert (refused.code, "a spec cannot express recorded texture" in refused.err) == (2, True)


def test_pointers_to_variables_follow_them(recorder: Recorder) -> None:
    ran = recorder("-o", "x.cudarun", task="borrow")
    assert ran.code == 0, ran.err
    for file, ranges in (("x.cudarun", 1), ("small.cudarun", 2)):  # a pointer, and f32
        ran = recorder.replay(file)  # the variable has another address
        assert (ran.code, ran.out.count("PASS m")) == (0, ranges), ran.out + ran.err
        recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun")


def test_a_recording_names_its_program(recorder: Recorder, tmp_path: Path) -> None:
    recorder("-o", "x.cudarun", task="scale")
    with zipfile.ZipFile(tmp_path / "x.cudarun") as file:
        text = file.read("recording.toml").decode()
        assert file.read("image") == PTX.read_bytes()
    assert 'device = "Stub"' in text
    assert "program+0x" in text


def test_the_library_compiles_without_warnings() -> None:
    sources = sorted(map(os.fspath, SOURCES.glob("*.c")))
    checks = ("-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror")
    done = subprocess.run(["cc", *checks, *sources], capture_output=True, text=True)
    assert (len(sources) > 10, done.returncode) == (True, 0), done.stderr


def test_options_in_cc_and_a_cache_that_ld_preload_cannot_name(
    recorder: Recorder, tmp_path: Path
) -> None:
    cache = os.fspath(tmp_path / "a b:$ORIGIN")
    ran = recorder("-o", "x.cudarun", task="scale", CC="cc -O0", XDG_CACHE_HOME=cache)
    assert (ran.code, "recorded x.cudarun" in ran.err) == (0, True), ran.err
    (tmp_path / "t p").mkdir()
    ran = recorder("-o", "y.cudarun", task="scale", TMPDIR=os.fspath(tmp_path / "t p"))
    assert (ran.code, "ld.so cannot load a library from" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize(("signal", "is_kept"), [("TERM", True), ("KILL", False)])
def test_a_signal_keeps_the_recording_and_no_raw_memory(
    recorder: Recorder, tmp_path: Path, signal: str, is_kept: bool
) -> None:
    recorder("-o", "first.cudarun", task="scale")  # builds the library
    program = f"{recorder.stub / 'program'} scale {PTX}; kill -{signal} $PPID; exec sleep 60"
    (tmp_path / "tmp").mkdir()
    words = ["record", "-o", "x.cudarun", "--", "sh", "-c", program]
    environment = os.environ | recorder.places | {"TMPDIR": os.fspath(tmp_path / "tmp")}
    command = [sys.executable, "-m", "cudarun", *words]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, check=False)
    assert ended.returncode == (-15 if is_kept else -9)
    assert (tmp_path / "x.cudarun").exists() == is_kept
    while [*(tmp_path / "tmp").glob("cudarun-*")]:  # deleted by another process
        time.sleep(0.05)
