"""The headers of PTX that this device accepts: ``.version``, ``.target`` and ``.address_size``."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.refusal import Refusal
from cudarun.images.versions import Architecture, parse_target
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxDiagnostic, PtxError, Severity
from cudarun.ptx.parser import LazyModule, lazy_module

Version = tuple[int, int]

PTX_VARIABLE = "CUDARUN_CPU_PTX"

_NEWEST_PTX = (9, 5)  # the newest that is published
_LAST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8}
# The architectures by the first version of PTX that has them, as ptxas 13.0 accepts them.
_ARCHITECTURES = {
    (1, 0): "10 11",
    (1, 2): "12 13",
    (2, 0): "20 21",
    (3, 0): "30",
    (3, 1): "35",
    (4, 0): "32 50",
    (4, 1): "37 52",
    (4, 2): "53",
    (5, 0): "60 61 62",
    (5, 1): "70",
    (6, 1): "72",
    (6, 2): "82",
    (6, 3): "75",
    (7, 0): "80",
    (7, 1): "86",
    (7, 3): "88",
    (7, 4): "87",
    (7, 8): "89 90",
    (8, 0): "90a",
    (8, 6): "100 100a 101 101a",
    (8, 7): "120 120a",
    (8, 8): "100f 101f 103 103a 103f 120f 121 121a 121f",
    (9, 0): "110 110a 110f",
}
_SINCE = {name: since for since, names in _ARCHITECTURES.items() for name in names.split()}
_NUMBERS = re.compile(r"(\d{1,9})\.(\d{1,9})")
_VERSION = re.compile(r"^[ \t]*\.version[ \t]+(\d{1,9})\.(\d{1,9})\b", re.MULTILINE)
_TARGET_LINE = re.compile(r"^[ \t]*\.target\b", re.MULTILINE)
_TARGET = re.compile(r"(?:sm|compute)_(\d{1,9}[af]?)")
_TARGET_OPTIONS = frozenset({"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"})


def newest_ptx() -> Version:
    """Return the newest ``.version`` that is accepted; ``CUDARUN_CPU_PTX=9.0`` sets it.

    Raises:
        Refusal: The variable is not a version that exists.
    """
    text = os.environ.get(PTX_VARIABLE)
    if not text:
        return _NEWEST_PTX
    match = _NUMBERS.fullmatch(text)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (1, 0) <= version <= _NEWEST_PTX:
        raise Refusal("INVALID_VALUE", f"{PTX_VARIABLE}={text}: not a version of PTX known here")
    return version


def parse_supported(text: str, newest: Version) -> LazyModule:
    """Parse the declarations of PTX with a header that is accepted. Raises `PtxError`."""
    match = _VERSION.search(text)
    if match is not None:
        version = int(match[1]), int(match[2])
        if version > newest or version[1] > _LAST_MINOR.get(version[0], version[1]):
            raise UnsupportedVersion(version, newest, _position(text, match.start(1)))
    lazy = lazy_module(text)
    module = lazy.module
    _check_targets(module, text)
    own, target = current_profile().architecture, target_of(module)
    if target.number > own:
        what = "SM version specified by .target is higher than default SM version assumed"
        raise WholeTextError(what)
    if not target.runs_on(own):
        other = "future" if target.suffix == "a" else "different SM-family"
        name = f"sm_{target.number}{target.suffix}"
        what = f"Program with .target '{name}' cannot be compiled to {other} architecture"
        raise WholeTextError(what)
    if module.address_size == 32:
        raise WholeTextError(
            " 32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on "
            f"sm_{own} or higher architectures."
        )
    return lazy


def _check_targets(module: tree.Module, text: str) -> None:
    """Raise `PtxError` if a target does not exist, or did not in the ``.version`` of the text."""
    line = _TARGET_LINE.search(text)
    position = _position(text, line.start() if line else 0)
    numbers = 0
    for target in module.targets:
        match = _TARGET.fullmatch(target)
        since = _SINCE.get(match[1]) if match else None
        numbers += since is not None
        if since is None and target not in _TARGET_OPTIONS:
            what = f"Unsupported .target '{target}'"
            raise PtxError([PtxDiagnostic(position, what, "fatal")])
        if since is not None and module.version < since:
            version = ".".join(map(str, module.version))
            what = f"PTX .version {version} does not support .target {target}"
            raise PtxError([PtxDiagnostic(position, what)])
    if not numbers:
        what = "Target architecture not defined at start of file"
        raise PtxError([PtxDiagnostic(position, what, "fatal")])


def target_of(module: tree.Module) -> Architecture:
    """Return the first architecture in the ``.target`` of a module."""
    found = next(filter(None, map(parse_target, module.targets)))
    return replace(found, is_virtual=True)


def _position(text: str, offset: int) -> tree.Position:
    return tree.Position(text.count("\n", 0, offset) + 1, 1)


class WholeTextError(PtxError):
    """An error that concerns no line in particular."""

    def __init__(self, message: str, severity: Severity = "fatal") -> None:
        super().__init__([PtxDiagnostic(tree.Position(1, 1), message, severity)])
        self.what, self.log = message, f"ptxas {severity:<8}: {message}"


class UnsupportedVersion(PtxError):
    """The text's ``.version`` does not exist, or is newer than the driver's compiler."""

    def __init__(self, version: Version, newest: Version, position: tree.Position) -> None:
        given, current = (f"{major}.{minor}" for major, minor in (version, newest))
        message = f"Unsupported .version {given}; current version is '{current}'"
        super().__init__([PtxDiagnostic(position, message, "fatal")])
