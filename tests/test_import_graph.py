"""No import goes in a circle, imports for types and imports inside functions included."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.imports import PACKAGE, cycles, import_graph

# The interpreter's own objects know each other's types: a batch runs frames, a frame binds the
# blocks of a launch, a launch knows the batch that is running. None imports another to run.
TYPES_OF_THE_MACHINE = {
    f"cudarun.emulator.machine.{name}"
    for name in (
        "access", "active", "barriers", "batch", "clusters", "control", "frame", "launch",
        "observer", "report", "spaces", "stack", "threads",
    )
}  # fmt: skip


def test_no_import_cycle() -> None:
    found = [sorted(cycle) for cycle in cycles(import_graph()) if cycle != TYPES_OF_THE_MACHINE]
    assert not found


def test_no_import_cycle_at_run_time() -> None:
    assert not [sorted(cycle) for cycle in cycles(import_graph(types=False))]


def test_exempt_modules_are_few_and_form_a_cycle() -> None:
    """What leaves the cycle leaves the set."""
    assert len(TYPES_OF_THE_MACHINE) <= 13
    assert TYPES_OF_THE_MACHINE in cycles(import_graph())


# --- the graph itself ----------------------------------------------------------------------------

_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("import cudarun.sub.b", "import cudarun.a"),
        ("from cudarun.sub import b", "from cudarun.a import f"),
        ("from .sub.b import g", "from .. import a"),
        ("def f():\n    from cudarun.sub import b", "from cudarun import a"),
        ("import importlib\nimportlib.import_module('cudarun.sub.b')", "import cudarun.a"),
        ("TABLE = {'b': 'cudarun.sub.b'}", "import cudarun.a"),
    ],
)
def test_cycle_is_found(tmp_path: Path, first: str, second: str) -> None:
    root = _package(tmp_path, first, second)
    assert cycles(import_graph(root)) == [{"cudarun.a", "cudarun.sub.b"}]
    assert cycles(import_graph(root, types=False)) == [{"cudarun.a", "cudarun.sub.b"}]


@pytest.mark.parametrize("where", ["first", "second"])
def test_cycle_of_types_is_none_at_run_time(tmp_path: Path, where: str) -> None:
    first, second = "from cudarun.sub import b", "from cudarun import a"
    if where == "first":
        first = _TYPES + first
    else:
        second = _TYPES + second
    root = _package(tmp_path, first, second)
    assert cycles(import_graph(root)) == [{"cudarun.a", "cudarun.sub.b"}]
    assert not cycles(import_graph(root, types=False))


def test_import_at_run_time_beside_one_for_types(tmp_path: Path) -> None:
    text = f"{_TYPES}pass\nelse:\n    from cudarun.sub import b"
    root = _package(tmp_path, text, "import cudarun.a")
    assert cycles(import_graph(root, types=False))


def test_one_way_is_no_cycle(tmp_path: Path) -> None:
    root = _package(tmp_path, "from cudarun.sub import b, c\nimport cudarun.sub.c", "import numpy")
    assert import_graph(root)["cudarun.a"] == {"cudarun.sub.b", "cudarun.sub.c"}
    assert not cycles(import_graph(root))


def test_cycle_of_three() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set[str]()}
    assert cycles(graph) == [{"a", "b", "c"}]


def test_whole_package_is_read() -> None:
    graph = import_graph()
    assert len(graph) == len(list(PACKAGE.rglob("*.py")))
    assert "cudarun.emulator.machine.batch" in graph["cudarun.emulator.execution"]


def _package(tmp_path: Path, first: str, second: str) -> Path:
    root = tmp_path / "cudarun"
    (root / "sub").mkdir(parents=True)
    texts = {"__init__": "", "a": first, "sub/__init__": "", "sub/b": second, "sub/c": ""}
    for name, text in texts.items():
        (root / f"{name}.py").write_text(text)
    return root
