"""How long commands take in ``cudarun serve``, beside the same in a process of their own.

Usage: ``python benchmarks/serve.py [--launches N] [--device DEVICE] [--baseline FOLDER]``. Every
number is a median in milliseconds of wall time, and the processor time of all processes of the
server. With another checkout as the baseline, a server of each gets every request in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from timing import ROOT, cudarun_command

SAXPY = "samples/saxpy.ptx"
LAUNCH = [
    "a=f32:2",
    "x=f32[n]:iota",
    "y=f32[n]:ones",
    "n=i32:1000",
    "--threads",
    "1000",
    "--block",
    "256",
]
FAULT = """\
.version 7.0
.target sm_75
.address_size 64
.visible .entry fault() { .reg .b64 %p; mov.u64 %p, 8; st.global.u32 [%p], 1; ret; }
"""
INCLUDE = "#include <cstdint>\n"
SOURCE = 'extern "C" __global__ void f(int *y) { y[threadIdx.x] = %d; }\n'
CLIENTS = 16
WARMUP = 6
FAULTY = 10  # each so manieth launch faults


class Client:
    """A client of the server."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def ask(self, **members: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._socket.sendall(json.dumps({"id": 1, **members}).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer


@contextmanager
def server(
    folder: str, device: str, jobs: int, root: Path | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the socket and the process ID of a server, of a checkout if it has a root."""
    path = os.path.join(folder, "server.sock" if root in (None, ROOT) else "baseline.sock")
    program = cudarun_command() if root is None else [sys.executable, "-m", "cudarun"]
    environment = {**os.environ, **({} if root is None else {"PYTHONPATH": os.fspath(root)})}
    command = [*program, "serve", "--socket", path, "-d", device, "--jobs", str(jobs)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=root or ROOT, env=environment
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield path, process.pid
        finally:
            process.terminate()


def tree(pid: int) -> list[int]:
    """Return a process with all its descendants."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def used(pid: int) -> tuple[float, float]:
    """Return the processor time in seconds and the resident memory in MiB of a tree."""
    seconds = memory = 0.0
    for each in tree(pid):
        with suppress(OSError):  # it ends, and its parent has its time then
            status = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            # Its own, and that of the children that have ended.
            seconds += sum(map(int, status[11:15])) / os.sysconf("SC_CLK_TCK")
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                memory += int(line.split()[1]) / 1024 if line.startswith("Pss:") else 0.0
    return seconds, memory


def row(name: str, times: list[float], processor: float) -> None:
    """Print a row of the table."""
    median, least = statistics.median(times) * 1e3, min(times) * 1e3
    print(f"{name:46} {median:9.1f} {least:9.1f} {processor / len(times) * 1e3:9.1f}")


def timed(name: str, pid: int, count: int, client: Client, request: Any) -> None:
    """Time requests, of which ``request`` returns each by its number, and print a row."""
    for number in range(-5, 0):
        client.ask(**request(number))
    before, times = used(pid)[0], []
    for number in range(count):
        start = time.perf_counter()
        answer = client.ask(**request(number))
        times.append(time.perf_counter() - start)
        assert answer["exit_code"] == 0, answer
    row(name, times, used(pid)[0] - before)


def compared(folder: str, device: str, baseline: Path, count: int) -> None:
    """Time the launches of servers of two checkouts, which get each request in turn."""
    source = Path(folder, "f.cu")
    check = ["--check", "y == 2*x + 1", "--print", "y[:4]"]

    def changed(number: int) -> list[str]:
        source.write_text(SOURCE % (time.time_ns() + number & 0x7FFFFFFF))
        return [str(source), "--threads", "4", "i32[4]"]

    kinds: dict[str, Callable[[int], list[str]]] = {
        "launch of PTX": lambda _: [SAXPY, *LAUNCH],
        "launch of PTX, another line": lambda n: [SAXPY, *LAUNCH, "--buffer", f"b=f32[{n + 9}]"],
        "launch of PTX with --check and --print": lambda _: [SAXPY, *LAUNCH, *check],
        "launch of a changed .cu, with NVRTC": changed,
    }
    with ExitStack() as stack:
        roots = (baseline.resolve(), ROOT)
        servers = [stack.enter_context(server(folder, device, 1, root)) for root in roots]
        clients = [Client(path) for path, _ in servers]
        for kind, words in kinds.items():
            times: list[list[float]] = [[] for _ in servers]
            before = [0.0 for _ in servers]
            for number in range(-WARMUP, count):
                for place, client in enumerate(clients):
                    argv = ["launch", "-d", device, *words(number)]
                    if number == 0:
                        before[place] = used(servers[place][1])[0]
                    start = time.perf_counter()
                    answer = client.ask(argv=argv)
                    if number >= 0:
                        times[place].append(time.perf_counter() - start)
                    assert answer["exit_code"] == 0, answer
            for name, (_, pid), taken, first in zip(
                ("baseline", "this"), servers, times, before, strict=True
            ):
                row(f"{kind}: {name}", taken, used(pid)[0] - first)


def nvrtc_alone(count: int) -> None:
    """Time NVRTC in this process, with a changed source each time, and print a row."""
    from cuda.bindings import nvrtc

    times, before = [], time.process_time()
    for number in range(-1, count):
        start = time.perf_counter()
        source = (SOURCE % number).encode()
        _, program = nvrtc.nvrtcCreateProgram(source, b"f.cu", 0, [], [])
        [status] = nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"])
        assert not int(status)
        nvrtc.nvrtcDestroyProgram(program)
        if number < 0:  # which loads its libraries
            before = time.process_time()
        else:
            times.append(time.perf_counter() - start)
    row("NVRTC alone", times, time.process_time() - before)


def processes(name: str, command: list[str], count: int) -> None:
    """Time processes, and print a row."""
    times, before = [], os.times()
    for _ in range(count):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    after = os.times()
    spent = after.children_user + after.children_system
    row(name, times, spent - before.children_user - before.children_system)


def throughput(path: str, pid: int, count: int, requests: Mapping[bool, Any], faulty: int) -> float:
    """Run launches of many clients, of which each so manieth faults; return launches a second."""
    codes: list[int] = []

    def run(first: int) -> None:
        client = Client(path)
        for number in range(first, count, CLIENTS):
            is_fault = bool(faulty) and number % faulty == 0
            codes.append(client.ask(**requests[is_fault])["exit_code"])

    start, (before, memory) = time.perf_counter(), used(pid)
    threads = [threading.Thread(target=run, args=(first,)) for first in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    after, memory_after = used(pid)
    faults = len(range(0, count, faulty)) if faulty else 0
    assert sorted(codes) == [0] * (count - faults) + [5] * faults, "an answer is lost or wrong"
    print(
        f"{count} launches of {CLIENTS} clients, {faults} faults: {count / seconds:.0f} a second, "
        f"{(after - before) / count * 1e3:.1f} ms of processor time each, "
        f"memory {memory:.0f} -> {memory_after:.0f} MiB"
    )
    return count / seconds


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--launches", type=int, default=1000, help="default: 1000")
    parser.add_argument("--device", default="cpu", help="default: cpu")
    parser.add_argument("--baseline", type=Path, help="the root of another checkout of cudarun")
    options = parser.parse_args()
    device = options.device
    argv = ["launch", SAXPY, "-d", device, *LAUNCH]
    print(f"{'ms':46} {'median':>9} {'least':>9} {'processor':>9}")
    with tempfile.TemporaryDirectory() as folder:
        if options.baseline is not None:
            compared(folder, device, options.baseline, options.launches)
            return 0
        fault = Path(folder, "fault.ptx")
        fault.write_text(FAULT)
        source = Path(folder, "f.cu")
        with server(folder, device, 1) as (path, pid):
            client = Client(path)
            timed("launch of PTX", pid, 200, client, lambda _: {"argv": argv})
            parameters = {"image": "samples/saxpy.ptx", "device": device, "threads": 1000}
            parameters |= {"args": ["f32:2", "f32[1000]:iota", "f32[1000]:ones", 1000]}
            request = {"command": "launch", "parameters": parameters}
            timed("launch of PTX, parameters", pid, 200, client, lambda _: request)

            def changed(number: int, start: str = "") -> dict[str, Any]:
                source.write_text(start + SOURCE % (time.time_ns() + number & 0x7FFFFFFF))
                return {"argv": ["launch", str(source), "-d", device, "--threads", "4", "i32[4]"]}

            timed("launch of a changed .cu, with NVRTC", pid, 50, client, changed)
            including = partial(changed, start=INCLUDE)
            timed("the same with #include <cstdint>", pid, 50, client, including)
            nvrtc_alone(50)
            processes(
                "cudarun --server … launch", [*cudarun_command(), "--server", path, *argv], 30
            )
        processes("python -c pass", [sys.executable, "-c", "pass"], 30)
        processes("cudarun launch", [*cudarun_command(), *argv], 10)
        with server(folder, device, os.cpu_count() or 1) as (path, pid):
            words = {False: argv, True: ["launch", str(fault), "-d", device, "--threads", "1"]}
            requests = {key: {"argv": each} for key, each in words.items()}
            throughput(path, pid, 200, requests, 0)
            whole = throughput(path, pid, options.launches, requests, 0)
            part = throughput(path, pid, options.launches, requests, FAULTY)
            print(f"with faults {part / whole:.0%} of the throughput without")
    return 0


if __name__ == "__main__":
    sys.exit(main())
