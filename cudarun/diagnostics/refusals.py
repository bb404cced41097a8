"""A refused image with all known facts, and the explanation of the refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnostic
from cudarun.images.demangler import demangle, quoted
from cudarun.images.summary import FileSummary
from cudarun.images.versions import Architecture, Version


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """The device that an image was loaded for, or the tool that compiled or linked it."""

    name: str  # the name of the device or tool
    architecture: int | None = None  # 90 for compute capability 9.0
    suffix: str = ""  # the suffix of the architecture requested for a link: ``a`` in ``sm_90a``
    cuda: Version | None = None  # the version of the driver or of the linker's toolkit
    is_driver: bool = True  # True if ``cuda`` is the version of a driver
    runs_machine_code: bool = True  # True if the device runs cubins; the emulated one runs PTX only

    @property
    def speaker(self) -> str:
        """The program that refuses an image: the driver, or a linker or compiler by its name."""
        return "the driver" if self.is_driver else self.name


@dataclass(frozen=True, slots=True)
class RefusalFacts:
    """All known facts about one refusal."""

    target: LoadTarget  # the device or tool
    contents: FileSummary | None = None  # the summary of the file, if there is only one
    cuda_error: str | None = None  # the name of the driver's result
    diagnostics: tuple[Diagnostic, ...] = ()  # the diagnostics in the log
    log: str = ""  # the log itself
    # The files that define each symbol of a link's inputs.
    definers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The architecture passed to the driver's compiler, ``--target``.
    jit_target: Architecture | None = None
    header_folders: tuple[str, ...] = ()  # the folders of a source's headers besides CUDA's

    def match(self, pattern: str) -> re.Match[str] | None:
        """Return the first match in the log."""
        return re.search(pattern, self.log)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason and what to do about it."""

    reason: str
    remedy: str


Rule = Callable[[RefusalFacts], Explanation | None]
"""Returns an explanation of the refusals that it recognizes."""


def rule_of(pattern: str, reason: str, remedy: str) -> Rule:
    """Return a rule for a text in the log.

    Args:
        reason: The reason; ``{0}`` is the pattern's first group, a symbol in its C++ spelling or a
            number in decimal, and ``{who}`` is the driver or the linker.
        remedy: The remedy, likewise.
    """

    def rule(case: RefusalFacts) -> Explanation | None:
        match = case.match(pattern)
        if match is None:
            return None
        groups = [str(int(g, 0)) if g[:2] == "0x" else demangle(g) for g in match.groups()]
        who = case.target.speaker
        return Explanation(reason.format(*groups, who=who), remedy.format(*groups, who=who))

    return rule


# --- words ---------------------------------------------------------------------------------------


def version_text(version: Version | None) -> str:
    """Return a version as text: ``9.0``."""
    return f"{version[0]}.{version[1]}" if version else "?"


def target_text(target: LoadTarget) -> str:
    """Return a device or tool as text: ``sm_90 (NVIDIA H200)``."""
    number = f"sm_{target.architecture}{target.suffix}"
    if target.architecture is None or target.name == number:
        return target.name
    return f"{number} ({target.name})"


def targets_text(targets: Iterable[Architecture]) -> str:
    """Return architectures as text, each once: ``sm_80, compute_80``."""
    return ", ".join(dict.fromkeys(map(str, targets)))


def listed(names: Iterable[str]) -> str:
    """Return symbols as text, each once."""
    return ", ".join(map(quoted, dict.fromkeys(names)))
