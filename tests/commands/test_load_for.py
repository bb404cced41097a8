"""``load --for`` and ``launch --for``: kernels on GPUs that this machine does not have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.images.golden_files import golden
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

SAXPY = "samples/saxpy.ptx"
# A tile of each of two matrices in shared memory, static and dynamic, and a function that has some.
TILES = """\
.version 9.0
.target {target}
.address_size 64
.shared .align 16 .b8 common[1000];
.shared .align 16 .b8 unused[90000];
.extern .shared .align 16 .b8 dynamic[];
.func helper()
{{
    .shared .align 4 .b8 own[2048];
    .reg .u32 %r0;
    mov.u32 %r0, common;
    st.shared.u32 [own], %r0;
    ret;
}}
.visible .entry small(.param .u64 out) {{ ret; }}
.visible .entry tiles(.param .u64 out)
{{
    .shared .align 16 .b8 tile[{tile}];
    .reg .u32 %r0;
    mov.u32 %r0, dynamic;
    {{ st.shared.v2.u32 [tile+8], {{%r0, %r0}}; }}
    call helper, ();
    ret;
}}
"""


def predict(run: Run, *words: str, code: int = 0) -> dict[str, Any]:
    """Return the verdicts by GPU and kernel."""
    ran = run("load", *words, "--json")
    assert ran.code == code, ran.err
    [file] = ran.document["files"]
    return {f"{each['gpu']} {each['kernel']}": each for each in file["predictions"]}


def verdicts(run: Run, *words: str, code: int = 0) -> dict[str, str]:
    return {name: each["verdict"] for name, each in predict(run, *words, code=code).items()}


def test_ptx_runs_on_newer_gpus(run: Run) -> None:
    found = predict(run, SAXPY, "--for", "t4, gb10,T4", "--block", "256")
    assert list(found) == ["t4 saxpy", "gb10 saxpy"]
    t4, gb10 = found.values()
    assert (t4["code"], t4["verdict"], t4["architecture"]) == ("compute_75", "launches", 75)
    assert (t4["occupancy"]["blocks"], gb10["occupancy"]["blocks"]) == (4, 6)


@pytest.fixture
def tiles(tmp_path: Path) -> Any:
    """Return a function that writes the kernels with a tile of so many bytes."""

    def write(tile: int, target: str = "sm_80") -> str:
        path = tmp_path / "tiles.ptx"
        path.write_text(TILES.format(tile=tile, target=target))
        return str(path)

    return write


def test_static_shared_memory_counts_once(run: Run, tiles: Any) -> None:
    """Of a kernel, and of the functions that it calls; what nothing uses does not count."""
    static = 1000 + 8 + 4096 + 2048  # tile is aligned to 16
    most = 101376 - static
    path = tiles(4096)
    for dynamic, verdict, code in ((most, "launches", 0), (most + 1, "exceeds-limits", 5)):
        found = verdicts(
            run, path, "--for", "rtx5090", "-k", "tiles", "--smem", str(dynamic), code=code
        )
        assert found == {"rtx5090 tiles": verdict}


def test_too_much_static_shared_memory_does_not_load(run: Run, tiles: Any) -> None:
    """As ptxas: 48 KiB before Hopper, and a GPU's own limit from there on."""
    found = verdicts(run, tiles(60000), "--for", "a100,rtx5090,b200", "-k", "tiles", code=4)
    assert list(found.values()) == ["refused", "launches", "launches"]
    found = verdicts(run, tiles(120000), "--for", "gb10,h200", "-k", "tiles", code=4)
    assert list(found.values()) == ["refused", "launches"]


@pytest.mark.parametrize(
    ("gpu", "dynamic", "fits"),
    [  # dynamic shared memory of kernels that users have seen launch or fail on these GPUs
        ("rtx5090", 131072, False),  # a fused matmul of Inductor (executorch#21827)
        ("gb10", 3 * (128 + 256) * 128, False),  # a fused MoE of fp8, 4 stages (sglang#28019)
        ("gb10", 1 * (128 + 256) * 128, True),  # the same with 2 stages
        ("gb10", 143360, False),  # a tuned product of fp8 (helion#3415)
        ("gb10", 111616, False),  # tiles of 256 × 128 of MXFP8 (flashinfer#3568)
        ("rtx5080", 111616, False),
        ("rtxpro6000", 111616, False),
        ("gb10", 196608, False),  # FlashQLA#4
        ("l40s", 106496, False),  # 3 stages of 128 × 256 × 64 of fp16 (sglang#29149)
        ("a10", 106496, False),  # attention with 576 values of a key (sglang#2847)
        ("t4", 81920, False),  # vllm#36802
        ("rtx3090", 110592, False),  # triton#384
        ("h200", 196608, True),
        ("a100", 147456, True),
        ("b200", 196608, True),
        ("thor", 196608, True),
    ],
)
def test_kernels_of_public_reports(
    run: Run, tiles: Any, gpu: str, dynamic: int, fits: bool
) -> None:
    path = tiles(16, "sm_75")
    words = (path, "--for", gpu, "-k", "small", "--smem", str(dynamic), "--block", "128")
    found = verdicts(run, *words, code=0 if fits else 5)
    assert found == {f"{gpu} small": "launches" if fits else "exceeds-limits"}


