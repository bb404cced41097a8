"""Write ``cudarun/session/driver/protocol.pyi``: the driver calls of a session, with signatures.

The calls are those that the session's code names, their parameters and values those of the emulated
driver, which are those of ``cuda.bindings.driver`` (``tests/emulator/test_driver_signatures.py``).
It is a stub: for type checkers alone `Driver` inherits it, which makes its methods as it is asked.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Annotated, get_origin

from cudarun.emulator import driver  # noqa: F401 - enters all calls
from cudarun.emulator.api.calls import CALLS

ROOT = Path(__file__).resolve().parent.parent
SESSION = ROOT / "cudarun" / "session"
TARGET = SESSION / "driver" / "protocol.pyi"

_LINE = 100 + len("\n")
_DRIVERS = {"driver", "_driver", "_untraced"}  # what the session's code calls a `Driver`
_CALL = re.compile(r"cu[A-Z]")
_TYPE = re.compile(r"CU[a-z]|CUDA_|cuuint")
_HANDLE = re.compile(r"\b\w+Handle\b")  # of a kind of object
_OF_BINDINGS = re.compile(r"(?:cuda\.)?\b(CU\w+|cuuint\d+_t)\b")

_HEAD = '''\
"""The driver calls that a session makes, checked: without a result, which raises where it is none.

Written by `python -m tools.generate_driver_protocol` from the code of the session, which names the
calls, and from the emulated driver, which has their signatures.
"""
# ruff: noqa: N802, N803 - the names are CUDA's

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol, SupportsInt, TypeAlias

import numpy.typing as npt
from cuda.bindings import driver as cuda

Handle: TypeAlias = SupportsInt | None
HostPointer: TypeAlias = (
    SupportsInt
    | bytes
    | bytearray
    | memoryview
    | npt.NDArray[Any]
    | ctypes.Array[Any]
    | ctypes.Structure
    | ctypes.Union
    | None
)
KernelParameters: TypeAlias = HostPointer | tuple[tuple[Any, ...], tuple[Any, ...]]
Options: TypeAlias = Sequence[cuda.CUjit_option] | None
OptionValues: TypeAlias = Sequence[Any] | None
Numbers: TypeAlias = Sequence[SupportsInt] | None

class DriverCalls(Protocol):
    """The calls, and the types of the bindings that go with them."""

'''


def members() -> set[str]:
    """Every call and type of the driver API that the session's code names."""
    found = set()
    for path in SESSION.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(), path)):
            if isinstance(node, ast.Attribute):
                holder = getattr(node.value, "attr", getattr(node.value, "id", ""))
                if holder in _DRIVERS and (_CALL.match(node.attr) or _TYPE.match(node.attr)):
                    found.add(node.attr)
    return found


def document() -> str:
    """The whole module."""
    names = sorted(members())
    types = [
        f"    @property\n    def {name}(self) -> type[cuda.{name}]: ...\n"
        for name in names
        if _TYPE.match(name)
    ]
    calls = [_signature(name) for name in names if _CALL.match(name)]
    return _HEAD + "".join(types) + "".join(calls)


def _signature(name: str) -> str:
    """A call as a method; the bindings take its arguments by position."""
    signature = inspect.signature(inspect.unwrap(CALLS[name]))
    given = [_parameter(each) for each in signature.parameters.values()]
    given = [_HANDLE.sub("Handle", text.replace("'", "")) for text in given]
    given = [_OF_BINDINGS.sub(r"cuda.\1", text) for text in given]
    bare = [n for n, text in enumerate(given) if text.startswith("*")]
    given.insert(bare[0] if bare else len(given), "/")
    arguments = ["self", *(given if given != ["/"] else [])]
    result = _OF_BINDINGS.sub(r"cuda.\1", str(signature.return_annotation))
    shortest = f"    def {name}({', '.join(arguments)}) -> {result}: ...\n"
    if len(shortest) <= _LINE:
        return shortest
    inside = f"        {', '.join(arguments)}\n"
    if len(inside) > _LINE:
        inside = "".join(f"        {each},\n" for each in arguments)
    return f"    def {name}(\n{inside}    ) -> {result}: ...\n"


def _parameter(parameter: inspect.Parameter) -> str:
    """A parameter as its code declares it; calls of a table have types instead of their text."""
    type_ = parameter.annotation
    if get_origin(type_) is Annotated:  # of an object, which the call finds by its handle
        return str(parameter.replace(annotation="Handle"))
    if inspect.isclass(type_) and _TYPE.match(type_.__name__):
        return str(parameter.replace(annotation=type_.__name__))
    return str(parameter)


def main() -> int:
    """Write the module, and say so when that changed it."""
    text = document()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
