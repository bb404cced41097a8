"""The ways to run a command on the hosts of a fleet: a command prefix, or the tasks of Ray."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Protocol

from cudarun.errors import RequestError
from cudarun.records import dataclass
from cudarun.session.fleet.node_document import MAX_DOCUMENT
from cudarun.session.workers.programs import ProgramResult, run_programs

HOST = "{host}"
"""The place of the host in the words of a prefix."""
NODE = ("fleet", "--node", "--json")
"""The words after the program on a node."""


class Transport(Protocol):
    """A way to run cudarun on every host."""

    hosts: tuple[str, ...]

    def run(self, archive: bytes) -> Iterator[tuple[str, ProgramResult]]:
        """Run ``cudarun fleet --node`` on each host; yield the host and its result as it ends."""


@dataclass(frozen=True, slots=True)
class HostLimits:
    """The limits of all hosts.

    Attributes:
        at_once: The number of hosts at the same time.
        host_timeout: The time limit of a host in seconds.
    """

    at_once: int
    host_timeout: float


class PrefixTransport:
    """A command prefix, such as ``ssh {host}``.

    Args:
        hosts: The hosts.
        prefix: The words before the command; ``{host}`` in them is replaced by the host.
        program: The words that run `NODE` of cudarun on a node.
        limits: The limits.

    Raises:
        RequestError: The prefix does not contain the place of the host.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        prefix: Sequence[str],
        program: Sequence[str],
        limits: HostLimits,
    ) -> None:
        if len(hosts) > 1 and not any(HOST in word for word in prefix):
            what = f"'{shlex.join(prefix)}' does not contain {HOST}: all hosts would be one"
            raise RequestError(what, option="--via")
        self.hosts = tuple(hosts)
        self._prefix = prefix
        self._program = program
        self._limits = limits

    def run(self, archive: bytes) -> Iterator[tuple[str, ProgramResult]]:
        """Run the command of each host in a process of this machine, without a shell."""
        return run_programs(
            ((host, self._command(host)) for host in self.hosts),
            archive,
            at_once=self._limits.at_once,
            timeout=self._limits.host_timeout,
            most_output=MAX_DOCUMENT,
        )

    def _command(self, host: str) -> tuple[str, ...]:
        return (*(word.replace(HOST, host) for word in self._prefix), *self._program)


class RayTransport:
    """A task on each node of a Ray cluster.

    Args:
        hosts: The names of the nodes; all by default.
        program: The words that run `NODE` of cudarun on a node.
        limits: The limits.

    Raises:
        RequestError: Ray is not installed, there is no cluster, or it has no such node.
    """

    def __init__(
        self, hosts: Sequence[str] | None, program: Sequence[str], limits: HostLimits
    ) -> None:
        from cudarun.session.workers.ray_cluster import RayCluster  # imports ray

        self._cluster = RayCluster()
        self._program = program
        self._limits = limits
        self.hosts = self._cluster.hosts if hosts is None else tuple(hosts)
        unknown = [host for host in self.hosts if host not in self._cluster.hosts]
        if unknown:
            raise RequestError(
                f"the Ray cluster has no node '{unknown[0]}'",
                hint=f"its nodes: {', '.join(self._cluster.hosts)}",
                option="--hosts",
            )

    def run(self, archive: bytes) -> Iterator[tuple[str, ProgramResult]]:
        """Run a task on each node, with its GPUs reserved."""
        return self._cluster.run(
            self.hosts,
            archive,
            self._program,
            at_once=self._limits.at_once,
            timeout=self._limits.host_timeout,
            most_output=MAX_DOCUMENT,
        )
