"""Folders for what processes of one command hand each other: none is left, however it ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# It is told by a byte that all is well; the end of its input means that our process is gone. What
# wrote into the folder may then be about to die, too, and gets a second to do so.
_KEEPER = """
import sys
if not sys.stdin.read(1):
    import shutil, time
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    time.sleep(1)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder in ``TMPDIR``, gone afterwards; also where this process is killed by SIGKILL.

    A killed process tidies nothing up: another one, in a session of its own, waits for its end.
    """
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _KEEPER, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        try:
            yield Path(name)
        finally:
            keeper.communicate(b"\n")
