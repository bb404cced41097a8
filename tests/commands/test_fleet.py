"""``cudarun fleet`` with hosts that are processes of this machine."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from cudarun import __version__
from cudarun.session.fleet.archive import pack
from cudarun.session.fleet.request import NodeRequest
from tests.support.processes import PATIENCE, PYTHON_PATH, wait_until

if TYPE_CHECKING:
    from conftest import Ran, Run

ROOT = Path(__file__).resolve().parents[2]
PRETEND = shlex.join([sys.executable, str(ROOT / "tests/support/pretended_host.py"), "{host}"])
PROGRAM = shlex.join([sys.executable, "-m", "cudarun"])
FOUR = {"CUDARUN_CPU_DEVICES": "4"}

SAXPY = """
[[launch]]
name = "saxpy"
image = "saxpy.ptx"
threads = "n"
args = ["2", "x=f32[n]:rand", "y=f32[n]:ones", "n=100"]
check = "y == 2*x + 1"
"""
FAULT = """
[[launch]]
name = "fault"
image = "out_of_bounds.ptx"
kernel = "far_past"
block = 64
args = ["x=u8[n]", "n=i32:9"]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A folder with images and a spec of one case that passes."""
    for name in ("saxpy", "out_of_bounds"):
        (tmp_path / f"{name}.ptx").write_bytes((ROOT / f"samples/{name}.ptx").read_bytes())
    (tmp_path / "cases.toml").write_text(SAXPY)
    return tmp_path


def fleet(run: Run, hosts: str, *args: str, devices: str = "cpu:all") -> Ran:
    via = ("--via", PRETEND, "--program", PROGRAM)
    return run("fleet", "cases.toml", "--hosts", hosts, *via, "-d", devices, *args, env=FOUR)


def gpus(document: dict[str, Any]) -> dict[str, str]:
    """The verdict of each GPU."""
    return {
        f"{host['host']}/{gpu['identity']['label']}": gpu["verdict"]
        for host in document["hosts"]
        for gpu in host["gpus"]
    }


def problems(document: dict[str, Any]) -> dict[str, str]:
    return {host["host"]: host["problem"] for host in document["hosts"] if host["problem"]}


def test_the_candidate_of_a_recording_is_sent_with_it(run: Run, tmp_path: Path) -> None:
    data = (ROOT / "tests/data/recordings/overrun.cudarun").read_bytes()
    (tmp_path / "overrun.cudarun").write_bytes(data)
    (tmp_path / "new.cu").write_text(
        'extern "C" __global__ void ones(float *y) { y[threadIdx.x] = 1; }'
    )
    case = '[[launch]]\nimage = "overrun.cudarun"\ncandidate = "new.cu:ones"\n'
    (tmp_path / "cases.toml").write_text(case + 'check = "m0[:256] == 1"\n')
    ran = fleet(run, "a", "--json", devices="cpu")
    assert (ran.code, [*gpus(ran.document).values()]) == (0, ["ok"]), ran.err


def test_three_hosts_of_four_devices_of_which_one_corrupts_data(run: Run, spec: Path) -> None:
    files = ("--junit", "out.xml", "--openmetrics", "out.prom", "--keep", "kept.zip")
    ran = fleet(run, "gpu[1-2],corrupt1", "--json", *files, "--seed", "7")
    document = ran.document
    assert ran.code == 1
    sick = {name: verdict for name, verdict in gpus(document).items() if verdict != "ok"}
    assert (len(gpus(document)), sick) == (12, {"corrupt1/cpu:2": "wrong answer"})
    assert {each["buffer"]: each["dissenting"] for each in document["consensus"]} == {
        "x": ["corrupt1/cpu:2"], "y": ["corrupt1/cpu:2"],
    }  # fmt: skip
    [case] = document["hosts"][2]["gpus"][2]["cases"]
    assert (case["verdict"], case["runs"]) == ("passed", 3)
    assert document["sick"] == ["corrupt1"]

    root = ElementTree.parse(spec / "out.xml").getroot()
    suites = {suite.get("name", "").partition(" (GPU-")[0]: suite for suite in root}
    failed = suites["cases.toml on corrupt1/cpu:2"]
    assert (failed.get("hostname"), failed.get("failures")) == ("corrupt1", "1")
    assert root.attrib == {"name": "cases.toml", "tests": "24", "failures": "1", "errors": "0"}

    metrics = (spec / "out.prom").read_text()
    assert metrics.endswith("# EOF\n")
    [sick_gpu] = re.findall(r'verdict\{(.*),cudarun_gpu_verdict="wrong answer"\} 1', metrics)
    assert sick_gpu.startswith('host="corrupt1",gpu="cpu:2",uuid="GPU-')
    assert metrics.count('="ok"} 1\n') == 11
    assert metrics.count("\ncudarun_case_passed{") == metrics.count("\ncudarun_case_seconds{") == 12
    assert "\ncudarun_fleet_disagreements 2\n" in metrics

    assert document["kept"] == "kept.zip"
    again = run("fleet", "--node", stdin=(spec / "kept.zip").read_bytes(), env=FOUR).document
    [case] = again["gpus"][2]["cases"]
    [[well], *_] = [gpu["cases"] for gpu in document["hosts"][0]["gpus"]]
    assert case["digests"] == well["digests"]


def test_hosts_that_fail_are_not_measured(run: Run, spec: Path) -> None:
    hosts = "gpu1,dead1,garbage1,old1,half1"
    ran = fleet(run, hosts, "--runs", "1", "--json", "-v", devices="cpu")
    found = problems(ran.document)
    assert (ran.code, gpus(ran.document)) == (3, {"gpu1/cpu": "ok"})
    assert found["dead1"] == (
        "exit status 255: ssh: connect to host dead1 port 22: Connection refused"
    )
    assert found["garbage1"].startswith("the output is not a JSON document: 'Welcome\\x00 to")
    assert found["old1"].startswith("cudarun 0.0.1 on the node")
    assert found["half1"].startswith("the output is not a JSON document")
    logged = {line.split()[2].rstrip(":") for line in ran.err.splitlines() if " s  " in line}
    assert logged == {*hosts.split(",")}
    assert ran.document["counts"]["not measured"] == 4
    assert ran.document["sick"] == []


def test_a_host_that_hangs_is_not_measured(run: Run, spec: Path) -> None:
    ran = fleet(run, "hang1", "--host-timeout", "0.2", "--json")
    assert (ran.code, problems(ran.document)) == (3, {"hang1": "timed out after 0.2 s"})


def test_a_fault_is_the_gpus_and_shown_with_commands_to_paste(run: Run, spec: Path) -> None:
    (spec / "cases.toml").write_text(SAXPY + FAULT)
    ran = fleet(run, "gpu1", "--runs", "1", devices="cpu")
    assert ran.code == 5
    first, *rest = ran.out.splitlines()
    assert first.split()[:2] == ["gpu1/cpu", "fault"]
    assert "fault: " in first
    assert rest[0].startswith("1 fault; 2 outputs compared; ")
    assert rest[1:] == [
        "--exclude=gpu1",
        'scontrol update nodename=gpu1 state=drain reason="cudarun fleet cases.toml"',
        "kubectl cordon gpu1",
    ]


PYTHON = """
import pathlib

