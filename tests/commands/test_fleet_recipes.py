"""The recipes of the fleet guide, with stand-ins for the programs of a cluster."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

GUIDE = Path(__file__).resolve().parents[2] / "docs/how-to/run-on-a-fleet.md"
[HEALTH_CHECK] = re.findall(r"```bash\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def test_the_commands_of_pods_are_valid(run: Run, tmp_path: Path) -> None:
    """The command of the Indexed Job, with a spec of this machine and emulated devices."""
    [command] = re.findall(r"command: (\[\"cudarun.*\])", GUIDE.read_text())
    (tmp_path / "smoke.toml").write_text(
        '[[launch]]\nimage = "samples/hello.ptx"\nthreads = 1\nargs = ["2026", "1.5"]\n'
    )
    words = {"/spec/smoke.toml": "smoke.toml", "all": "cpu:all"}
    program, *arguments = [words.get(word, word) for word in json.loads(command)]
    ran = run(*arguments)
    assert (program, ran.code) == ("cudarun", 0)
    case, whole = map(json.loads, ran.out.splitlines())
    assert (case["verdict"], whole["passed"]) == ("passed", 1)


@pytest.mark.parametrize(
    ("code", "drained"), [(0, False), (3, False), (1, True), (5, True), (6, True), (7, True)]
)
def test_a_node_drains_itself_for_what_its_gpus_did(
    code: int, drained: bool, tmp_path: Path
) -> None:
    for name, body in {
        "cudarun": f'[ "$1 $2" = "launch --spec" ] && exit {code}; exit 99',
        "scontrol": f'printf "%s\\n" "$@" > {tmp_path}/called',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    check = HEALTH_CHECK.replace("/var/tmp", str(tmp_path))
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.run(["bash", "-c", check], env=env, check=False).returncode == 0
    called = tmp_path / "called"
    assert called.exists() == drained
    if drained:
        node = socket.gethostname().partition(".")[0]
        assert called.read_text().splitlines() == [
            "update", f"nodename={node}", "state=drain", f"reason=cudarun: exit code {code}",
        ]  # fmt: skip
