"""``cudarun load --offline``: what is in a file, without a device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.images.golden_files import archive, fatbin_of_ptx, golden
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

SAXPY = "samples/saxpy.ptx"
CPU = ("-d", "cpu")


def saxpy() -> str:
    root = Path(__file__).resolve().parents[2]
    return (root / SAXPY).read_text()


def offline(run: Run, *args: str, code: int = 0) -> Any:
    ran = run("load", "--offline", "--json", *args)
    assert ran.code == code, ran.err
    return ran.document["files"]


def test_offline_facts(run: Run, put: Any) -> None:
    ptx, cubin, fatbin = offline(run, SAXPY, put("facts.cubin"), put("tiny.fatbin"))
    assert (ptx["kind"], ptx["ptx_version"], ptx["targets"]) == ("PTX", [8, 0], ["sm_75"])
    assert {k["name"]: k["registers"] for k in cubin["kernels"]} == {
        "_ZN2ns5scaleIfEEvPT_i": 8, "frame": 27, "gather": 16,
    }  # fmt: skip
    assert cubin["toolkit"] == "ptxas 13.0, V13.0.88"
    assert cubin["is_relocatable"] is False
    assert [(part["kind"], part["target"]) for part in fatbin["parts"]] == [
        ("cubin", "sm_80"), ("cubin", "sm_90a"), ("PTX", "compute_90a"),
    ]  # fmt: skip


def test_offline_externs(run: Run) -> None:
    [file] = offline(run, "samples/link/main.ptx")
    assert file["externs"] == ["_Z8weightedf", "weight"]


def test_offline_as_a_table(run: Run, put: Any) -> None:
    ran = run("load", "--offline", put("wants.cubin"))
    assert ran.out == (
        "wants.cubin  cubin for sm_90, 4128 bytes, relocatable: link it first, "
        "by ptxas 13.0, V13.0.88, 5 relocations\n"
        "use_part\n"
        "  parameters   0:8, 8:4\n"
        "  uses         24 registers, 0 B shared, 0 B const\n"
        "undefined symbols: factor, _Z4partf\n"
    )


def test_offline_each_part_of_a_fatbin(run: Run, put: Any) -> None:
    summary = [
        "tiny.fatbin  fatbin for sm_80, sm_90a, compute_90a, 8512 bytes",
        "target       kind   images  kernels  size     in the file",
        "sm_80        cubin  1       1        3.4 KiB  3.4 KiB",
        "sm_90a       cubin  1       1        4.0 KiB  4.0 KiB",
        "compute_90a  PTX    1       1        696 B    696 B",
    ]
    ran = run("load", "--offline", put("tiny.fatbin"))
    assert ran.out.splitlines() == [*summary, "kernels: -v, or -k KERNEL"]
    ran = run("load", "--offline", "tiny.fatbin", "-v")
    assert ran.out == run("load", "--offline", "tiny.fatbin", "-k", "tiny").out
    assert ran.out.splitlines() == [
        *summary,
        "tiny",
        "  parameters   0:8, 8:12, 24:8",
        "  sm_80        10 registers, 16 B shared, 0 B const, 0 B local",
        "  sm_90a       10 registers, 16 B shared, 0 B const, 0 B local",
        "  compute_90a  PTX",
        f"  cudarun launch tiny.fatbin --threads 1024 'u8[8192]:zeros' bytes:{'00' * 12} "
        "'u8[8192]:zeros'",
    ]
    [file] = offline(run, "tiny.fatbin")
    assert [[kernel["registers"] for kernel in part["kernels"]] for part in file["parts"]] == [
        [10], [10], [None],
    ]  # fmt: skip


def test_offline_a_target_and_a_kernel(run: Run, put: Any) -> None:
    library = archive((b"a.o/", golden("tiny.o")), (b"b.o/", fatbin_of_ptx(saxpy().encode())))
    put("both.a", library)
    [file] = offline(run, "both.a", "-k", "saxpy")
    assert file["fatbins"] == 2
    assert [(part["fatbin"], part["target"]) for part in file["parts"]] == [(2, "compute_75")]
    assert [kernel["name"] for kernel in file["kernels"]] == ["saxpy"]
    [line] = file["summary"]
    assert (line["target"], line["kind"], line["parts"], line["kernels"]) == (
        "compute_75", "PTX", 1, 1,
    )  # fmt: skip
    [file] = offline(run, "both.a", "--arch", "compute_75")
    assert {part["target"] for part in file["parts"]} == {"compute_75"}
    assert file["parts"][-1]["fatbin"] == 2
    ran = run("load", "--offline", "both.a", "-k", "saxpi")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: both.a has no kernel 'saxpi'")
    assert "did you mean 'saxpy'?" in ran.err
    ran = run("load", "--offline", "both.a", "--arch", "sm_20")
    assert ran.code == 2
    assert ran.err.startswith("error: both.a contains no code for sm_20\nhint: targets: ")
    ran = run("load", "--arch", "sm_90", "both.a", *CPU)
    assert (ran.code, ran.err.splitlines()[-1]) == (2, "hint: add --offline")


def test_offline_a_damaged_part_has_its_own_verdict(run: Run, put: Any) -> None:
    data = bytearray(golden("tiny.fatbin"))
    data[data.index(b"\x7fELF") + 4] = 1
    ran = run("load", "--offline", put("damaged.fatbin", bytes(data)))
    assert ran.code == 0
    rows = ran.out.splitlines()
    assert rows[2].split() == ["sm_80", "cubin", "1", "0", "3.4", "KiB", "3.4", "KiB", "1"]
    assert rows[3].split()[:4] == ["sm_90a", "cubin", "1", "1"]
    assert rows[5] == ("cannot read part 1 (cubin for sm_80): it is not 64-bit little-endian ELF")


def test_offline_needs_no_device_and_no_driver(run: Run) -> None:
    ran = run("load", "--offline", SAXPY, "-q", env={"CUDARUN_DEVICE": "0"})
    assert (ran.code, ran.out) == (0, "samples/saxpy.ptx  PTX 8.0 for sm_75, 1131 bytes\n")


def test_offline_every_file_gets_its_turn(run: Run, put: Any) -> None:
    cut = put("cut.ptx", saxpy().encode()[:900])
    bad, good = offline(run, cut, SAXPY, code=4)
    assert good["error"] is None
    assert bad["error"]["explanation"].startswith("The text ends in the middle of a statement")
    assert "file" not in bad["error"]  # the message begins with it
    assert json.dumps(bad)


@needs_nvrtc
def test_offline_cuda_source(run: Run, tmp_path: Path) -> None:
    """It is compiled, and shows the parameters of the source; for a GPU also the registers."""
    text = "__global__ void scale(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= N; }\n"
    (tmp_path / "scale.cu").write_text(text)
    [file] = offline(run, "scale.cu", "-DN=2")
    assert (file["kind"], file["targets"], file["size"]) == ("CUDA source", ["sm_80"], len(text))
    [kernel] = file["kernels"]
    assert [each["name"] for each in kernel["parameters"]] == ["x", "n"]
    assert kernel["registers"] is None
    [file] = offline(run, "scale.cu", "-D", "N=2", "--arch", "sm_90")
    [kernel] = file["kernels"]
    assert file["targets"] == ["sm_90"]
    assert [each["name"] for each in kernel["parameters"]] == ["x", "n"]
    assert kernel["registers"] > 0
    [file] = offline(run, "scale.cu", "-D", "N=2", "--arch", "compute_90")
    assert (file["targets"], file["kernels"][0]["registers"]) == (["sm_90"], None)
    ran = run("load", "--offline", "scale.cu", "--compiler", "nvrtc")
    assert ran.code == 4
    assert 'scale.cu:1:81: error: identifier "N" is undefined' in ran.err
