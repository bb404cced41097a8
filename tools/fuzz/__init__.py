"""Hostile input for every parser and for the command line: see `tools.fuzz.__main__`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.fuzz.fuzzer import Fuzzer

FUZZERS = {
    "images": "Images",
    "ptx": "PtxText",
    "arguments": "Arguments",
    "expressions": "Expressions",
    "specs": "Specs",
    "sources": "Sources",
    "triton": "Triton",
    "npy": "Npy",
    "nodes": "Nodes",
    "recordings": "Recordings",
    "environment": "Environment",
    "signals": "Signals",
    "ptxas": "Ptxas",
    "programs": "Programs",
    "engines": "FaultyPrograms",
    "spaces": "Spaces",
    "services": "Services",
}
"""The fuzzers: modules of this package, and the class in each."""


def load(name: str) -> type[Fuzzer[Any]]:
    """Return a fuzzer's class.

    Raises:
        ValueError: There is none of this name.
    """
    if name not in FUZZERS:
        raise ValueError(f"no fuzzer {name!r}: there are {', '.join(FUZZERS)}")
    found: type[Fuzzer[Any]] = getattr(importlib.import_module(f"tools.fuzz.{name}"), FUZZERS[name])
    return found
