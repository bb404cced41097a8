"""``--pdl``: a step that may begin before the one before it has ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import cudarun

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

KERNELS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 x) {
  .reg .b64 %x; .reg .b32 %t;
  ld.param.u64 %x, [x]; mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x;
  griddepcontrol.launch_dependents;
  st.global.u32 [%x], %t;
  ret;
}
""" + "".join(
    f"""
.visible .entry {name}(.param .u64 x, .param .u64 y) {{
  .reg .b64 %x, %y; .reg .b32 %t;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  mov.u32 %t, %tid.x; mad.wide.u32 %x, %t, 4, %x; mad.wide.u32 %y, %t, 4, %y;
  {wait}
  ld.global.u32 %t, [%x]; st.global.u32 [%y], %t;
  ret;
}}
"""
    for name, wait in (("early", ""), ("waits", "griddepcontrol.wait;"))
)
FIRST = ("launch", "k.ptx", "-k", "fill", "-d", "cpu", "-q", "--block", "64", "x=u32[64]:zeros")
THEN = ("--block", "64", "&x", "y=u32[64]", "--check", "y == x")
MISSING = "no griddepcontrol.wait of early before the load: fill may still run"


@pytest.fixture(autouse=True)
def kernels(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_a_read_before_the_wait_is_a_race(run: Run, engine: str) -> None:
    options = "--detect", "race", "--cpu-engine", engine
    ran = run(*FIRST, "--then", "-k", "early", *THEN, "--pdl", *options)
    assert ran.code == 1
    assert f"\n  {MISSING}\n" in ran.out
    assert run(*FIRST, "--then", "-k", "waits", *THEN, "--pdl", *options).code == 0
    assert run(*FIRST, "--then", "-k", "early", *THEN, *options).code == 0


def test_the_host_waits_for_results_of_the_step_before(run: Run) -> None:
    then = ("--then", "-k", "early", *THEN, "--pdl", "--detect", "race")
    assert run(*FIRST, "--print", "x[1]", *then).code == 0


def test_a_step_of_triton(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.ptx").write_text(KERNELS.replace("ret;\n}\n", "ret;\n}\n", 1))
    facts = {"name": "early", "num_warps": 2, "shared": 0, "num_ctas": 1, "launch_pdl": True}
    (tmp_path / "t.json").write_text(json.dumps({**facts, "launch_cooperative_grid": False}))
    image = "--image", str(tmp_path / "t.ptx")
    then = ("--then", *image, "--grid", "1", "&x", "y=u32[64]")
    ran = run(*FIRST, *then, "--detect", "race")
    assert (ran.code, MISSING in ran.out) == (1, True), ran.err


def test_schedules(run: Run) -> None:
    then = *THEN, "--pdl", "--schedules", "3"
    ran = run(*FIRST, "--then", "-k", "early", *then)
    assert ran.code == 1
    assert ran.out.splitlines()[-1].endswith("--schedule late repeats the first one")
    assert run(*FIRST, "--then", "-k", "waits", *then).code == 0
    assert run(*FIRST, "--then", "-k", "early", *then[:-3], "--schedules", "3").code == 0


def test_keys_and_keywords(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[[launch]]\nimage = "k.ptx"\ndetect = "race"\n'
        '[[launch.step]]\nkernel = "fill"\nblock = 64\nargs = ["x=u32[64]:zeros"]\n'
        '[[launch.step]]\nkernel = "early"\nblock = 64\nargs = ["&x", "y=u32[64]"]\npdl = true\n'
    )
    ran = run("launch", "--spec", "s.toml", "-d", "cpu")
    assert (ran.code, MISSING in ran.out) == (1, True)
    outputs = cudarun.launch(
        tmp_path / "k.ptx", kernel="waits", device="cpu", block=64, pdl=True,
        args={"x": "u32[64]:iota", "y": "u32[64]"}, check="y == x",
    )  # fmt: skip
    assert outputs["y"].sum() == 63 * 32
