"""Modules of the bindings that have no stub: anything."""

from typing import Any

def __getattr__(name: str) -> Any: ...
