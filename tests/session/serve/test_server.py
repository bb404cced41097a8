"""The server: concurrency, cancellation, deaths and the end, with real processes."""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cudarun.api.server import call_in_server
from cudarun.session.serve import clients
from cudarun.session.serve.socket_file import listening
from cudarun.session.workers.service_messages import ServiceEnded, is_of_this_user
from tests.support.processes import PATIENCE, children, wait_for_end, wait_until
from tests.support.servers import KERNELS, ServerClient, server


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "k.ptx").write_text(KERNELS)
    with server(folder, "--jobs", "2") as (found, _):
        yield found


@pytest.fixture
def client(path: Path) -> Iterator[ServerClient]:
    found = ServerClient(path)
    yield found
    found.close()


def launch(kernel: str, *words: str) -> dict[str, Any]:
    """Return the members of a request for a launch of one thread."""
    options = ["-d", "cpu", "--threads", "1", "-k", kernel]
    return {"argv": ["launch", "k.ptx", *options, *words]}


FILL = launch("fill", "y=i32[1]", "k=i32:7", "--print", "y")
ENDLESS = launch("endless")
PAST = """
.visible .entry past(.param .u64 y)
{
    .reg .b64 %y;
    ld.param.u64 %y, [y];
    st.global.u32 [%y+4], 1;
    ret;
}
"""


def test_a_command_line_has_its_streams_in_the_answer(client: ServerClient) -> None:
    answer = client.ask(**FILL)
    assert (answer["id"], answer["exit_code"]) == (1, 0)
    assert "y = [7]" in answer["stdout"]
    assert client.ask(**launch("say"))["stdout"].startswith("from it\n")
    unknown = client.ask(argv=["launch", "none.ptx"], id="two")
    assert (unknown["id"], unknown["exit_code"], unknown["stdout"]) == ("two", 2, "")
    assert "none.ptx: No such file" in unknown["stderr"]


def test_parameters_are_the_keywords_of_the_api(client: ServerClient) -> None:
    parameters = {"image": KERNELS, "kernel": "fill", "threads": 1, "device": "cpu"}
    answer = client.ask(
        command="launch", parameters=parameters | {"args": {"y": "i32[1]", "k": 5}, "check": "y==5"}
    )
    assert answer["exit_code"] == 0
    assert answer["document"]["outcomes"][0]["result"]["checks"][0]["passed"]
    wrong = client.ask(command="launch", parameters=parameters | {"args": ["i32[1]", "x"]})
    assert (wrong["exit_code"], wrong["document"]["error"]["kind"]) == (2, "RequestError")
    unknown = client.ask(command="launch", parameters={"thread": 1})
    assert "did you mean 'threads'?" in unknown["error"]["message"]


@pytest.mark.parametrize(
    ("command", "parameters", "code", "report"),
    [
        ("load", {"images": "k.ptx", "device": "cpu"}, 0, "loaded k.ptx"),
        ("load", {"images": ["k.ptx", KERNELS], "device": "cpu"}, 0, "loaded image"),
        ("load", {"images": [["k.ptx"]]}, 2, "expected a text"),
        ("load", {"images": True}, 2, "expected a text"),
        ("launch", {"image": ["k.ptx"]}, 2, "expected a text"),
        ("devices", {"device": "cpu"}, 0, "emulated device"),
        ("managed", {}, 2, "missing argument 'IMAGE'"),
        ("skill", {}, 0, "name: cudarun"),
    ],
)
def test_parameters_of_all_commands(
    client: ServerClient, command: str, parameters: dict[str, Any], code: int, report: str
) -> None:
    answer = client.ask(command=command, parameters=parameters)
    assert (answer["exit_code"], report in answer["report"]) == (code, True), answer


def test_stdin_directory_and_environment(client: ServerClient, tmp_path: Path) -> None:
    (tmp_path / "other.ptx").write_text(KERNELS)
    words = ["other.ptx", "-d", "cpu", "--threads", "1", "-k", "say"]
    assert client.ask(argv=["launch", *words], directory=str(tmp_path))["exit_code"] == 0
    assert client.ask(argv=["launch", *words], directory="/nowhere")["exit_code"] == 2
    words[0] = "-"
    assert client.ask(argv=["launch", *words], stdin=KERNELS)["exit_code"] == 0
    refused = client.ask(argv=["devices"], environment={"CUDARUN_CACHE": "maybe"})
    assert "CUDARUN_CACHE=maybe" in refused["stderr"]