def test_the_reasons(run: Run, tiles: Any) -> None:
    ran = run("load", tiles(16, "sm_90a"), "--for", "a100,b200,h200", "--block", "2048")
    assert ran.code == 5
    assert "compute_90a, which runs on its own architecture only" in ran.err
    assert "2048 threads per block, the limit is 1024" in ran.err
    assert ran.err.count("compute_90a, which runs on its own") == 2  # not again for each kernel
    ran = run("load", tiles(16, "sm_90"), "--for", "a100")
    assert "The PTX is for compute_90, which is newer than sm_80 (NVIDIA A100" in ran.err


def test_machine_code(run: Run, put: Any) -> None:
    found = predict(run, put("facts.cubin"), "--for", "h100,b200", "--block", "256", code=5)
    assert {name: each["code"] for name, each in found.items() if "frame" in name} == {
        "h100 frame": "sm_90",
        "b200 frame": None,
    }
    assert found["h100 gather"]["verdict"] == "exceeds-limits"  # its launch bounds are 128
    assert "SASS runs only on its own major version" in found["b200 frame"]["error"]["message"]


@pytest.mark.parametrize(
    ("code", "gpus"),
    [
        ("sm_80", "a100 rtx3090 l4"),
        ("sm_86", "rtx3090 l4"),
        ("sm_87", "orin"),
        ("sm_90a", "h200"),
        ("sm_100f", "b200 b300"),
        ("sm_120", "rtx5090 gb10"),
        ("sm_120a", "rtx5090"),
        ("compute_86", "rtx3090 orin l4 h200 b200 b300 thor rtx5090 gb10"),
        ("compute_120f", "rtx5090 gb10"),
    ],
)
def test_architectures(code: str, gpus: str) -> None:
    from cudarun.base.profiles import profiles
    from cudarun.images.versions import parse_target

    target = parse_target(code)
    assert target is not None
    names = "t4 a100 rtx3090 orin l4 h200 b200 b300 thor rtx5090 gb10"
    assert [n for n in names.split() if target.runs_on(profiles()[n].architecture)] == gpus.split()


@needs_nvrtc
def test_source_is_compiled_for_each(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#if __CUDA_ARCH__ < 800\n#error too old\n#endif\n"
        "__global__ void k(int *p) { __shared__ int s[__CUDA_ARCH__]; s[*p] = 1; *p = s[*p + 1]; }"
    )
    found = predict(run, str(path), "--for", "t4,l4", code=4)
    t4, l4 = found.values()
    assert (t4["verdict"], t4["kernel"]) == ("refused", None)
    assert (l4["verdict"], l4["code"]) == ("launches", "compute_89")


def test_an_unknown_gpu(run: Run) -> None:
    ran = run("load", SAXPY, "--for", "rtx5009")
    assert ran.code == 2
    assert "--for: 'rtx5009' is not a GPU that is known here; did you mean rtx5090" in ran.err
    ran = run("load", SAXPY, "--for", "t4", "-d", "cpu")
    assert "-d and --for cannot be combined" in ran.err.replace("--device", "-d")


# --- launches -------------------------------------------------------------------------------------

ARGUMENTS = ("f32:2", "f32[100]:iota", "f32[100]:zeros", "i32:100")


def test_a_launch_is_predicted_with_its_geometry(run: Run) -> None:
    words = ("launch", SAXPY, "-d", "cpu", "--threads", "100", *ARGUMENTS, "--for", "t4,b200")
    ran = run(*words)
    assert ran.code == 0
    assert "saxpy launches on b200, by its limits" in ran.out
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
    assert "--together: one process serves GPUs, or emulated devices of one kind" in ran.err
    assert run("devices", "-d", "cpu@a100,cpu@l4,cpu").code == 0


def test_fatbins(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tiny.fatbin"
    path.write_bytes(golden("tiny.fatbin"))
    found = predict(run, str(path), "--for", "h200,rtx3090,b300", code=4)
    assert {name: each["code"] for name, each in found.items()} == {
        "h200 tiny": "sm_90a", "rtx3090 tiny": "sm_80", "b300 tiny": None,
    }  # fmt: skip
