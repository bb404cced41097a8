"""``--expect``: a buffer compared with an array in a file or with the result of a function.

Functions run in processes of their own: one for each file, as long as the worker.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments.array_files import load_npy
from cudarun.arguments.dtypes import Array, Values
from cudarun.arguments.expressions.evaluation import Unwritten, nothing_unwritten
from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError, ExpectationFailed, RequestError
from cudarun.model.checks import CheckResult, not_evaluated
from cudarun.session.driver.fill_pattern import without_common_pattern
from cudarun.session.launch.expected import function_call
from cudarun.session.launch.reference import compare_members
from cudarun.session.launch.request import FunctionRun
from cudarun.session.launch.step_request import BufferExpectation, LaunchStep
from cudarun.session.workers.line_program import LineProgram
from cudarun.session.workers.session import Session
from cudarun.session.workers.shared_file import SharedFile

_FOREVER = 1e9  # seconds
_MARGIN = 60.0  # seconds beyond the limit of a function in which its end is noticed
_MOST = 4  # the processes of a worker: each keeps what its file imports in memory

_running: dict[tuple[str, str], LineProgram] = {}
"""The processes of this worker by interpreter and file, that of the last call at the end."""


def expected_arrays(
    session: Session,
    request: LaunchStep,
    functions: FunctionRun,
    buffers: Sequence[BufferSpec],
    old: Values,
) -> Iterator[Array | CudarunError]:
    """Yield what each of ``request.expectations`` expects: an array of the buffer's shape.

    An array that there is not is an error instead.

    Args:
        session: The session, whose time limit starts anew after each function.
        old: Arrays and numpy scalars by name, before the launch.
    """
    specs = {spec.name: spec for spec in buffers}
    results: dict[tuple[str, str | None], Mapping[str, Array] | CudarunError] = {}
    for each in request.expectations:
        key = each.path, each.function
        try:
            if each.function is None:
                array = load_npy(Path(each.path))
            else:
                if key not in results:
                    alike = (e for e in request.expectations if (e.path, e.function) == key)
                    wanted = [other.name for other in alike]
                    try:
                        results[key] = _call(session, functions, each, wanted, specs, old)
                    except CudarunError as error:
                        results[key] = error  # of all buffers that the function returns
                result = results[key]
                if isinstance(result, CudarunError):
                    raise result
                array = result[each.name]
            yield _fitting(array, specs[each.name])
        except CudarunError as error:
            yield error


def compare_expected(
    request: LaunchStep,
    buffers: Sequence[BufferSpec],
    expected: Sequence[Array | CudarunError],
    values: Values,
    unwritten: Unwritten = nothing_unwritten,
) -> Iterator[CheckResult]:
    """Compare buffers with what is expected; yield a result for each, or for each member.

    Args:
        expected: The result of `expected_arrays`.
        values: The buffers by name, after the launch.
    """
    specs = {spec.name: spec for spec in buffers}
    for each, array in zip(request.expectations, expected, strict=True):
        if isinstance(array, CudarunError):
            yield not_evaluated(f"{each.name} == {each.source}")
            continue
        got, array = without_common_pattern(values[each.name], array)
        mask = unwritten(each.name)
        if mask is not None and got.dtype == array.dtype:  # accept what neither side has written
            mask = mask & (got != array)
        for check in compare_members(specs[each.name], got, array, request.tolerance, mask):
            yield replace(check, expression=f"{check.expression} == {each.source}")


def _fitting(array: Array, spec: BufferSpec) -> Array:
    """Return an expected array that has the buffer's shape."""
    dtype = spec.dtype()
    if array.dtype.kind == "V" and not array.dtype.names and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)  # numpy's encoding of bf16 and fp8
    if array.shape != spec.array_shape:
        raise RequestError(
            f"{spec.name}: the expected array has shape {array.shape}; the buffer has "
            f"{spec.array_shape}"
        )
    if bool(array.dtype.names) != bool(dtype.names):
        raise RequestError(f"{spec.name} is {spec}; the expected array has dtype {array.dtype}")
    return array


def _call(
    session: Session,
    functions: FunctionRun,
    expectation: BufferExpectation,
    wanted: list[str],
    specs: Mapping[str, BufferSpec],
    old: Values,
) -> Mapping[str, Array]:
    """Call a function on the values from before the launch; return its arrays by name."""
    name = f"{Path(expectation.path).name}:{expectation.function}"
    timeout = functions.timeout
    with SharedFile() as data, SharedFile() as outputs:
        with open(data.path, "wb") as file:
            inputs = [
                _written(file, each, np.asarray(value))
                for each, value in old.items()
                if each.isidentifier()  # not the members of structs
            ]
        task = {
            "file": expectation.path,
            "function": expectation.function,
            "values": inputs,
            "without_value": [each for each in specs if each not in old],
            "wanted": wanted,
            "data": data.path,
            "outputs": outputs.path,
        }
        session.progress.report(f"calling {name}")
        # The time of the function does not count for the kernel.
        session.progress.start_phase(_FOREVER if timeout is None else timeout + _MARGIN)
        try:
            found = call_function(functions.python or sys.executable, task, timeout)
        except ExpectationFailed as error:
            raise error.of(operation=name) from None
        finally:
            session.progress.start_phase()
        if "error" in found:
            log = "".join(found["frames"])
            raise ExpectationFailed(found["error"], log=log, operation=name)
        return dict(_read(outputs, found["arrays"]))


def _written(file: BufferedWriter, name: str, array: Array) -> dict[str, object]:
    """Write an array to a file; return its description."""
    offset = file.tell()
    file.write(np.ascontiguousarray(array).tobytes())
    dtype = function_call.described(array.dtype)
    return {"name": name, "dtype": dtype, "shape": array.shape, "offset": offset}


def _read(file: SharedFile, arrays: list[dict[str, object]]) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a file by name."""
    data, offset = file.read(), 0
    for each in arrays:
        dtype, shape = function_call.dtype_of(each["dtype"]), each["shape"]
        assert isinstance(shape, list)
        count = math.prod(shape)
        yield str(each["name"]), np.frombuffer(data, dtype, count, offset).reshape(shape)
        offset += count * dtype.itemsize


def call_function(python: str, task: Mapping[str, object], timeout: float | None) -> dict[str, Any]:
    """Call a function in the process of its file, which keeps the modules that it has imported.

    Args:
        task: The task of `function_call`, with the ``file`` and the ``function``.
        timeout: The time limit in seconds, imports included.

    Raises:
        ExpectationFailed: The call did not return in time, or the process ended.
        RequestError: The interpreter cannot be started.
    """
    key = python, str(task["file"])
    try:
        process = _running.pop(key, None) or LineProgram([python, str(function_call.__file__)])
    except OSError as error:
        raise RequestError(f"{python}: {error.strerror}", option="--python") from error
    with ExitStack() as after_failure:
        after_failure.callback(process.end)
        process.ends_with_worker()
        try:
            answer = process.call(task, timeout)
        except EOFError as error:
            what = f"{python} ended with status {error} and no result"
            raise ExpectationFailed(what) from None
        except TimeoutError:
            raise ExpectationFailed(
                f"the function timed out after {timeout:g} s (--expect-timeout {timeout:g})",
                hint="this is the time of the Python function, not of the kernel: raise "
                "--expect-timeout",
            ) from None
        after_failure.pop_all()
    _running[key] = process
    while len(_running) > _MOST:
        _running.pop(next(iter(_running))).end()
    return answer
