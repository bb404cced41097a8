"""Imports go one way: the rules of CONTRIBUTING.md, kept by walking every module's syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.imports import PACKAGE, imports, modules, syntax_tree

_SUFFIXES = ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")

# What each part may import of ours, beside itself. A name covers what lies below it. `cudarun` (the
# version) and `cudarun.base` are open to all.
MAY_IMPORT = {
    "": {"api"},
    "api": {
        "arguments",
        "cli",
        "model",
        "report",
        "session.driver.drivers",
        "session.image.image",
        "session.launch.step_request",
        "session.launch.verified_runs",
        "session.serve.messages",
        "session.workers.pool",
        "session.workers.prefork",
        "session.workers.service",
        "session.workers.service_messages",
    },
    "pytest_plugin": {"", "api"},
    "__main__": {"arguments", "cli", "client", "images", "session"},
    "client": set(),
    "cli": {"commands", "report", "session.devices.probes"},
    "commands": {
        "model",
        "session",
        "debugger",
        "report",
        "arguments",
        "diagnostics",
        "images",
        "comparison",
    },
    "debugger": {"arguments", "images", "model", "session"},
    "session": {
        "arguments",
        "diagnostics",
        "programs",
        "images",
        "model",
        "comparison.rank_test",
    },
    "comparison": {"model.compare"},
    "report": {"diagnostics", "model", "images.parameters"},
    "model": {"diagnostics", "images.parameters", "ptx.errors"},
    "diagnostics": {"images"},
    "images": {"ptx"},
    "emulator": {
        *("images.fatbin", "images.kinds", "images.parameters", "images.versions"),
        "programs",
        "ptx",
    },
    "programs": set(),
    "arguments": {"model.checks", "model.launch", "images.parameters"},
    "ptx": set(),
    "base": set(),
}
LEAVES = {"", "base"}

# The same inside a package, from the lowest layer to the highest: what each part may import of the
# package, beside itself.
INSIDE: dict[str, dict[str, set[str]]] = {
    "emulator": {
        "numerics": set(),
        "faults": set(),
        "memory": {"numerics"},
        "heap": {"memory"},
        "words": {"numerics"},
        "code": {"numerics"},
        "program": {"code"},
        "machine": {"code", "faults", "heap", "memory", "numerics", "program", "words"},
        "isa": {"code", "machine", "numerics", "words"},
        "decode": {"code", "isa", "machine", "numerics", "program", "words"},
        "engine_run": {"machine"},
        "compiled": {
            *("code", "decode", "engine_run", "faults", "heap", "isa", "machine", "memory"),
            *("numerics", "program"),
        },
        "tiers": {"code", "compiled", "engine_run", "heap", "machine", "memory"},
        "engines": {"code", "compiled", "decode", "engine_run", "machine", "numerics", "tiers"},
        "execution": {"engines", "faults", "machine", "memory", "program"},
        "detectors": {
            "code",
            "decode",
            "engines",
            "execution",
            "faults",
            "heap",
            "machine",
            "memory",
            "numerics",
            "program",
        },
        "debugging": {
            *(
                "code",
                "detectors",
                "engines",
                "execution",
                "faults",
                "machine",
                "memory",
                "numerics",
                "program",
            ),
        },
        "host": {
            *("decode", "engines", "execution", "faults", "heap", "machine", "memory", "numerics"),
            "program",
        },
        "api": {"host", "memory"},
        "driver": {
            *("api", "debugging", "detectors", "engines", "execution", "host", "isa", "machine"),
            "numerics",
            "program",
        },
        "runtime_api": {"api", "driver", "host"},
        "runtime": {"driver", "runtime_api"},
        "server": {"api", "driver", "host", "memory", "program", "runtime", "runtime_api"},
        "nvrtc": set(),
        "substitution": {"driver", "nvrtc", "runtime"},
        "script": set(),
        "__main__": {"host", "script", "substitution"},
    },
    "emulator/compiled": {
        "lanes": set(),
        "queue": set(),
        "jit": {"lanes"},
        "state": {"lanes"},
        "native": {"lanes", "state"},
        "access": {"lanes", "native", "state"},
        "background": {"jit"},
        "warps": {"lanes", "native", "state"},
        "products": {"access", "lanes", "native", "state"},
        "sync_checks": {"access", "lanes", "native", "state", "warps"},
        "actions": {"access", "lanes", "products", "state", "warps"},
        "control": {"access", "actions", "lanes", "native", "products", "state", "sync_checks"},
        "observation": {"access", "actions", "control", "lanes", "state"},
        "visible_order": {"access", "control", "lanes"},
        "kernels": {
            "access",
            "control",
            "jit",
            "lanes",
            "native",
            "observation",
            "visible_order",
        },
        "fixed_values": {"kernels", "lanes"},
        "access_cache": {"kernels", "observation", "state"},
        "frame_memory": {"kernels", "state"},
        "waiting_lanes": {"frame_memory", "kernels", "lanes", "state"},
        "meetings": {"control", "lanes"},
        "scheduled_blocks": {"state"},
        "runtime": {
            "access",
            "access_cache",
            "fixed_values",
            "frame_memory",
            "kernels",
            "lanes",
            "meetings",
            "observation",
            "products",
            "queue",
            "scheduled_blocks",
            "state",
            "waiting_lanes",
        },
        "cores": {"kernels", "queue", "runtime"},
        "engine": {"background", "cores", "jit", "kernels", "lanes", "observation"},
    },
    "session": {
        "driver": set(),
        "recording": set(),
        "workers": {"driver"},
        "image": {"driver", "recording"},
        "compile": {"image", "workers"},
        "load": {"compile", "driver", "image", "workers"},
        "link": {"compile", "driver", "image", "load", "workers"},
        "launch": {"compile", "driver", "image", "link", "load", "recording", "workers"},
        "record": {"driver", "launch", "recording", "workers"},
        "spec": {"driver", "launch", "workers"},
        "fleet": {"driver", "spec", "workers"},
        "exec": {"compile", "driver", "launch", "workers"},
        "judge": {"compile", "driver", "exec", "launch", "record", "workers"},
        "managed": {"driver", "image", "launch", "load", "workers"},
        "contexts": {"driver", "image", "load", "workers"},
        "devices": {"compile", "driver", "link", "workers"},
        "serve": {"workers"},
    },
}

# The one place that names the emulator; everything else speaks to whatever driver it was handed.
EMULATOR_IS_NAMED_IN = "session/driver/drivers.py"

# The package that starts processes, the module that compiles in one, and that whose copies serve
# processes; and the names that do.
PROCESSES_START_IN = (
    "session/workers/",
    "emulator/compiled/background.py",
    "emulator/server/__main__.py",
)
STARTS_PROCESSES = {
    *("subprocess", "multiprocessing", "concurrent.futures.process", "pty", "pexpect"),
    *(f"os.{name}" for name in ("fork", "forkpty", "popen", "system", "posix_spawn")),
    *(f"os.{kind}{suffix}" for kind in ("exec", "spawn") for suffix in _SUFFIXES),
}

# Packages that only some parts may use.
ONLY_IN = {
    "click": {"cli", "commands", "report"},
    "rich": {"report"},
    "cuda": {"session", "emulator", "base"},
    "elftools": {"images"},
    "pytest": {"pytest_plugin"},
}


def _part(path: Path, root: Path = PACKAGE) -> str:
    """The row of ``MAY_IMPORT`` that a file belongs to."""
    return path.relative_to(root).with_suffix("").parts[0]


def _covers(allowed: str, name: str) -> bool:
    return name == allowed or name.startswith(f"{allowed}.")


def violations(path: Path, root: Path = PACKAGE) -> list[str]:
    """Everything in a module that breaks a rule, as ``file:line: what``."""
    part, found = _part(path, root), []
    part = "" if part == "__init__" else part
    allowed = MAY_IMPORT[part] | LEAVES | {part}
    for imported in imports(path, root):
        name, where = imported.module, f"{path.relative_to(root)}:{imported.line}"
        top, _, rest = name.partition(".")
        if top == root.name:
            if _covers("emulator", rest) and part != "emulator":
                if path.relative_to(root).as_posix() != EMULATOR_IS_NAMED_IN:
                    found.append(f"{where}: names {name}")
            elif rest not in LEAVES and not any(_covers(a, rest) for a in allowed if a):
                found.append(f"{where}: imports {name}")
        elif part not in ONLY_IN.get(top, {part}):
            found.append(f"{where}: imports {name}")
    return found + _violations_inside(path, root)


def _violations_inside(path: Path, root: Path) -> list[str]:
    """Everything in a module that breaks the rules inside its package."""
    parts, found = path.relative_to(root).with_suffix("").parts, []
    for depth in range(1, len(parts)):
        rules, part = INSIDE.get("/".join(parts[:depth])), parts[depth]
        if rules is None or part == "__init__":
            continue
        prefix = ".".join((root.name, *parts[:depth]))
        found += [
            f"{path.relative_to(root)}:{imported.line}: imports {imported.module}"
            for imported in imports(path, root)
            if _covers(prefix, imported.module)
            and imported.module.removeprefix(f"{prefix}.").partition(".")[0]
            not in rules[part] | {part}
        ]
    return found


def process_starts(path: Path, root: Path = PACKAGE) -> list[str]:
    """Everything in a module outside `PROCESSES_START_IN` that starts a process."""
    if path.relative_to(root).as_posix().startswith(PROCESSES_START_IN):
        return []
    tree = syntax_tree(path)
    used = {imported.module for imported in imports(path, root)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(f"{node.value.id}.{node.attr}")
        if isinstance(node, ast.ImportFrom):
            used |= {f"{node.module}.{alias.name}" for alias in node.names}
    return [f"{path.relative_to(root)}: {name}" for name in sorted(used & STARTS_PROCESSES)]


def test_processes_start_in_one_package() -> None:
    found = {path: process_starts(path) for path in modules()}
    assert {path: starts for path, starts in found.items() if starts} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "def f():\n    from subprocess import run",
        "import os\nos.fork()",
        "from os import posix_spawn",
        "import multiprocessing.pool as p, multiprocessing",
        "import os\nstart = os.execvp",
    ],
)
def test_a_process_start_is_found(tmp_path: Path, text: str) -> None:
    root = tmp_path / "cudarun"
    _write(root / "session/launch/a.py", text)
    _write(root / "session/workers/a.py", text)
    assert process_starts(root / "session/launch/a.py", root)
    assert not process_starts(root / "session/workers/a.py", root)


def test_imports_go_one_way() -> None:
    found = {path: violations(path) for path in modules()}
    assert {path: imported for path, imported in found.items() if imported} == {}


def test_every_part_has_its_rule() -> None:
    assert {_part(path) for path in modules()} - {"__init__"} <= set(MAY_IMPORT)

    for package, rules in INSIDE.items():
        root = PACKAGE / package
        assert {_part(path, root) for path in modules(root)} - {"__init__"} == set(rules)


@pytest.mark.parametrize("package", INSIDE)
def test_rules_inside_a_package_go_downward(package: str) -> None:
    below: set[str] = set()
    for part, allowed in INSIDE[package].items():
        assert allowed <= below, part
        below.add(part)


# --- the rules themselves -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("ptx/a.py", "import click"),
        ("ptx/a.py", "from cudarun.session import calls"),
        ("arguments/a.py", "def f():\n    import rich.table"),
        ("images/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import click"),
        ("session/launch/a.py", "from cudarun.report import tables"),
        ("session/launch/a.py", "from ... import commands"),
        ("session/launch/a.py", "import cudarun.emulator.driver"),
        ("commands/a.py", "TABLE = {'x': 'cudarun.emulator.driver'}"),
        ("commands/a.py", "import importlib\nimportlib.import_module('rich.console')"),
        ("emulator/machine/a.py", "from ...session import calls"),
        ("base/errors.py", "from cudarun import report"),
        ("emulator/machine/a.py", "from cudarun.emulator import isa"),
        ("emulator/machine/a.py", "def f():\n    from cudarun.emulator.isa.form import form"),
        ("emulator/isa/a.py", "from ..driver import cuInit"),
        ("emulator/memory.py", "import cudarun.emulator"),
    ],
)
def test_a_violation_is_found(tmp_path: Path, file: str, text: str) -> None:
    root = tmp_path / "cudarun"
    for name in ["ptx/__init__", "session/driver/calls", "report/tables", "commands/__init__"]:
        _write(root / f"{name}.py", "")
    for name in ["report/__init__", "emulator/driver", "session/__init__", "emulator/isa/form"]:
        _write(root / f"{name}.py", "")
    _write(root / file, text)
    assert violations(root / file, root)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("session/launch/a.py", "from cudarun.model.launch import Mismatch"),
        ("session/launch/a.py", "from cudarun.model import launch"),
        (
            "session/driver/drivers.py",
            "import importlib\nimportlib.import_module('cudarun.emulator')",
        ),
        ("emulator/isa/a.py", "from cudarun.base import errors\nfrom . import b\nimport numpy"),
        ("emulator/isa/a.py", "from cudarun.emulator.machine import batch"),
        ("report/a.py", "import rich"),
        ("ptx/a.py", "MESSAGE = 'cudarun.nothing'"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, file: str, text: str) -> None:
    root = tmp_path / "cudarun"
    for name in ["base/errors", "report/__init__", "report/types"]:
        _write(root / f"{name}.py", "")
    for name in ["emulator/__init__", "emulator/isa/b", "emulator/machine/batch"]:
        _write(root / f"{name}.py", "")
    _write(root / file, text)
    assert not violations(root / file, root)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
