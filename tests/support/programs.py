"""The programs of ``tests/programs``: run by chapter, with every buffer as it is left.

A chapter is a spec file beside its ``.cu`` and ``.ptx``. Here each case saves all its buffers, so
that they can be compared with those of another device, or with what was recorded on one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.processes import PYTHON_PATH, ROOT

FOLDER = ROOT / "tests" / "programs"
RECORDED = FOLDER / "recorded"
CHAPTERS = tuple(sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != "inexact"))
TIME_LIMIT = 600.0  # seconds for a chapter

BUFFER = re.compile(r"(\w+)=(?:@|[^:]*\[)")
_DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8"}


@dataclass(slots=True)
class Outcome:
    """What became of a case.

    Attributes:
        name: The case's.
        verdict: ``passed``, ``failed`` or ``skipped``.
        reason: Why, where there is something to say.
        printed: What the kernel printed.
        buffers: The bytes of each buffer after the run.
        types: The type of its elements, in the words of `cudarun launch`.
        engines: What the engine of `cpu` says of each kernel.
    """

    name: str
    verdict: str
    reason: str
    printed: str
    buffers: dict[str, bytes] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    engines: list[str] = field(default_factory=list, compare=False)


@cache
def inexact() -> dict[str, dict[str, dict[str, Any]]]:
    """``inexact.toml``."""
    return tomllib.loads((FOLDER / "inexact.toml").read_text("utf-8"))


def cases(chapter: str) -> list[dict[str, Any]]:
    """The tables of a chapter's spec."""
    found: list[dict[str, Any]] = tomllib.loads((FOLDER / f"{chapter}.toml").read_text())["launch"]
    return found


def run(chapter: str, device: str, folder: Path, **more: str) -> list[Outcome]:
    """Run a chapter on a device.

    Args:
        chapter: One of `CHAPTERS`.
        device: As for ``cudarun -d``.
        folder: An empty one, to work in.
        more: Further keys for every case, as ``detect="race"``.

    Raises:
        RuntimeError: The spec was refused, or did not end.
    """
    for path in FOLDER.iterdir():
        if path.suffix == ".ptx" or path.is_dir():
            (folder / path.name).symlink_to(path)
    tables, saved = [], {}
    for number, case in enumerate(cases(chapter)):
        names = [match[1] for text in case["args"] if (match := BUFFER.match(text))]
        saved[case["name"]] = {name: folder / f"{number}-{name}.bin" for name in names}
        saves = [f"{name}={path.name}" for name, path in saved[case["name"]].items()]
        tables.append("\n".join(["[[launch]]", *_lines({**case, **more, "save": saves})]))
    spec = folder / "spec.toml"
    spec.write_text("\n\n".join(tables) + "\n")
    return [
        _outcome(told, saved[told["name"]]) for told in _run_spec(chapter, device, spec)["cases"]
    ]


def _lines(case: Mapping[str, Any]) -> Iterator[str]:
    # TOML's texts, numbers, lists and truth values are written as JSON's.
    return (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in case.items())


