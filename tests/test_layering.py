"""Imports go one way: the rules of CONTRIBUTING.md, kept by walking every module's syntax tree.

An import counts wherever it stands: at the top, inside a function, under ``TYPE_CHECKING``, through
``importlib.import_module`` or as a dotted name in a string (the lazy command table).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "cudarun"

# What each part may import of ours, beside itself. A name covers what lies below it. The leaves
# `cudarun` (the version), `cudarun.bindings`, `cudarun.errors` and `cudarun.records` are open to
# all.
MAY_IMPORT = {
    "__main__": {"cli", "process", "session.workers.prefork", "session.launch.worker"},
    "process": set(),
    "cli": {"commands", "report", "session.devices.versions"},
    "commands": {
        "session",
        "report",
        "arguments",
        "diagnostics",
        "images",
        "parameters",
        "writing",
    },
    "session": {
        "arguments",
        "diagnostics",
        "images",
        "parameters",
        "report.types",
        "report.watch_types",
        "report.spec_types",
        "report.image_types",
        "report.ctx_types",
        "report.managed_types",
        "report.sanitizer_types",
        "report.doctor_types",
        "writing",
    },
    "report": {"diagnostics", "parameters", "ptx.errors", "writing"},
    "diagnostics": {"images"},
    "images": {"ptx", "parameters"},
    "emulator": {"ptx"},
    "arguments": {"parameters", "report.types"},
    "ptx": set(),
    "bindings": set(),
    "errors": set(),
    "records": set(),
    "parameters": set(),
    "writing": set(),
}
LEAVES = {"", "bindings", "errors", "records"}

# The one place that names the emulator; everything else speaks to whatever driver it was handed.
EMULATOR_IS_NAMED_IN = "session/driver/drivers.py"

# Packages that only some parts may use.
ONLY_IN = {
    "click": {"cli", "commands", "report"},
    "rich": {"report"},
    "cuda": {"session", "emulator", "bindings"},
    "elftools": {"images"},
}

_DOTTED = re.compile(r"^\w+(\.\w+)+$")


def imports(path: Path, root: Path = PACKAGE) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that a module imports or names as a module."""
    tree = ast.parse(path.read_text(), path)
    package = [root.name, *path.relative_to(root).parent.parts]
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                origin = ".".join([*base, *([module] if module else [])])
                for alias in names:
                    full = f"{origin}.{alias.name}"
                    yield node.lineno, full if _is_module(full, root) else origin
            case ast.Constant(value=str(text)) if _DOTTED.match(text):
                if text.split(".")[0] == root.name and _is_module(text, root):
                    yield node.lineno, text
            case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
                called = function.attr if isinstance(function, ast.Attribute) else None
                called = function.id if isinstance(function, ast.Name) else called
                if called in {"import_module", "__import__"}:
                    yield node.lineno, text


def _is_module(name: str, root: Path) -> bool:
    path = root.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def _part(path: Path, root: Path = PACKAGE) -> str:
    """The row of ``MAY_IMPORT`` that a file belongs to."""
    return path.relative_to(root).with_suffix("").parts[0]


def _covers(allowed: str, name: str) -> bool:
    return name == allowed or name.startswith(f"{allowed}.")


def violations(path: Path, root: Path = PACKAGE) -> list[str]:
    """Everything in a module that breaks a rule, as ``file:line: what``."""
    part, found = _part(path, root), []
    if part == "__init__":
        part, allowed = "", set[str]()
    else:
        allowed = MAY_IMPORT[part] | LEAVES | {part}
    for line, name in imports(path, root):
        where = f"{path.relative_to(root)}:{line}"
        top, _, rest = name.partition(".")
        if top == root.name:
            if _covers("emulator", rest) and part != "emulator":
                if path.relative_to(root).as_posix() != EMULATOR_IS_NAMED_IN:
                    found.append(f"{where}: names {name}")
            elif rest not in LEAVES and not any(_covers(a, rest) for a in allowed if a):
                found.append(f"{where}: imports {name}")
        elif part not in ONLY_IN.get(top, {part}):
            found.append(f"{where}: imports {name}")
    return found


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    assert not violations(path)


def test_every_part_has_its_rule() -> None:
    assert {_part(path) for path in modules()} - {"__init__"} <= set(MAY_IMPORT)


# --- the walker itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("ptx/a.py", "import click"),
        ("ptx/a.py", "from cudarun.session import calls"),
        ("arguments/a.py", "def f():\n    import rich.table"),
        ("images/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import click"),
        ("session/a.py", "from cudarun.report import tables"),
        ("session/a.py", "from .. import commands"),
        ("session/a.py", "import cudarun.emulator.driver"),
        ("commands/a.py", "TABLE = {'x': 'cudarun.emulator.driver'}"),
        ("commands/a.py", "import importlib\nimportlib.import_module('rich.console')"),
        ("emulator/a.py", "from ..session import calls"),
        ("errors.py", "from cudarun import report"),
    ],
)
def test_a_violation_is_found(tmp_path: Path, file: str, text: str) -> None:
    root = tmp_path / "cudarun"
    for name in ["ptx/__init__", "session/driver/calls", "report/tables", "commands/__init__"]:
        _write(root / f"{name}.py", "")
    for name in ["report/__init__", "emulator/driver", "session/__init__"]:
        _write(root / f"{name}.py", "")
    _write(root / file, text)
    assert violations(root / file, root)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("session/a.py", "from cudarun.report.types import Mismatch"),
        ("session/a.py", "from cudarun.report import types"),
        (
            "session/driver/drivers.py",
            "import importlib\nimportlib.import_module('cudarun.emulator')",
        ),
        ("emulator/a.py", "from cudarun import errors\nfrom . import b\nimport numpy"),
        ("report/a.py", "import rich"),
        ("ptx/a.py", "MESSAGE = 'cudarun.nothing'"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, file: str, text: str) -> None:
    root = tmp_path / "cudarun"
    for name in ["errors", "report/__init__", "report/types", "emulator/__init__", "emulator/b"]:
        _write(root / f"{name}.py", "")
    _write(root / file, text)
    assert not violations(root / file, root)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
