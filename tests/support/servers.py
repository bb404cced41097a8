"""Servers that tests start, and a client of theirs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.support.processes import PATIENCE, PYTHON_PATH, marked, wait_until

KERNELS = """\
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 words[9] = {102, 114, 111, 109, 32, 105, 116, 10, 0};
.visible .entry fill(.param .u64 y, .param .u32 k)
{
    .reg .b64 %y; .reg .b32 %k;
    ld.param.u64 %y, [y];
    ld.param.u32 %k, [k];
    st.global.u32 [%y], %k;
    ret;
}
.visible .entry fault() { .reg .b64 %y; mov.u64 %y, 8; st.global.u32 [%y], 1; ret; }
.visible .entry endless() { again: bra again; }
.visible .entry say()
{
    .reg .b64 %w; .reg .b32 %r;
    mov.u64 %w, words;
    cvta.global.u64 %w, %w;
    { .param .b64 f; .param .b64 v; .param .b32 r;
      st.param.b64 [f], %w; st.param.b64 [v], 0;
      call.uni (r), vprintf, (f, v); ld.param.b32 %r, [r]; }
    ret;
}
"""
"""Kernels that fill a buffer, fault, never end and print a line."""


class ServerClient:
    """A client of a server."""

    def __init__(self, path: Path) -> None:
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(os.fspath(path))
        self._lines = self.connection.makefile("rb")

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages."""
        self.connection.sendall(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        line = self._lines.readline()
        assert line, "the server has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, **members: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self.send({"id": 1, **members})
        return self.receive()

    def close(self) -> None:
        """End the client."""
        self._lines.close()
        self.connection.close()


@contextmanager
def server(
    folder: Path, *options: str, modules: Path | None = None, log: IO[str] | None = None
) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """Yield the socket of a server and its process; it leaves no process and no file.

    Args:
        modules: A folder with modules for its processes.
        log: The file for its stderr.
    """
    path = folder / "of_user" / "server.sock"
    mark = f"CUDARUN_MARK={folder}"
    python_path = os.pathsep.join(filter(None, (modules and os.fspath(modules), PYTHON_PATH)))
    with subprocess.Popen(
        [sys.executable, "-m", "cudarun", "serve", "--socket", path, "-d", "cpu", *options],
        stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder,
        env=os.environ | {"PYTHONPATH": python_path, "CUDARUN_MARK": str(folder)},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"listening at {path}\n"
            yield path, process
        finally:
            process.terminate()
            process.wait(PATIENCE)
    wait_until(lambda: not marked(mark), "end of all processes")
    assert not path.exists()
