"""Class names are unique, and docstrings begin with an imperative or a noun phrase."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.imports import modules, syntax_tree

# A docstring is an imperative or a noun phrase, not a subordinate clause.
CLAUSES = {"How", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why"}

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def clauses(path: Path) -> list[str]:
    """Return ``name: first line`` of each docstring that begins with a subordinate clause."""
    found = []
    for node in ast.walk(syntax_tree(path)):
        if isinstance(node, _Documented):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if re.split(r"\W", first, maxsplit=1)[0] in CLAUSES:
                found.append(f"{getattr(node, 'name', path.stem)}: {first}")
    return found


def classes(path: Path) -> list[str]:
    """Return the names of all classes that a module defines, inside functions too."""
    tree = syntax_tree(path)
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def test_docstrings_begin_with_a_statement() -> None:
    found = {path: clauses(path) for path in modules()}
    assert {path: begins for path, begins in found.items() if begins} == {}


def test_class_names_are_unique() -> None:
    counted = Counter(name for path in modules() for name in classes(path))
    assert not [name for name, count in counted.items() if count > 1]


# --- the checks themselves -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '"""What it does."""',
        'def f():\n    """Whether it is so."""',
        'async def f():\n    """Who waits."""',
        'class A:\n    """How.\n\n    More.\n    """',
        'class A:\n    def f(self):\n        """Where lanes are."""',
    ],
)
def test_a_clause_is_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(text)
    assert len(clauses(path)) == 1


@pytest.mark.parametrize(
    "text",
    ['"""Whatever it does."""', 'def f():\n    """Return what it is."""', "def f(): ...", '""""""'],
)
def test_a_statement_passes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(text)
    assert not clauses(path)


def test_all_classes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("class A:\n    class B: ...\ndef f():\n    class C: ...\n")
    assert sorted(classes(path)) == ["A", "B", "C"]
