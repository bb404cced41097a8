"""Functions of ``--expect``: whether a Python file can have them, without running it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import RequestError

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

_LARGEST = 1 << 20  # bytes of a file that is parsed
_DYNAMIC = {"__dict__", "__getattr__", "eval", "exec", "globals", "locals", "modules", "setattr",
            "vars"}  # fmt: skip
"""Names whose use in a file can define others."""


def check_function(path: str, function: str) -> None:
    """Refuse a function that a file certainly lacks; in doubt, the call finds out.

    Args:
        function: Its name, which may have dots: the first part is a name of the module.
    """
    import ast  # few launches need it
    import warnings

    name = function.partition(".")[0]
    if os.path.getsize(path) > _LARGEST or name.startswith("__"):
        return
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file, whose author sees them at the call
            module = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return  # another Python may read it
    names = set(_names(module))
    if name in names or names & _DYNAMIC or "*" in names:
        return
    functions = [each.name for each in module.body if isinstance(each, ast.FunctionDef)]
    raise RequestError(
        f"{os.path.basename(path)} does not define '{name}'",
        hint=did_you_mean(name, functions),
        option="--expect",
    )


def _names(module: ast.Module) -> Iterator[str]:
    """Yield every name that anything in a module defines or uses, or imports; ``*`` for all."""
    import ast

    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).partition(".")[0]
            case ast.Global(names=names):
                yield from names
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
