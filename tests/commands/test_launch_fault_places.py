"""The places in fault reports, and hints, of launches on both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Run

KERNELS = """.version 8.8
.target sm_90
.address_size 64
.visible .entry past(.param .u64 out) {
    .reg .b32 %i; .reg .b64 %o, %w; .reg .pred %p;
    ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; setp.ne.u32 %p, %i, 5; @%p ret;
    mul.wide.u32 %w, %i, 4; add.u64 %o, %o, %w;
    .loc 1 42 0
    st.global.u32 [%o+400], %i;
    ret;
}
.visible .entry apart(.param .u64 out) {
    .reg .b32 %i; .reg .pred %p;
    mov.u32 %i, %tid.x; setp.lt.u32 %p, %i, 3; @%p bra sync;
    bar.sync 1;
    ret;
sync: bar.warp.sync -1;
    ret;
}
.extern .shared .align 4 .b32 dynamic[];
.visible .entry needs_all(.param .u64 out) {
    .reg .b32 %r; mov.u32 %r, %envreg2; mov.u32 %r, dynamic; ret;
}
.visible .entry needs_nothing(.param .u64 out) {
    .reg .b32 %r; .shared .b32 own;
    mov.u32 %r, 4096; st.shared.b32 [%r], %r;
    ret;
}
.visible .entry traps(.param .u64 out) {
    trap;
}
.file 1 "FILE"
"""
FILE = "k: block (9, 9, 9), thread (9, 9, 9).cu"


@pytest.mark.parametrize("engine", ["interpret", "compile"])
def test_places_in_a_document(run: Run, tmp_path: Path, engine: str) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS.replace("FILE", FILE))

    def places(kernel: str) -> list[dict[str, object]]:
        ran = run(
            "launch", "k.ptx", "-k", kernel, "-d", "cpu", "--block", "32", "out=i32[32]",
            "--cpu-engine", engine, "--json",
        )  # fmt: skip
        found: list[dict[str, object]] = json.loads(ran.out)["error"]["places"]
        return found

    assert places("past") == [
        {
            "state": "", "threads": 1, "block": [0, 0, 0], "thread": [5, 0, 0],
            "ptx_line": 9, "ptx": "st.global.u32 [%o+400], %i;", "file": FILE, "line": 42,
            "buffer": "out", "element": 105,
        }
    ]  # fmt: skip
    hung = places("apart")
    assert [(each["state"], each["threads"], each["thread"]) for each in hung] == [
        ("wait at a warp barrier", 3, [0, 0, 0]),
        ("wait at barrier 1", 29, [3, 0, 0]),
    ]


@pytest.mark.parametrize("kernel", ["needs_nothing", "traps"])
def test_hints_are_not_about_other_kernels(run: Run, tmp_path: Path, kernel: str) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    ran = run("launch", "k.ptx", "-k", kernel, "-d", "cpu", "--block", "32", "out=i32[32]")
    assert (ran.code, "hint" in ran.err) == (5, False)