@pytest.mark.parametrize(
    ("line", "name", "message"),
    [
        (b"launch\n", None, "invalid request"),
        (b"[1]\n", None, "expected an object"),
        (b'{"argv": ["devices"]}\n', None, "as id"),
        (b'{"id": 3, "argv": "devices"}\n', 3, "argv"),
        (b'{"id": 3, "words": ["devices"]}\n', 3, "unknown key 'words'"),
        (b'{"id": 3}\n', 3, "expected 'argv'"),
        (b'{"id": 3, "argv": ["serve"]}\n', 3, "does not run serve"),
        (b'{"id": 3, "argv": ["devices"], "version": "0"}\n', 3, "the client is 0"),
        (b'{"id": 3, "argv": ["devices"], "files": 1}\n', 3, "expected 1 descriptors, got 0"),
    ],
)
def test_refused_lines(client: ServerClient, line: bytes, name: int | None, message: str) -> None:
    client.connection.sendall(line)
    answer = client.receive()
    assert (answer.get("id"), answer["exit_code"]) == (name, 2)
    assert message in answer["error"]["message"]
    assert client.ask(argv=["--help"])["exit_code"] == 0


@pytest.mark.parametrize(
    "members",
    [
        {"environment": {"A=B": "1"}},
        {"environment": {"A\0": "1"}},
        {"environment": {"A": "\ud800"}},
        {"stdin": "\ud800"},
        {"directory": "\ud800"},
        {"argv": [], "call": ""},
        {"argv": [], "call": base64.b64encode(pickle.dumps(3)).decode()},
        {"argv": [], "command": "launch", "parameters": {"image": "\n\ud800"}},
    ],
)
def test_refused_texts(client: ServerClient, members: dict[str, Any]) -> None:
    answer = client.ask(**{"argv": ["--help"]} | members)
    assert (answer["exit_code"], answer["error"]["kind"]) == (2, "RequestError")


def test_a_program_that_exits_as_interrupted_ends_nothing(client: ServerClient) -> None:
    words = ["exec", "--", "sh", "-c", "exit 130"]
    for _ in range(2):  # as many as there are jobs
        client.send(*({"id": each, "argv": words} for each in range(2)))
        assert [client.receive()["exit_code"] for _ in range(2)] == [130, 130]


def test_sixteen_clients_at_once_lose_nothing(path: Path) -> None:
    def run(number: int) -> list[int]:
        own = ServerClient(path)
        requests = [launch("fault") if each == number else FILL for each in range(4)]
        own.send(*({"id": each, **request} for each, request in enumerate(requests)))
        codes = {answer["id"]: answer["exit_code"] for answer in (own.receive() for _ in requests)}
        own.close()
        return [codes[each] for each in range(4)]

    with ThreadPoolExecutor(16) as pool:
        found = [*pool.map(run, range(16))]
    assert found == [[5 if each == number else 0 for each in range(4)] for number in range(16)]


def test_a_hung_launch_ends_when_it_is_canceled(client: ServerClient) -> None:
    client.send({"id": "hung", "progress": True, **ENDLESS})
    running = client.receive()
    while "running" not in running["progress"]:
        running = client.receive()
    client.send({"id": 2, **FILL}, {"cancel": "unknown"}, {"cancel": "hung"})
    found = [client.receive(), client.receive()]
    while any("progress" in each for each in found):
        found = [*(each for each in found if "progress" not in each), client.receive()]
    answers = {each["id"]: each for each in found}
    assert answers[2]["exit_code"] == 0
    assert answers["hung"]["exit_code"] == 130
    assert "error: interrupted" not in answers["hung"]["stdout"]


def test_a_server_that_was_started_in_the_background_cancels(tmp_path: Path) -> None:
    """A shell without job control has such a process ignore Ctrl-C."""
    (tmp_path / "k.ptx").write_text(KERNELS)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with server(tmp_path, "--jobs", "1") as (path, _):
            client = ServerClient(path)
            client.connection.settimeout(PATIENCE)
            client.send({"id": 1, "progress": True, **ENDLESS})
            while "running" not in client.receive()["progress"]:
                pass
            client.send({"cancel": 1})
            assert client.receive()["exit_code"] == 130
            client.close()
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_waits_is_canceled_at_once(client: ServerClient) -> None:
    hung = [{"id": each, **ENDLESS} for each in range(2)]
    client.send(*hung, {"id": "waits", **FILL}, {"cancel": "waits"})
    answer = client.receive()
    assert (answer["id"], answer["exit_code"]) == ("waits", 130)
    client.send({"cancel": 0}, {"cancel": 1})
    assert {client.receive()["id"] for _ in hung} == {0, 1}


