"""The facts of ``cudarun ctx verify``: sentences about contexts with scripts that check them.

``facts.toml`` contains them, and says where they come from.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from cudarun.base.records import dataclass
from cudarun.session.contexts.parser import parse_script
from cudarun.session.contexts.script import Script


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about contexts.

    Attributes:
        name: The fact's name.
        sentence: The documented behavior.
        script: The text of the script that checks it.
        note: Differences between drivers or bindings.
        may_crash: The script uses a destroyed handle, with which a driver may end the process.
    """

    name: str
    sentence: str
    script: str
    note: str | None = None
    may_crash: bool = False

    def parsed(self) -> Script:
        """Parse the script."""
        return parse_script(self.script, f"fact {self.name}")


FACTS = tuple(
    Fact(name, **row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
)
