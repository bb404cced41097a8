"""A command on a terminal of a given width."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def on_a_terminal(
    *args: str, env: Mapping[str, str], columns: int = 80, cwd: Path = ROOT
) -> tuple[int, str]:
    """The exit code of ``cudarun``, and what it writes on a terminal."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "cudarun", *args],
        env=clean | env, cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    written = b""
    with contextlib.suppress(OSError):  # which ends what a terminal can be read of
        while part := os.read(controller, 1 << 16):
            written += part
    os.close(controller)
    return process.wait(PATIENCE), written.decode()
