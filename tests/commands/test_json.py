"""``--json``: one document, whatever becomes of the command, and one shape for every error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import PATIENCE

if TYPE_CHECKING:
    from conftest import Run

ROOT = Path(__file__).resolve().parents[2]

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100")
HEAD = ["schema", "exit_code", "error", "machine"]


@pytest.mark.parametrize(
    ("args", "schema", "code", "message"),
    [
        (("launch", "--blok", "3"), "launch", 2, "no such option '--blok'"),
        (("launch",), "launch", 2, "missing argument 'IMAGE'"),
        (("launch", "x.ptx", "--carveout", "x"), "launch", 2, "invalid value for '--carveout'"),
        (("launch", "x.ptx", "--priority", "x"), "launch", 2, "invalid value for '--priority'"),
        (("launch", "no.ptx", "-d", "cpu"), "launch", 2, "no.ptx: No such file"),
        (("launch", "x.ptx", "-d", "nothing"), "launch", 2, "--device: 'nothing'"),
        (("launch", "--spec", "no.toml"), "launch-spec", 2, "no.toml"),
        (("launch", "--spec=no.toml", "--grid", "2"), "launch-spec", 2, "--spec: --grid"),
        (("load",), "load", 2, "missing argument 'IMAGE...'"),
        (("link", "x.ptx"), "link", 2, "missing option '-o'"),
        (("link", "no.ptx", "-o", "x"), "link", 2, "no.ptx"),
        (("managed",), "managed", 2, "missing argument 'IMAGE'"),
        (("devices", "--limit", "x=1"), "devices", 2, "invalid value for '--limit'"),
        (("devices", "-d", "cpu:9"), "devices", 3, "no device cpu:9"),
        (("ctx", "show", "-d", "nothing"), "ctx-show", 2, "--device: 'nothing'"),
        (("ctx", "run", "crate A"), "ctx-run", 2, "crate"),
        (("ctx", "verify", "no-fact"), "ctx-verify", 2, "no-fact"),
        (("ctx", "dance"), "ctx", 2, "no such command 'dance'"),
        (("dance",), "cudarun", 2, "no such command 'dance'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_request_that_comes_to_nothing(
    run: Run, args: tuple[str, ...], schema: str, code: int, message: str
) -> None:
    ran = run(*args, "--json")
    document = ran.document
    assert [*document] == HEAD
    assert (ran.code, document["exit_code"], document["error"]["exit_code"]) == (code,) * 3
    assert document["schema"] == f"cudarun/{schema}/1"
    assert message in document["error"]["message"]
    assert ran.err.startswith("error: ")


def test_json_after_two_dashes_is_an_argument(run: Run) -> None:
    ran = run("launch", "--blok", "--", "--json")
    assert (ran.code, ran.out) == (2, "")


@pytest.mark.parametrize(
    ("command", "code", "kind"),
    [
        (
            "launch samples/out_of_bounds.ptx -k far_past --block 64 x=u8[n] n=i32:9",
            5,
            "DeviceFailed",
        ),
        ("launch samples/endless.ptx --threads 1 --timeout 1 flag=i32[1]:zeros", 6, "OutOfTime"),
        ("load samples/README.md", 4, "ImageRefused"),
        ("managed samples/managed.ptx --launch nothing", 2, "RequestError"),
    ],
)
def test_the_error_of_a_device_is_that_of_the_document_too(
    run: Run, command: str, code: int, kind: str
) -> None:
    ran = run(*command.split(), "-d", "cpu", "--json")
    document = ran.document
    assert [*document][:4] == HEAD
    assert [device["label"] for device in document["machine"]["devices"]] == ["cpu"]
    assert (ran.code, document["exit_code"], document["error"]["exit_code"]) == (code,) * 3
    assert document["error"]["kind"] == kind
    if "outcomes" in document:
        assert document["outcomes"][0]["error"] == document["error"]


def test_a_check_that_does_not_hold_is_no_error(run: Run) -> None:
    args = ("a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100", "--check", "y == 0", "--json")
    ran = run(*SAXPY, *args)
    assert (ran.code, ran.document["exit_code"], ran.document["error"]) == (1, 1, None)


def test_ctrl_c(tmp_path: Path) -> None:
    image = str(ROOT / "samples/endless.ptx")
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "cudarun", "launch", image, "flag=i32[1]:zeros"),
            *("-d", "cpu", "--threads", "1", "--json", "-v"),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any("running" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    document = json.loads(out)
    for key in ("log", "engines", "places"):  # the kernel may not have begun
        document["error"].pop(key, None)
    [device] = document.pop("machine")["devices"]
    assert device["uuid"].startswith("GPU-")
    assert document == {
        "schema": "cudarun/launch/1",
        "exit_code": 130,
        "error": {
            "kind": "Interrupted",
            "exit_code": 130,
            "message": "interrupted",
            "file": image,
            "kernel": "endless",
            "device": "cpu",
        },
    }
