"""``cudarun fleet --via ray`` on a cluster of three nodes that are processes of this machine."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PATIENCE, wait_until

pytest.importorskip("ray", reason="requires the extra ray: .ci/run has a step for it")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = shlex.join([sys.executable, "-m", "cudarun"])
SPEC = """
[[launch]]
name = "saxpy"
image = "saxpy.ptx"
threads = "n"
args = ["2", "x=f32[n]:rand", "y=f32[n]:ones", "n=100"]
check = "y == 2*x + 1"
"""
ENDLESS = """
[[launch]]
name = "endless"
image = "endless.ptx"
threads = 1
args = ["flag=i32[1]:zeros"]
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster of three nodes."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("saxpy", "endless"):
        (tmp_path / f"{name}.ptx").write_bytes((ROOT / f"samples/{name}.ptx").read_bytes())
    (tmp_path / "cases.toml").write_text(SPEC)
    return tmp_path


def start(cluster: Any, folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["fleet", "cases.toml", "--via", "ray", "--program", PROGRAM, "-d", "cpu", "--json"]
    env = os.environ | {"RAY_ADDRESS": cluster.address, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "cudarun", *words, *options],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate(timeout=PATIENCE)
    document = json.loads(out)
    assert document["exit_code"] == process.returncode
    return document


def test_every_node_is_measured(cluster: Any, folder: Path) -> None:
    document = result(start(cluster, folder))
    assert (document["exit_code"], document["counts"]["ok"]) == (0, 3)
    assert len({host["host"] for host in document["hosts"]}) == 3
    assert document["compared"] == 2


def test_a_node_that_is_removed_is_not_measured(cluster: Any, folder: Path) -> None:
    (folder / "cases.toml").write_text(SPEC + ENDLESS)
    process = start(cluster, folder, "--runs", "1", "--timeout", "20")
    node = cluster.list_all_nodes()[-1]
    wait_until(lambda: _runs_nodes(3), "start of the command on three nodes")
    cluster.remove_node(node, allow_graceful=False)
    document = result(process)
    assert document["exit_code"] == 6  # the others ran into the time limit of the endless case
    problems = [host["problem"] for host in document["hosts"] if host["problem"] is not None]
    assert problems == ["the node was lost"]
    assert document["counts"] | {"hang": 2, "not measured": 1} == document["counts"]


def _runs_nodes(count: int) -> bool:
    """Return whether the command runs on a number of nodes."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if "fleet --node --json" in line]
    return sum(PROGRAM.split()[0] in line for line in lines) >= count


def test_a_node_that_does_not_exist(cluster: Any, folder: Path) -> None:
    document = result(start(cluster, folder, "--hosts", "nothing"))
    assert document["exit_code"] == 2
    assert document["error"]["message"] == "--hosts: the Ray cluster has no node 'nothing'"


def test_no_cluster(folder: Path) -> None:
    class NoCluster:
        address = "127.0.0.1:1"

    document = result(start(NoCluster, folder))
    assert document["exit_code"] == 2
    assert document["error"]["message"].startswith("--via: no Ray cluster: ")
