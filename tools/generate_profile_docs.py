"""Write the tables of ``docs/reference/profiles.md`` from ``cudarun/base/profiles.py``.

::

    python -m tools.generate_profile_docs
"""

from __future__ import annotations

import re
from pathlib import Path

from cudarun.base.profiles import profiles

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "reference" / "profiles.md"
_BEGIN, _END = "<!-- begin of tables -->", "<!-- end of tables -->"


def tables() -> str:
    """Return the table of architectures and that of GPUs."""
    known = profiles().values()
    lines = [
        "| architecture | threads/SM | blocks/SM | shared memory/SM | per block | reserved "
        "| largest cluster |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{each.name}` | {each.threads} | {each.blocks} | {each.shared >> 10} KiB "
        f"| {each.shared_optin >> 10} KiB | {each.shared_reserved} B | {each.cluster or '—'} |"
        for each in known
        if each.name.startswith("sm_")
    ]
    lines += [
        "",
        "All have 65,536 registers per multiprocessor and block, 255 per thread, 1024 threads per "
        "block and 48 KiB of shared memory without opt-in.",
        "",
        "| profile | GPU | architecture | SMs | memory | L2 cache |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{each.name}` | {each.product} | sm_{each.architecture} | {each.multiprocessors} "
        f"| {each.memory / (1 << 30):.1f} GiB | {each.l2_cache / (1 << 20):g} MiB |"
        for each in known
        if not each.name.startswith("sm_")
    ]
    return "\n".join(lines)


def text(document: str) -> str:
    """Return the document with current tables."""
    parts = re.fullmatch(f"(.*{_BEGIN}\n).*({_END}.*)", document, re.DOTALL)
    assert parts is not None, "the marks are missing"
    return f"{parts[1]}\n{tables()}\n\n{parts[2]}"


def main() -> None:
    """Write the tables."""
    DOCUMENT.write_text(text(DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