pathlib.Path("RAN").write_text("")


def saxpy(x, y):
    return 2 * x + y
"""


def archive(folder: Path, case: str, soak: float = 0.0, limit: float = 1e12) -> bytes:
    """The archive of a spec, as somebody else could make it."""
    (folder / "cases.toml").write_text(case)
    (folder / "ref.py").write_text(PYTHON.replace('"RAN"', repr(str(folder / "RAN"))))
    request = NodeRequest(__version__, (), limit, devices="cpu", timeout=60.0, runs=1, soak=soak)
    paths = [os.path.relpath(folder / name) for name in ("cases.toml", "saxpy.ptx", "ref.py")]
    return pack(paths[0], paths[1:], request)


def test_an_archive_runs_python_only_where_the_user_allows_it(run: Run, spec: Path) -> None:
    data = archive(spec, SAXPY + 'expect = "y=ref.py:saxpy"\n')
    ran = run("fleet", "--node", stdin=data)
    assert (ran.code, ran.out) == (2, "")
    assert "ref.py:saxpy requires running Python code" in ran.err
    assert not (spec / "RAN").exists()
    assert run("fleet", "--node", "--allow-python", stdin=data).code == 0
    assert (spec / "RAN").exists()


def test_an_archive_writes_no_file(run: Run, spec: Path) -> None:
    data = archive(spec, SAXPY + f'save = "y={spec}/y.npy"\n')
    ran = run("fleet", "--node", stdin=data)
    assert (ran.code, "nodes send no files back" in ran.err) == (2, True)
    assert not (spec / "y.npy").exists()


def test_nodes_get_the_permission_of_the_command_line(run: Run, spec: Path) -> None:
    (spec / "ref.py").write_text(PYTHON)
    (spec / "cases.toml").write_text(SAXPY + 'expect = "y=ref.py:saxpy"\n')
    ran = fleet(run, "gpu1", "--runs", "1", "--allow-python", devices="cpu")
    assert ran.code == 0, ran.out


def test_a_node_whose_reader_leaves_ends_and_leaves_nothing(spec: Path) -> None:
    data = archive(spec, SAXPY, soak=3600.0)
    temporary = spec / "temporary"
    temporary.mkdir()
    node = subprocess.Popen(
        [sys.executable, "-m", "cudarun", "fleet", "--node"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": PYTHON_PATH},
    )  # fmt: skip
    assert node.stdin is not None
    assert node.stdout is not None
    with node.stdin:
        node.stdin.write(data)
    wait_until(lambda: any(temporary.glob("*/cases.toml")), "start of the node")
    node.stdout.close()
    node.wait(PATIENCE)
    wait_until(lambda: not any(temporary.iterdir()), "end of the folder")


def test_a_node_ends_at_its_limit(run: Run, spec: Path) -> None:
    ran = run("fleet", "--node", stdin=archive(spec, SAXPY, soak=3600.0, limit=0.0))
    assert (ran.code, ran.err) == (6, "error: the node timed out after 0 s\n")


def test_a_name_forges_no_line(run: Run, spec: Path) -> None:
    """Names in a node's document, with the lines of a report in them."""
    forged = "cpu  ok\n3 ok, 1 wrong answer\nkubectl cordon good"
    document = {
        "schema": "cudarun/fleet-node/1", "version": __version__, "error": None,
        "gpus": [{
            "identity": {
                "label": forged, "index": 0, "uuid": "GPU-1", "pci_bus_id": "", "name": "H200",
                "serial": None, "driver_version": [13, 0],
            },
            "cases": [{
                "name": forged, "verdict": "failed", "reason": forged, "exit_code": 1, "runs": 1,
                "milliseconds": 0, "digests": {forged: forged}, "changes": [],
            }],
        }],
    }  # fmt: skip
    (spec / "node.json").write_text(json.dumps(document))
    via = "sh -c 'cat > /dev/null; cat node.json' {host}"
    for words in ((), ("-v",)):
        ran = run("fleet", "cases.toml", "--hosts", "a,b", "--via", via, *words)
        assert ran.code == 1
        assert not any(
            line.startswith(("3 ok", "kubectl cordon good"))
            for line in (ran.out + ran.err).splitlines()
        )
        assert "a/cpu  ok\\x0a3 ok" in ran.out
    (spec / "cases.toml").write_text(SAXPY.replace('"saxpy"', json.dumps(forged)))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, ran.err.count("\n"), "kubectl" in ran.err) == (2, 1, True)


