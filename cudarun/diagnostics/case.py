"""A refusal with all that is known of it, and the reason that is given for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from cudarun.diagnostics.entries import Diagnostic
from cudarun.images.demangle import quoted
from cudarun.images.glance import FileSummary
from cudarun.images.versions import Architecture, Version
from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """Where it was to be loaded or linked for.

    Attributes:
        name: The device's, or the linker's.
        architecture: 90 for compute capability 9.0.
        suffix: Of the architecture that a link was asked to be for: ``a`` in ``sm_90a``.
        cuda: The version of the driver or of the linker's toolkit.
        is_driver: Whether ``cuda`` is that of a driver.
        runs_machine_code: Whether the device runs cubins; the emulated one runs PTX alone.
    """

    name: str
    architecture: int | None = None
    suffix: str = ""
    cuda: Version | None = None
    is_driver: bool = True
    runs_machine_code: bool = True

    @property
    def target(self) -> str:
        """``sm_90``."""
        return f"sm_{self.architecture}{self.suffix}"


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """All that is known of one refusal.

    Attributes:
        place: Where.
        contents: Of the file, where it is one alone.
        cuda_error: The name of the driver's result.
        diagnostics: The log's complaints.
        log: The log itself.
        definers: Of the symbols that the inputs of a link define, the files of each.
        target: What the driver's compiler was told to compile for, ``--target``.
    """

    place: LoadTarget
    contents: FileSummary | None = None
    cuda_error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    definers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: Architecture | None = None

    def match(self, pattern: str) -> re.Match[str] | None:
        """The first place in the log, or else in the complaints, that fits."""
        return re.search(pattern, self.log)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason and what to do about it."""

    reason: str
    remedy: str


Rule = Callable[[RefusalFacts], Explanation | None]
"""Explains the cases it knows."""


# --- words ---------------------------------------------------------------------------------------


def version_text(version: Version | None) -> str:
    """``9.0``."""
    return f"{version[0]}.{version[1]}" if version else "?"


def place_text(place: LoadTarget) -> str:
    """``sm_90 (NVIDIA H200)``."""
    return place.name if place.architecture is None else f"{place.target} ({place.name})"


def targets_text(targets: Iterable[Architecture]) -> str:
    """``sm_80, compute_80``, each once."""
    return ", ".join(dict.fromkeys(map(str, targets)))


def listed(names: Iterable[str]) -> str:
    """Symbols, each once."""
    return ", ".join(map(quoted, dict.fromkeys(names)))
