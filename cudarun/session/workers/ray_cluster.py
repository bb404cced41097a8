"""The nodes of a Ray cluster, and one task on each of them, with all its GPUs reserved.

Ray is an extra: ``cudarun[ray]``. https://docs.ray.io, "Ray Core API".
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cudarun.errors import RequestError
from cudarun.session.workers.programs import ProgramResult

_INTERVAL = 1.0
"""Seconds between two looks at the tasks."""
_REACHABLE = 10.0
"""The seconds in which a cluster accepts a connection."""
_ID = 8
"""The characters of a node's ID that tell nodes of the same host name apart."""

_LOST = ProgramResult(None, b"", "", 0.0, "the node was lost")

_Node = dict[str, Any]


class RayCluster:
    """The cluster of ``RAY_ADDRESS``, or the one that this machine belongs to.

    Raises:
        RequestError: Ray is not installed, or there is no cluster.
    """

    def __init__(self) -> None:
        try:
            import ray
        except ImportError:
            raise RequestError(
                "Ray is not installed", hint="pip install 'cudarun[ray]'", option="--via"
            ) from None
        self._ray = ray
        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS", "auto")
            try:
                _check_reachable(address)
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except (OSError, ValueError, RuntimeError) as error:
                what = f"no Ray cluster: {str(error).partition(chr(10))[0]}"
                hint = "start one with 'ray start --head', or set RAY_ADDRESS"
                raise RequestError(what, hint=hint, option="--via") from None
        self._nodes = self._alive()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of the nodes; with the start of its ID where a name is not unique."""
        return tuple(self._nodes)

    def run(
        self,
        hosts: Sequence[str],
        stdin: bytes,
        command: Sequence[str],
        *,
        at_once: int,
        timeout: float,
        most_output: int,
    ) -> Iterator[tuple[str, ProgramResult]]:
        """Run a command once on each node, and yield the name and the result of each.

        A node that is lost meanwhile gets a second chance at the end, if a node with its host name
        has joined the cluster.

        Args:
            hosts: Some of `hosts`.
            stdin: The input of the command.
            command: The words.
            at_once: The most nodes at the same time.
            timeout: The time limit of each in seconds.
            most_output: The most bytes of stdout.
        """
        shared = self._ray.put(stdin)
        arguments = (shared, [*command], timeout, most_output)
        lost: list[tuple[str, _Node]] = []
        for host, node, result in self._round(
            [(host, self._nodes[host]) for host in hosts], arguments, at_once
        ):
            if result is None:
                lost.append((host, node))
            else:
                yield host, result
        again = [(host, other) for host, node in lost if (other := self._successor(node))]
        for host, _, result in self._round(again, arguments, at_once):
            yield host, result or _LOST
        repeated = {host for host, _ in again}
        yield from ((host, _LOST) for host, _ in lost if host not in repeated)
        self._ray.shutdown()

    def _round(
        self, places: Sequence[tuple[str, _Node]], arguments: tuple[Any, ...], at_once: int
    ) -> Iterator[tuple[str, _Node, ProgramResult | None]]:
        """Run a task on each node, and yield its result; ``None`` where the node was lost."""
        task = _task(self._ray)
        waiting = [*places]
        running: dict[Any, tuple[str, _Node]] = {}
        while waiting or running:
            while waiting and len(running) < at_once:
                host, node = waiting.pop(0)
                running[task.options(**_placed(node)).remote(*arguments)] = host, node
            ended, _ = self._ray.wait([*running], num_returns=1, timeout=_INTERVAL)
            for reference in ended:
                host, node = running.pop(reference)
                try:
                    yield host, node, ProgramResult(*self._ray.get(reference))
                except self._ray.exceptions.RayError:
                    yield host, node, None

    def _successor(self, node: _Node) -> _Node | None:
        """Return a node that has joined since the start, with the host name of a lost one."""
        known = {each["NodeID"] for each in self._nodes.values()}
        for each in self._alive().values():
            is_new = each["NodeID"] not in known
            if is_new and each["NodeManagerHostname"] == node["NodeManagerHostname"]:
                return each
        return None

    def _alive(self) -> dict[str, _Node]:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        counts = Counter(node["NodeManagerHostname"] for node in nodes)
        return {_name(node, counts): node for node in nodes}


def _check_reachable(address: str) -> None:
    """Connect to ``HOST:PORT``: Ray itself would try for minutes.

    Raises:
        OSError: Nothing answers there.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), _REACHABLE).close()


def _name(node: _Node, counts: Counter[str]) -> str:
    host: str = node["NodeManagerHostname"]
    return host if counts[host] == 1 else f"{host}-{node['NodeID'][:_ID]}"


def _placed(node: _Node) -> dict[str, Any]:
    """Return the options of a task on one node, with all its GPUs."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {
        "num_gpus": int(node["Resources"].get("GPU", 0)),
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
    }


def _task(ray: Any) -> Any:
    """Return the task. It is sent by value, so that nodes need cudarun only for the command."""

    @ray.remote(num_cpus=0, max_retries=0)  # type: ignore[untyped-decorator]
    def run(stdin: bytes, command: list[str], timeout: float, most_output: int) -> tuple[Any, ...]:
        import subprocess
        import time

        started = time.monotonic()
        try:
            done = subprocess.run(
                command, input=stdin, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return None, b"", "", timeout, f"timed out after {timeout:g} s"
        except OSError as error:
            return None, b"", "", 0.0, f"{command[0]}: {error.strerror}"
        seconds = time.monotonic() - started
        if len(done.stdout) > most_output:
            return None, b"", "", seconds, f"its output exceeds {most_output >> 20} MiB"
        errors = done.stderr.decode(errors="replace")[-2000:]
        return done.returncode, done.stdout, errors, seconds, None

    return run
