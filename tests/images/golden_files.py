"""The real files beside this one: what made each is in ``golden/README.md``."""

import gzip
import struct
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def golden(name: str) -> bytes:
    """The bytes of a golden file; one that is stored as ``name.gz`` is unpacked."""
    packed = GOLDEN / f"{name}.gz"
    if packed.exists():
        return gzip.decompress(packed.read_bytes())
    return (GOLDEN / name).read_bytes()


def fatbin_of_ptx(text: bytes) -> bytes:
    """A fatbin with one PTX text for compute_75, stored plainly."""
    entry = struct.pack("<H2xIQI8xI8xQ8xQ", 1, 64, len(text), 0, 75, 0, 0) + text
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(entry)) + entry


def archive(*members: tuple[bytes, bytes]) -> bytes:
    """A static library: names as they stand in the headers, and contents."""
    parts = [b"!<arch>\n"]
    for name, content in members:
        head = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(content))
        parts += [head, content, b"\n" * (len(content) % 2)]
    return b"".join(parts)