def test_the_launches_of_a_client_that_ends_are_canceled(path: Path, client: ServerClient) -> None:
    for _ in range(2):
        other = ServerClient(path)
        other.send({"id": 1, **ENDLESS})
        other.close()
    assert client.ask(**FILL)["exit_code"] == 0  # which waits for one of the two processes


def test_a_client_that_ends_with_more_requests_than_are_read(
    path: Path, client: ServerClient
) -> None:
    other = ServerClient(path)
    count = clients.MOST_UNANSWERED + 2
    other.send({"id": "first", "progress": True, **ENDLESS})
    other.send(*({"id": each, **ENDLESS} for each in range(count)))
    while "running" not in other.receive()["progress"]:
        pass
    other.close()
    client.connection.settimeout(PATIENCE)
    assert client.ask(**FILL)["exit_code"] == 0


def test_a_client_that_only_reads_gets_its_answers(path: Path) -> None:
    client = ServerClient(path)
    client.send({"id": 1, **FILL})
    client.connection.shutdown(socket.SHUT_WR)
    assert client.receive()["exit_code"] == 0
    assert client.connection.recv(1) == b""
    client.close()


def test_the_queue_of_a_client_is_bounded(path: Path) -> None:
    client = ServerClient(path)
    client.connection.setblocking(False)
    line = b'{"id": %d, "argv": ["--version"], "stdin": "' + b"x" * 10_000 + b'"}\n'
    data = b"".join(line % each for each in range(20 * clients.MOST_UNANSWERED))
    sent = 0
    hung = {"id": "a", **ENDLESS}, {"id": "b", **ENDLESS}
    client.send(*hung)
    try:
        while sent < len(data):
            sent += client.connection.send(data[sent:])
    except BlockingIOError:
        pass
    assert sent < len(data)
    client.close()


def test_the_death_of_a_service_process_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    with server(tmp_path, "--jobs", "1") as (path, process):
        client = ServerClient(path)
        assert client.ask(**FILL)["exit_code"] == 0
        [service] = children_of_threads(process.pid)
        client.send({"id": 1, "progress": True, **ENDLESS})
        while "running" not in client.receive()["progress"]:
            pass
        os.kill(service, signal.SIGKILL)
        answer = client.receive()
        while "progress" in answer:
            answer = client.receive()
        assert (answer["exit_code"], answer["error"]["kind"]) == (7, "WorkerDied")
        assert client.ask(**FILL)["exit_code"] == 0
        client.close()


def children_of_threads(pid: int) -> list[int]:
    """Return the children that the threads of a process have."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in tasks for child in each.read_text().split()]


def test_a_service_process_keeps_its_worker(path: Path, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    with server(tmp_path, "--jobs", "1") as (own, process):
        client = ServerClient(own)
        client.ask(**FILL)
        [service] = children_of_threads(process.pid)
        [worker] = children(service)
        client.ask(**FILL)
        assert children(service) == [worker]
        assert client.ask(**launch("fault"))["exit_code"] == 5
        assert client.ask(**FILL)["exit_code"] == 0
        assert children(service) == [worker]  # an emulated fault damages nothing
        assert client.ask(**launch("endless", "--timeout", "1"))["exit_code"] == 6
        wait_until(lambda: children(service) not in ([], [worker]), "another worker")
        files = {os.readlink(each) for each in Path(f"/proc/{service}/fd").iterdir()}
        assert not [each for each in files if "cudarun-stdin" in each]
        client.close()


def test_a_spare_is_ready_when_a_worker_ends(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    with server(tmp_path, "--jobs", "1", "--spares", "1") as (own, process):
        client = ServerClient(own)
        assert client.ask(**FILL)["exit_code"] == 0
        [service] = children_of_threads(process.pid)
        wait_until(lambda: len(children(service)) == 2, "a spare")
        for ended in children(service):  # the spare takes the place of the worker
            assert client.ask(**launch("endless", "--timeout", "1"))["exit_code"] == 6
            wait_until(
                lambda ended=ended: (
                    client.ask(**FILL)["exit_code"] == 0
                    and ended not in (found := children(service))
                    and len(found) == 2
                ),
                "another spare",
            )
        client.close()


RELEASE = """
import importlib._bootstrap as bootstrap
from contextlib import suppress

load = bootstrap._load_unlocked


def loaded(spec):
    module = load(spec)
    if spec.name == "cudarun.session.workers.session":
        release = module.Session.release

        def with_bug(session):
            with suppress(FileExistsError):
                if session._is_settled:
                    open({path!r}, "x").close()  # of one worker alone
                    raise ZeroDivisionError("a bug")
            return release(session)

        module.Session.release = with_bug
    return module


