"""A command on a terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.support.forked_processes import run_on_terminal

ROOT = Path(__file__).resolve().parents[2]


def on_a_terminal(
    *args: str, env: Mapping[str, str], columns: int = 80, cwd: Path = ROOT
) -> tuple[int, str]:
    """The exit code of ``cudarun``, and what it writes on a terminal."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    written: list[bytes] = []
    reader = threading.Thread(target=_read, args=(controller, written))
    reader.start()
    try:
        code = run_on_terminal(args, cwd, {**clean, **env}, Path(os.ttyname(terminal)))
    finally:
        os.close(terminal)
        reader.join()
        os.close(controller)
    return code, b"".join(written).decode()


def _read(controller: int, written: list[bytes]) -> None:
    """Read until no process has the terminal."""
    while True:
        try:
            part = os.read(controller, 1 << 16)
        except OSError:
            return
        written.append(part)