def _run_spec(chapter: str, device: str, spec: Path) -> dict[str, Any]:
    words = ["launch", "--spec", str(spec), "-d", device, "--timeout", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    run = _emulated if device.startswith("cpu") else _started
    try:
        out, err = run(words, environment)
    except (subprocess.TimeoutExpired, TimeoutError) as expired:
        raise RuntimeError(f"{chapter}: no end after {TIME_LIMIT:.0f} s") from expired
    try:
        document: dict[str, Any] = json.loads(out)
    except json.JSONDecodeError as error:
        raise RuntimeError(f"{chapter}: {out}{err}") from error
    if "cases" not in document:
        raise RuntimeError(f"{chapter}: {document}")
    return document


def _emulated(words: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Run ``cudarun`` without a start of Python: what it writes to stdout and stderr."""
    from tests.support.forked_processes import run_command

    _, out, err = run_command(words, Path.cwd(), environment, timeout=TIME_LIMIT)
    return out.decode(), err.decode()


def _started(words: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Run ``cudarun`` in a process of its own: a GPU's driver does not survive a fork."""
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    return done.stdout, done.stderr


def _outcome(told: Mapping[str, Any], saved: Mapping[str, Path]) -> Outcome:
    result = told["result"] or {"buffers": []}
    return Outcome(
        name=told["name"],
        verdict=told["verdict"],
        reason=told["reason"] or "",
        printed=told["output"] or "",
        buffers={name: path.read_bytes() for name, path in saved.items() if path.exists()},
        types={each["name"]: each["type"] for each in result["buffers"]},
        engines=[each["reason"] or "" for each in result.get("engines", ())],
    )


# --- comparison ----------------------------------------------------------------------------------


def difference(case: str, name: str, kind: str, got: bytes, wanted: bytes) -> str | None:
    """How a buffer is not what it should be; ``None`` when it is.

    Args:
        case: The case.
        name: The buffer.
        kind: The type of its elements.
        got: Its bytes.
        wanted: What they should be, but for what ``inexact.toml`` allows.
    """
    allowed = inexact().get(case, {}).get(name, {})
    if got == wanted or "order" in allowed:
        return None
    if len(got) != len(wanted):
        return f"{name}: {len(got)} bytes, not {len(wanted)}"
    dtype = _dtype(kind)
    if dtype is None or not allowed:
        size = 1 if dtype is None else np.dtype(dtype).itemsize
        bits = [np.frombuffer(each, f"u{size}") for each in (got, wanted)]
        wrong = bits[0] != bits[1]
    if dtype is None:
        place = int(np.flatnonzero(wrong)[0])
        return f"{name}: {np.count_nonzero(wrong)} of {len(got)} bytes differ, first at {place}"
    a, b = (np.frombuffer(each, dtype).astype(np.float64) for each in (got, wanted))
    with np.errstate(invalid="ignore"):
        far = np.abs(a - b)
        if allowed:
            limit = allowed.get("atol", 0.0) + allowed.get("rtol", 0.0) * np.abs(b)
            wrong = ~((far <= limit) | (a == b) | (np.isnan(a) & np.isnan(b)))
            if not wrong.any():
                return None
        relative = np.max(far[wrong] / np.maximum(np.abs(b[wrong]), np.finfo(np.float64).tiny))
    place = int(np.flatnonzero(wrong)[0])
    return (
        f"{name}: {np.count_nonzero(wrong)} of {len(a)} differ, by up to {far[wrong].max():.3g} "
        f"(relative {relative:.3g}); [{place}] is {a[place]!r}, not {b[place]!r}"
    )


def _dtype(kind: str) -> Any:
    """The numpy type of floats, in vectors too; ``None`` for anything else."""
    vector = re.fullmatch(r"(half|bfloat16|float|double)\d(_\w+)?", kind)
    if vector is not None:
        names = {"half": "f16", "bfloat16": "bf16", "float": "f32", "double": "f64"}
        kind = names[vector[1]]
    if kind == "bf16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return _DTYPES.get(kind.partition("*")[0])


# --- what was recorded ---------------------------------------------------------------------------


def record(chapter: str, outcomes: list[Outcome]) -> None:
    """Keep what a GPU computed: digests where all bytes count, else the arrays themselves."""
    RECORDED.mkdir(exist_ok=True)
    told: dict[str, Any] = {}
    for outcome in outcomes:
        kept: dict[str, str] = {}
        allowed = inexact().get(outcome.name, {})
        for name, data in outcome.buffers.items():
            if "order" in allowed.get(name, {}):
                continue
            if name in allowed:
                file = f"{outcome.name}-{name}.bin".replace(" ", "-").replace(":", "")
                (RECORDED / file).write_bytes(data)
                kept[name] = file
            else:
                kept[name] = f"sha256:{hashlib.sha256(data).hexdigest()}"
        told[outcome.name] = {"buffers": kept, "printed": outcome.printed}
    (RECORDED / f"{chapter}.json").write_text(json.dumps(told, indent=1) + "\n")


def recorded_differences(chapter: str, outcomes: list[Outcome]) -> list[str]:
    """Where outcomes are not what a GPU computed, as recorded.

    Raises:
        FileNotFoundError: Nothing is recorded of this chapter.
        KeyError: Nothing is recorded of a case.
    """
    told = json.loads((RECORDED / f"{chapter}.json").read_text())
    found = []
    for outcome in outcomes:
        kept = told[outcome.name]
        if outcome.printed != kept.get("printed", outcome.printed):
            found.append(f"{outcome.name}: it printed {outcome.printed!r}")
        for name, wanted in kept["buffers"].items():
            data, kind = outcome.buffers[name], outcome.types[name]
            if wanted.startswith("sha256:"):
                if hashlib.sha256(data).hexdigest() != wanted.removeprefix("sha256:"):
                    found.append(f"{outcome.name}: {name} is not what a GPU made of it")
                continue
            differs = difference(outcome.name, name, kind, data, (RECORDED / wanted).read_bytes())
            if differs is not None:
                found.append(f"{outcome.name}: {differs}")
    return found
