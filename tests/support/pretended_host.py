"""A stand-in for ``ssh {host}``: the host's name says how it behaves.

``python pretended_host.py HOST COMMAND…`` runs the command on this machine. A host whose name
begins with ``dead``, ``hang``, ``garbage``, ``old``, ``half`` or ``corrupt`` fails in its way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from cudarun import __version__

CORRUPTING = Path(__file__).with_name("corrupting_node.py")


def main(host: str, command: list[str]) -> int:
    kind = host.rstrip("0123456789")
    if kind == "dead":
        print(f"ssh: connect to host {host} port 22: Connection refused", file=sys.stderr)
        return 255
    if kind == "hang":
        time.sleep(3600)
    if kind == "garbage":
        sys.stdout.buffer.write(b"Welcome\x00 to \xff\x1b[31m\n")
        return 0
    if kind == "corrupt":
        command = [command[0], str(CORRUPTING), *command[3:]]
    if kind not in ("old", "half"):
        os.execv(command[0], command)
    out = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
    if kind == "half":
        out = out[: len(out) // 2]
    sys.stdout.buffer.write(out.replace(f'"{__version__}"'.encode(), b'"0.0.1"'))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
