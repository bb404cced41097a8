"""``load --for`` and ``launch --for``: kernels on GPUs that this machine does not have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

SAXPY = "samples/saxpy.ptx"
ARGUMENTS = ("f32:2", "f32[100]:iota", "f32[100]:zeros", "i32:100")


def test_ptx_runs_on_newer_gpus(run: Run) -> None:
    ran = run("load", SAXPY, "--for", "t4, gb10,T4", "--block", "256", "--json")
    assert ran.code == 0
    [file] = ran.document["files"]
    t4, gb10 = file["predictions"]
    assert (t4["gpu"], gb10["gpu"]) == ("t4", "gb10")
    assert (t4["code"], t4["verdict"], t4["architecture"]) == ("compute_75", "launches", 75)
    assert (t4["occupancy"]["blocks"], gb10["occupancy"]["blocks"]) == (4, 6)


def test_the_reasons(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.entry j() { ret; } .entry k() { ret; }"
    )
    ran = run("load", "k.ptx", "--for", "a100,h200", "--block", "2048")
    assert ran.code == 5
    assert ran.err.count("compute_90a, which runs on its own architecture only") == 1
    assert "2048 threads per block, the limit is 1024" in ran.err
    ran = run("load", "samples/clusters.ptx", "--for", "a100")
    assert ran.code == 4
    assert "The PTX is for compute_90, which is newer than sm_80 (NVIDIA A100" in ran.err


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("frobnicate.u32 %r0, %r1", "Not a name of any known instruction: 'frobnicate'"),
        ("add.u32 %r0, %r1, %q1", "Unknown symbol '%q1'"),
        ("redux.sync.add.u32 %r0, %r1, -1", "requires .target sm_80 or higher"),
    ],
)
def test_ptx_that_no_compiler_accepts(
    run: Run, tmp_path: Path, instruction: str, reason: str
) -> None:
    """The ``.target`` decides, not the GPU; one kernel refuses the text."""
    (tmp_path / "k.ptx").write_text(
        ".version 8.0\n.target sm_75\n.address_size 64\n.entry j() { ret; }\n.entry k()\n{\n"
        f".reg .b32 %r<4>;\n{instruction};\nret;\n}}"
    )
    ran = run("load", "k.ptx", "--for", "t4,h100", "--json")
    assert ran.code == 4
    [file] = ran.document["files"]
    found = [(each["gpu"], each["kernel"], each["verdict"]) for each in file["predictions"]]
    assert found == [(gpu, k, "refused") for gpu in ("t4", "h100") for k in "jk"]
    for each in file["predictions"]:
        assert (each["error"]["device"], each["error"]["kernel"]) == (each["gpu"], each["kernel"])
        [diagnostic] = each["error"]["diagnostics"]
        assert reason in diagnostic["message"]
        assert (diagnostic["file"], diagnostic["line"]) == ("k.ptx", 8)


def test_ptx_that_cpu_lacks_is_no_reason(run: Run, tmp_path: Path) -> None:
    """Nor is a version of PTX that it does not know: the GPU's driver may know it."""
    multimem = "multimem.red.relaxed.sys.global.add.u32 [%w], %r;"
    register = "mov.u32 %r, %locality_domain_id;"
    for version, instruction in (("9.9", ""), ("9.0", multimem), ("9.5", register)):
        (tmp_path / "k.ptx").write_text(
            f".version {version}\n.target sm_100\n.address_size 64\n"
            f".entry k() {{ .reg .b32 %r; .reg .b64 %w; {instruction} ret; }}"
        )
        assert run("load", "k.ptx", "--for", "b200").code == 0
        assert run("load", "k.ptx", "-d", "cpu@b200").code == 4


# --- launches -------------------------------------------------------------------------------------


def test_a_launch_is_predicted_with_its_geometry(run: Run) -> None:
    words = ("launch", SAXPY, "-d", "cpu", "--threads", "100", *ARGUMENTS, "--for", "t4,b200")
    ran = run(*words)
    assert ran.code == 0
    assert "saxpy launches on b200, by its limits (16 blocks per multiprocessor)" in ran.out
    ran = run(*words, "--smem", "70000", "--json")
    assert ran.code == 5
    [outcome] = ran.document["outcomes"]
    found = [each["verdict"] for each in outcome["result"]["predictions"]]
    assert found == ["exceeds-limits", "launches"]
    assert "70000 dynamic bytes of shared memory" in outcome["error"]["message"]


def test_a_spec(run: Run, tmp_path: Path) -> None:
    image = Path(SAXPY).resolve()
    (tmp_path / "s.toml").write_text(f"""
        [[launch]]
        image = "{image}"
        device = ["cpu@l4", "cpu@b200"]
        threads = 100
        smem = 100000
        args = {[*ARGUMENTS]}
        for = ["rtx5090", "sm_87"]
    """)
    ran = run("launch", "--spec", str(tmp_path / "s.toml"))
    assert (ran.code, ran.err) == (0, "")
    assert "on cpu@l4" in ran.out
    ran = run("launch", "--spec", str(tmp_path / "s.toml"), "--for", "t4")
    assert ran.code == 5
    assert "the limit is 65536" in ran.out


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_devices_of_a_launch(run: Run, engine: str) -> None:
    ran = run(
        *("launch", SAXPY, "-d", "cpu@rtx5090,cpu@t4", "--cpu-engine", engine, "--threads", "100"),
        *("a=f32:2", "x=f32[100]:iota", "y=f32[100]:zeros", "n=i32:100"),
        *("--smem", "65540", "--check", "y == 2*x"),
    )
    assert ran.code == 5
    assert "on cpu@rtx5090 (cudarun emulated NVIDIA GeForce RTX 5090)" in ran.out
    assert "in bytes (0 static + 65540 dynamic): 65540 requested, the limit is 65536" in ran.err


def test_devices_of_one_process_have_one_profile(run: Run) -> None:
    ran = run("launch", SAXPY, "-d", "cpu@a100,cpu@l4", "--together", *ARGUMENTS)
    assert ran.code == 2
    assert "--together: one process cannot use GPUs and emulated devices, or several" in ran.err
    ran = run("managed", "samples/managed.ptx", "-d", "cpu@a100,cpu@l4")
    assert (ran.code, "one process cannot use GPUs" in ran.err) == (2, True)
    assert run("devices", "-d", "cpu@a100,cpu@l4,cpu").code == 0
