"""A program that calls Python functions of a file for ``--expect``, in a process of its own.

It reads tasks, a line of JSON each, from the socket that is its stdin, and answers with a line.
Arrays are passed in files. It runs under the user's Python, which may be older and needs numpy, but
not cudarun: this file imports nothing of it.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
import os
import socket
import sys
import traceback
from typing import Any, Callable  # noqa: UP035 - for older Pythons


def main() -> None:
    """Answer tasks until the other end is closed."""
    connection = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    own = os.getpid()
    with connection.makefile("rw", encoding="ascii") as stream:
        for line in stream:
            answer = _answer(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            if os.getpid() != own:  # a child of the function, which has no answer to give
                os._exit(0)
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def _answer(task: dict[str, object]) -> dict[str, Any]:
    try:
        return {"arrays": _call(task)}
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        shown = traceback.format_list([f for f in frames if f.filename != __file__])
        return {"error": f"{type(error).__name__}: {error}", "frames": shown}


def _call(task: dict[str, Any]) -> list[dict[str, Any]]:
    import numpy as np

    values = {}
    for each in task["values"]:
        dtype, shape = dtype_of(each["dtype"]), tuple(each["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        data = np.fromfile(task["data"], dtype, count, offset=each["offset"])
        values[each["name"]] = data.reshape(shape)[()]
    function = functools.reduce(getattr, task["function"].split("."), _load(task["file"]))
    result = function(**_arguments(function, values, task["without_value"]))
    if not isinstance(result, dict):
        if len(task["wanted"]) > 1:
            names = ", ".join(task["wanted"])
            raise TypeError(f"the function must return a dict of arrays for {names}")
        result = {task["wanted"][0]: result}
    found = []
    with open(task["outputs"], "wb") as file:
        for name in task["wanted"]:
            if name not in result:
                raise LookupError(f"the returned dict has no key '{name}'")
            array = np.ascontiguousarray(np.asarray(result[name]))
            array = array.astype(array.dtype.newbyteorder("="), copy=False)
            if array.dtype.hasobject:
                raise TypeError(f"{name}: the function returned Python objects")
            shape = np.shape(result[name])
            found.append({"name": name, "dtype": described(array.dtype), "shape": shape})
            array.tofile(file)
    return found


@functools.lru_cache(maxsize=None)  # noqa: UP033 - for older Pythons
def _load(path: str) -> Any:
    sys.path[0] = os.path.dirname(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arguments(
    function: Callable[..., Any], values: dict[str, Any], without_value: list[str]
) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return values
    chosen = {}
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            continue
        if each.name in values:
            chosen[each.name] = values[each.name]
        elif each.name in without_value:
            raise TypeError(f"'{each.name}' has no value before the launch")
        elif each.default is each.empty:
            known = ", ".join(values)
            raise TypeError(f"no argument is named '{each.name}'; the names are {known}")
    return chosen


def dtype_of(text: Any) -> Any:
    """Return the dtype that `described` describes; names of ml_dtypes need that package."""
    import numpy as np

    if isinstance(text, list):
        base, shape = text
        return np.dtype((dtype_of(base), tuple(shape)))
    if isinstance(text, dict):
        fields: Any = dict(text, formats=[dtype_of(each) for each in text["formats"]])
        return np.dtype(fields)
    try:
        return np.dtype(text)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, text))


def described(dtype: Any) -> Any:
    """Return a dtype as JSON."""
    if dtype.subdtype is not None:
        return [described(dtype.subdtype[0]), dtype.subdtype[1]]
    if dtype.names:
        return {
            "names": dtype.names,
            "formats": [described(dtype.fields[name][0]) for name in dtype.names],
            "offsets": [dtype.fields[name][1] for name in dtype.names],
            "itemsize": dtype.itemsize,
        }
    return dtype.name if dtype.kind == "V" else dtype.str


if __name__ == "__main__":
    main()
