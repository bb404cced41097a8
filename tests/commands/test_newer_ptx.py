"""PTX that is newer than the driver whose results the emulated device has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

CPU = ("-d", "cpu")
TEXT = """\
.version {version}
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .b64 %a;
    .reg .b32 %v;
    .local .b32 x;
    ld.param.u64 %a, [out];
    st.local.u32 [x], 7;
    {load} %v, [x];
    st.global.u32 [%a], %v;
    ret;
}}
"""


Put = Callable[..., str]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def put(version: str, load: str = "ld.local.u32") -> str:
        (tmp_path / "k.ptx").write_text(TEXT.format(version=version, load=load))
        return "k.ptx"

    return put


LAUNCH = ("--threads", "1", "out=i32[1]", "--print", "out")


@pytest.mark.parametrize("version", ["9.1", "9.2", "9.3", "9.4", "9.5"])
def test_it_runs_with_a_note(run: Run, put: Put, version: str) -> None:
    ran = run("launch", *CPU, put(version), *LAUNCH)
    assert ran.code == 0
    assert "out = [7]" in ran.out
    needed = f"PTX {version}: a GPU's driver needs CUDA 13.{version[-1]} or later to compile it"
    assert needed in ran.err


def test_load_has_the_note(run: Run, put: Put) -> None:
    ran = run("load", *CPU, put("9.4"), "--json")
    assert ran.code == 0
    ((result,),) = [outcome["results"] for outcome in json.loads(ran.out)["outcomes"]]
    assert [d["severity"] for d in result["diagnostics"]] == ["note"]


def test_other_ptx_has_no_note(run: Run, put: Put) -> None:
    ran = run("launch", *CPU, put("9.0"), *LAUNCH)
    assert ran.code == 0
    assert ran.err == ""


@pytest.mark.parametrize(("version", "limit"), [("9.4", "9.0"), ("9.1", "9.0"), ("9.6", "")])
def test_ptx_newer_than_the_limit_is_refused(
    run: Run,
    put: Put,
    version: str,
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run("launch", *CPU, put(version), *LAUNCH, env={"CUDARUN_CPU_PTX": limit})
    assert ran.code == 4
    assert f"Unsupported .version {version}; current version is '{limit or '9.5'}'" in ran.err
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222" in ran.err


@pytest.mark.parametrize("limit", ["9", "9.9", "x", "9.0.0"])
def test_a_limit_that_is_no_version(
    run: Run,
    put: Put,
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run("launch", *CPU, put("8.0"), *LAUNCH, env={"CUDARUN_CPU_PTX": limit})
    assert ran.code == 2
    assert ran.err.startswith(f"error: CUDARUN_CPU_PTX={limit}: not a version of PTX known here\n")


@pytest.mark.parametrize("name", ["fabric.try_get.u32", "ld.local.some_new_word.u32"])
def test_an_unknown_instruction_of_newer_ptx_is_not_implemented(
    run: Run,
    put: Put,
    name: str,
) -> None:
    ran = run("launch", *CPU, put("9.4", name), *LAUNCH)
    assert ran.code == 4
    assert f"instruction '{name}' is not implemented by the emulated device" in ran.err
    assert "not implemented" not in run("launch", *CPU, put("9.0", name), *LAUNCH).err


def test_volatile_local_needs_its_version(run: Run, put: Put) -> None:
    name = "ld.volatile.local.u32"
    assert run("launch", *CPU, put("9.1", name), *LAUNCH).code == 0
    ran = run("launch", *CPU, put("9.0", name), *LAUNCH)
    assert ran.code == 4
    assert f"Feature '{name}' requires PTX ISA .version 9.1 or later" in ran.err