bootstrap._load_unlocked = loaded
"""


def test_an_error_after_an_answer_is_in_the_log_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    modules = tmp_path / "modules"
    modules.mkdir()
    met, log = tmp_path / "met", tmp_path / "log"
    (modules / "sitecustomize.py").write_text(RELEASE.format(path=os.fspath(met)))
    met.touch()  # not in the first launch, which is the server's own
    with log.open("w") as file, server(tmp_path, "--jobs", "1", modules=modules, log=file) as own:
        client = ServerClient(own[0])
        assert client.ask(**FILL)["exit_code"] == 0
        met.unlink()
        assert client.ask(**FILL)["stderr"] == ""
        wait_until(lambda: "ZeroDivisionError: a bug" in log.read_text(), "the error in the log")
        answer = client.ask(**FILL)
        assert (answer["exit_code"], answer["stderr"]) == (0, "")
        client.close()
    assert log.read_text().count("ZeroDivisionError: a bug") == 1


def test_one_server_at_a_path(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.sock"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(path))
    with listening(str(path)) as first:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(Exception, match="a server listens there already"):
            listening(str(path)).__enter__()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.fspath(path))
            with first.accept()[0] as accepted:
                assert is_of_this_user(accepted)
    assert not path.exists()
    path.write_text("contents")
    with pytest.raises(Exception, match="it is another file"):
        listening(str(path)).__enter__()
    assert path.read_text() == "contents"
    if os.getuid() == 0:
        os.chown(path.parent, 12345, -1)
        with pytest.raises(Exception, match="other users can write"):
            listening(str(path.parent / "b.sock")).__enter__()
        os.chown(path.parent, 0, -1)
    path.parent.chmod(0o777)
    with pytest.raises(Exception, match="other users can write"):
        listening(str(path.parent / "b.sock")).__enter__()
    with pytest.raises(Exception, match="at most 107 bytes"):
        listening(str(tmp_path / ("x" * 108))).__enter__()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_other_users_are_told_apart() -> None:
    """Also where they can connect, which the mode of the socket prevents."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "a.sock")
        with listening(path) as server_socket:
            os.chmod(path, 0o666)
            pid = os.fork()
            if pid == 0:
                try:
                    os.setuid(12345)
                    with socket.socket(socket.AF_UNIX) as client:
                        client.connect(path)
                finally:
                    os._exit(0)
            accepted, _ = server_socket.accept()
            with accepted:
                assert not is_of_this_user(accepted)
            os.waitpid(pid, 0)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_no_pickle_of_another_user_is_read() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as of_other:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "a.sock")
        of_other.bind(path)
        pid = os.fork()
        if pid == 0:
            try:
                os.setuid(12345)
                of_other.listen()
                with of_other.accept()[0] as client:
                    client.recv(1 << 20)
                    answer = base64.b64encode(pickle.dumps("read")).decode()
                    client.sendall(json.dumps({"answer": answer}).encode() + b"\n")
            finally:
                os._exit(0)
        wait_until(lambda: _can_connect(path), "a server")
        with pytest.raises(ServiceEnded, match="another user"):
            call_in_server(path, "call", ())
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _can_connect(path: str) -> bool:
    """Return whether a server listens at a path."""
    with open("/proc/net/unix") as table:
        return any(line.split()[3] == "00010000" and line.endswith(f"{path}\n") for line in table)


def test_a_signal_ends_all(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    with server(tmp_path) as (path, process):
        client = ServerClient(path)
        client.send({"id": 1, "progress": True, **ENDLESS})
        while "running" not in client.receive()["progress"]:
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        wait_for_end(process.pid)
        client.close()


def test_stdin_and_stdout(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS)
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", "serve", "--stdio", "-d", "cpu"],
        input=json.dumps({"id": 1, **launch("say")}) + "\n",
        capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert done.stdout.startswith('{"id":1,"exit_code":0,"stdout":"from it\\n')


def test_nothing_of_a_fault_is_left_in_a_worker(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNELS + PAST)
    outside = launch("past", "y=i32[1]", "--json")  # the error has the address of the buffer
    with server(tmp_path, "--jobs", "1") as (own, _):
        client = ServerClient(own)
        expected = client.ask(**outside)
        before = (
            launch("fault", "--schedule", "7"), launch("fault", "--algebra"), FILL,
            launch("fault", "--detect", "all"), launch("fault", "--graph", "--times", "3"),
        )  # fmt: skip
        for each in before:
            client.ask(**each)
            assert client.ask(**outside) == expected
        client.close()
