"""The imports of the package, from the syntax trees of its modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "cudarun"

_DOTTED = re.compile(r"^\w+(\.\w+)+$")


@dataclass(frozen=True)
class Import:
    """One import statement, or one name of a module in a string.

    Attributes:
        line: Line number, from 1.
        module: Full dotted name; of ``from package import module`` that of the module.
        for_types: Under ``if TYPE_CHECKING``, never executed.
    """

    line: int
    module: str
    for_types: bool


def modules(root: Path = PACKAGE) -> list[Path]:
    """Return the files of all modules below a package, sorted."""
    return sorted(root.rglob("*.py"))


def module_name(path: Path, root: Path = PACKAGE) -> str:
    """Return the full dotted name of a file's module; of an ``__init__.py`` the package's."""
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Return a file's syntax tree; several tests walk each."""
    return ast.parse(path.read_text(), path)


@cache
def imports(path: Path, root: Path = PACKAGE) -> tuple[Import, ...]:
    """Return everything that a module imports.

    An import counts wherever it stands: at the top, inside a function, under ``TYPE_CHECKING``,
    through ``importlib.import_module`` or as a dotted name in a string (the lazy command table).
    """
    tree = syntax_tree(path)
    package = [root.name, *path.relative_to(root).parent.parts]
    typed = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and _is_type_checking(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    return tuple(
        Import(getattr(node, "lineno", 0), module, id(node) in typed)
        for node in ast.walk(tree)
        for module in _names(node, package, root)
    )


def _names(node: ast.AST, package: list[str], root: Path) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield alias.name
        case ast.ImportFrom(module=module, names=names, level=level):
            base = package[: len(package) - level + 1] if level else []
            origin = ".".join([*base, *([module] if module else [])])
            for alias in names:
                full = f"{origin}.{alias.name}"
                yield full if _is_module(full, root) else origin
        case ast.Constant(value=str(text)) if _DOTTED.match(text):
            if text.split(".")[0] == root.name and _is_module(text, root):
                yield text
        case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
            called = function.attr if isinstance(function, ast.Attribute) else None
            called = function.id if isinstance(function, ast.Name) else called
            if called in {"import_module", "__import__"}:
                yield text


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return True
    return False


@cache
def _is_module(name: str, root: Path) -> bool:
    path = root.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


# --- the graph -----------------------------------------------------------------------------------


@cache
def import_graph(root: Path = PACKAGE, *, types: bool = True) -> dict[str, set[str]]:
    """Return for each module of a package the modules of the package that it imports.

    Args:
        root: The package.
        types: Include imports under ``TYPE_CHECKING``.
    """
    files = {module_name(path, root): path for path in modules(root)}
    return {
        name: {
            found.module
            for found in imports(path, root)
            if found.module in files and found.module != name and (types or not found.for_types)
        }
        for name, path in files.items()
    }


def cycles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components of more than one node, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = lowest[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], index[other])
        if lowest[node] == index[node]:
            start = stack.index(node)
            component = set(stack[start:])
            del stack[start:]
            if len(component) > 1:
                found.append(component)

    for node in graph:
        if node not in index:
            visit(node)
    return found
