"""The way to run a command on the hosts of a fleet: a command prefix."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.session.fleet.node_document import MAX_DOCUMENT
from cudarun.session.workers.programs import ProgramResult, run_programs

HOST = "{host}"
"""The place of the host in the words of a prefix."""
NODE = ("fleet", "--node", "--json")
"""The words after the program on a node."""


@dataclass(frozen=True, slots=True)
class Transport:
    """A command prefix, such as ``ssh {host}``.

    Attributes:
        hosts: The hosts.
        prefix: The words before the command; ``{host}`` in them is replaced by the host.
        program: The words that run `NODE` of cudarun on a node.
        at_once: The number of hosts at the same time.
        host_timeout: The time limit of a host in seconds.

    Raises:
        RequestError: The prefix does not contain the place of the host.
    """

    hosts: tuple[str, ...]
    prefix: Sequence[str]
    program: Sequence[str]
    at_once: int
    host_timeout: float

    def __post_init__(self) -> None:
        if len(self.hosts) > 1 and not any(HOST in word for word in self.prefix):
            what = f"'{shlex.join(self.prefix)}' does not contain {HOST}: all hosts would be one"
            raise RequestError(what, option="--via")

    def run(self, archive: bytes) -> Iterator[tuple[str, ProgramResult]]:
        """Run ``cudarun fleet --node`` on each host; yield the host and its result as it ends.

        The command of a host is a process of this machine, without a shell.
        """
        return run_programs(
            (
                (host, [*(word.replace(HOST, host) for word in self.prefix), *self.program])
                for host in self.hosts
            ),
            archive,
            at_once=self.at_once,
            timeout=self.host_timeout,
            most_output=MAX_DOCUMENT,
        )