def test_one_case_of_several(run: Run, spec: Path) -> None:
    (spec / "cases.toml").write_text(SAXPY + FAULT)
    ran = fleet(run, "gpu1", "--runs", "1", "--filter", "name == saxpy", devices="cpu")
    assert (ran.code, ran.out.split()[:2]) == (0, ["gpu1/cpu", "ok"])


def test_many_hosts_in_their_order(run: Run, spec: Path) -> None:
    one = fleet(run, "gpu1", "--runs", "1", "--json", devices="cpu").document
    [gpu] = one["hosts"][0]["gpus"]
    record = {key: gpu[key] for key in ("identity", "cases")}
    document = {"schema": "cudarun/fleet-node/1", "version": _version(), "gpus": [record]}
    (spec / "answer.json").write_text(json.dumps(document))
    via = ("--via", "sh -c 'cat answer.json' {host}")
    ran = run("fleet", "cases.toml", "--hosts", "gpu[001-100]", *via, "--json")
    hosts = [host["host"] for host in ran.document["hosts"]]
    assert hosts == [f"gpu{number:03}" for number in range(1, 101)]
    assert (ran.code, ran.document["counts"]["ok"]) == (0, 100)


def _version() -> str:
    from cudarun import __version__

    return __version__


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("fleet",), "missing argument 'SPEC'"),
        (("fleet", "cases.toml"), "missing option '--hosts'"),
        (("fleet", "no.toml", "--hosts", "a"), "no.toml"),
        (("fleet", "cases.toml", "--hosts", "-x"), "--hosts: '-x' is not a host name"),
        (("fleet", "cases.toml", "--hosts", "a,b", "--via", "srun"), "does not contain {host}"),
        (("fleet", "cases.toml", "--hosts", "a", "--via", "x '"), "no closing quotation"),
        (("fleet", "cases.toml", "--hosts", "a", "--soak", "5d"), "'5d' is not a time such as"),
        (("fleet", "cases.toml", "--hosts", "a", "--keep", "."), "--keep: . is a directory"),
        (("fleet", "cases.toml", "no", "--hosts", "a"), "has no case 'no'"),
        (("fleet", "--node", "--hosts", "a"), "--node and --hosts cannot be combined"),
        (("fleet", "cases.toml", "--node"), "--node and cases.toml cannot be combined"),
        (("fleet", "--node"), "stdin is not an archive of cudarun fleet"),
    ],
)
def test_refusals(run: Run, spec: Path, args: tuple[str, ...], message: str) -> None:
    ran = run(*args)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_spec_that_writes_files_is_refused(run: Run, spec: Path) -> None:
    (spec / "cases.toml").write_text(SAXPY + 'save = "y=y.npy"\n')
    ran = fleet(run, "gpu1", devices="cpu")
    assert ran.code == 2
    assert "--save: case 'saxpy' writes y.npy: nodes send no files back" in ran.err


def test_a_program_that_does_not_exist(run: Run, spec: Path) -> None:
    ran = run("fleet", "cases.toml", "--hosts", "a", "--via", "no-such-program {host}", "--json")
    assert (ran.code, problems(ran.document)) == (
        3, {"a": "no-such-program: No such file or directory"},
    )  # fmt: skip


def test_openmetrics_replace_only_openmetrics(run: Run, spec: Path) -> None:
    (spec / "cases.toml").write_text(SAXPY.replace('"saxpy"', "'sax\"py'", 1))
    words = ("--runs", "1", "--openmetrics", "out.prom")
    assert fleet(run, "dead1", *words, devices="cpu").code == 3
    assert 'cudarun_host_measured{host="dead1"} 0\n' in (spec / "out.prom").read_text()
    assert fleet(run, "a", *words, devices="cpu").code == 0
    assert ',case="sax\\"py"} 1\n' in (spec / "out.prom").read_text()
    (spec / "out.prom").write_text("notes\n")
    ran = fleet(run, "dead1", *words, devices="cpu")
    assert (ran.code, "is not an OpenMetrics file" in ran.err) == (2, True)
