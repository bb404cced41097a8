"""The scripts of ``benchmarks/``, which no test executes, import names that exist."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = sorted((Path(__file__).parent.parent / "benchmarks").glob("*.py"))
OURS = ("cudarun", "tests", "tools")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_imported_names_exist(script: Path) -> None:
    missing = []
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            module = importlib.import_module(node.module or "")
            names = [each.name for each in node.names]
            missing += [f"{node.module}.{name}" for name in names if not _has(module, name)]
    assert missing == []


def _has(module: ModuleType, name: str) -> bool:
    if hasattr(module, name):
        return True
    return importlib.util.find_spec(f"{module.__name__}.{name}") is not None
