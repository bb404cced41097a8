"""The request of ``cudarun serve``."""

from __future__ import annotations

from cudarun.base.options import option_field
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """A server: the place of its clients, and its processes."""

    socket: str | None = option_field(
        "--socket SOCKET",
        help="Listen at a socket of this path.  [default: $XDG_RUNTIME_DIR/cudarun.sock, else "
        "cudarun-UID/server.sock in the folder of temporary files]",
    )
    stdio: bool = option_field(
        "--stdio",
        help="Read requests from stdin and write answers to stdout, until stdin ends.",
    )
    jobs: int | None = option_field(
        "--jobs N",
        bounds=(1, 1000),
        help="Run at most N commands at a time.  [default: twice the number of cores, at least 4]",
    )
    spares: int = option_field(
        "--spares N",
        default=0,
        bounds=(0, 100),
        help="Keep N further workers ready for each of these commands, for those that a fault of a "
        "GPU or a time limit ends; each takes a context.",
    )
