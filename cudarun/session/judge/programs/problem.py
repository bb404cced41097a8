"""The trusted program of a judge: it has the problem, makes inputs, and compares outputs.

A problem has ``Model``, ``get_inputs`` and ``get_init_inputs`` (KernelBench), or ``generate_input``
with ``ref_kernel`` or ``check_implementation`` and a list of cases (GPU MODE).
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exchange import (
    Array,
    SharedMemory,
    Tree,
    copied,
    described,
    device_attribute,
    is_array,
    is_tensor,
    leaves,
    mapped,
    size_of,
    task_stream,
    write_all,
)

del sys.path[0]

_POISON = 0xFF  # NaN in every format of floats
_SHOWN = 3
_TOLERANCES = {
    "float64": 1e-7,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 2e-2,
    "complex128": 1e-7,
    "complex64": 1e-4,
}
_OPERATIONS = 1 << 14  # of a multiprocessor in a clock, at most: products of matrices of 8 bits
_L2_BYTES = 256 << 20  # more than the L2 cache of any GPU


def main() -> None:
    """Answer tasks until the other end is closed."""
    problem: Problem | None = None
    with task_stream() as stream:
        for line in stream:
            task = json.loads(line)
            try:
                if problem is None:
                    problem = Problem(**task)
                    answer = problem.facts()
                else:
                    answer = getattr(problem, task.pop("do"))(**task)
                line = json.dumps(answer)
            except Exception as error:
                frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[1:])
                message = f"{type(error).__name__}: {error}"
                line = json.dumps({"error": message, "frames": "".join(frames)})
            stream.write(line + "\n")
            stream.flush()


class Problem:
    """A problem.

    Args:
        path: Its file, or its folder with ``reference.py``.
        device: Whether tensors are those of a GPU.
        rtol: The relative tolerance; ``None`` for that of the type.
        atol: The absolute tolerance; ``None`` for that of the type.
    """

    def __init__(self, path: str, *, device: bool, rtol: float | None, atol: float | None) -> None:
        self._paths = [*sys.path]
        self._folder = path if os.path.isdir(path) else os.path.dirname(path)
        self._tolerance: tuple[float | None, ...] = rtol, atol
        sys.path[:0] = [self._folder, os.path.dirname(self._folder)]
        file = os.path.join(path, "reference.py") if os.path.isdir(path) else path
        spec = importlib.util.spec_from_file_location("reference", file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is not a Python file")
        self._module: Any = sys.modules.setdefault(
            "reference", importlib.util.module_from_spec(spec)
        )
        if not device:
            _use_host_for_cuda(file)
        spec.loader.exec_module(self._module)
        self._device = device and "torch" in sys.modules  # numpy's arrays are on the host
        self._is_model = hasattr(self._module, "Model")
        if not self._is_model and not hasattr(self._module, "generate_input"):
            raise ImportError(f"{file} has neither Model nor generate_input")
        self._cases = [{}] if self._is_model else [*_cases(self._folder, self._module)]
        self._model: Any = None
        self._inputs: Tree = None
        self._shared: list[SharedMemory] = []

    def facts(self) -> dict[str, Any]:
        """Return the cases, and the folders that Python imports from."""
        names = [
            ", ".join(f"{k}={v}" for k, v in each.items()) or "get_inputs()" for each in self._cases
        ]
        own = (getattr(self._module, name, None) for name in ("rtol", "atol"))
        given = zip(self._tolerance, own, strict=True)
        self._tolerance = tuple(b if a is None else a for a, b in given)
        speeds = None
        if self._device:  # bytes and operations per second that the GPU cannot exceed
            clock, processors, memory_clock, bits = map(device_attribute, (13, 16, 36, 37))
            speeds = 2e3 * memory_clock * bits / 8, 1e3 * clock * processors * _OPERATIONS
        return {"cases": names, "paths": self._paths, "speeds": speeds}

    def case(self, index: int, seed: int, paths: list[str]) -> dict[str, Any]:
        """Describe the inputs and outputs of a case, and make the shared memory for them."""
        self._case = self._cases[index]
        initial: list[Tree] = []
        if self._is_model:
            _seed(seed)
            initial = getattr(self._module, "get_init_inputs", list)()
            _seed(seed)
            self._model = self._moved(self._module.Model(*initial))
        inputs = self._generated(seed)
        before = mapped(inputs, copied)
        outputs = self._expected(inputs)
        pairs = zip(leaves(before), leaves(inputs), strict=True)
        self._kept = [_equal(old, new) for old, new in pairs]  # not outputs among the inputs
        trees, ends = zip(*map(described, (inputs, outputs)), strict=True)
        self._trees, handles = trees, []
        for path, end in zip(paths, ends, strict=True):
            os.truncate(path, max(end, 1))
        if self._device:
            self._shared, handles = map(list, zip(*map(SharedMemory.on_device, ends), strict=True))
        else:
            self._shared = [SharedMemory(path) for path in paths]
        sizes = [sum(map(size_of, leaves(tree))) for tree in (inputs, outputs)]
        has_tensors = any(map(is_tensor, leaves(inputs)))
        return {
            "trees": trees, "sizes": sizes, "ends": [max(end, 1) for end in ends],
            "handles": [each.hex() for each in handles], "initial": described(initial)[0],
            "least": [self._count("least_bytes", inputs), self._count("least_operations", inputs)],
            "has_tensors": has_tensors,
            "lacks_cuda": has_tensors and sys.modules["torch"].version.cuda is None,
        }  # fmt: skip

    def _count(self, name: str, inputs: Tree) -> int | None:
        """Return a number of the problem for the floor of times, which can depend on the inputs."""
        found = getattr(self._module, name, None)
        return found(inputs) if callable(found) else found

    def inputs(self, seed: int) -> dict[str, Any]:
        """Make new inputs in the shared memory, and clear that of the outputs."""
        self._inputs = self._generated(seed)
        if described(self._inputs)[0] != self._trees[0]:
            raise ValueError("the shapes or plain values of the inputs depend on the seed")
        shared = self._shared[0].views(self._trees[0])
        write_all(shared, self._inputs)
        self._shared[1].fill(_POISON)
        if self._device:
            import torch

            torch.empty(_L2_BYTES, dtype=torch.uint8, device="cuda").zero_()
            torch.cuda.synchronize()
        return {}

    def renew(self, seed: int) -> dict[str, Any]:
        """Make new inputs, and return whether the last outputs are wrong for them."""
        last = mapped(self._shared[1].views(self._trees[1]), copied)
        self.inputs(seed)
        write_all(self._shared[1].views(self._trees[1]), last)
        are_wrong = bool(self.check())
        self.inputs(seed)
        return {"are_wrong": are_wrong}

    def time(self) -> dict[str, Any]:
        """Run the reference on a copy of the inputs, which the parent measures."""
        self._reference(mapped(self._inputs, copied))
        if self._device:
            import torch

            torch.cuda.synchronize()
        return {}

    def check(self) -> dict[str, Any]:
        """Compare the shared memory with the inputs, and with the outputs of the reference."""
        given = zip(self._shared, self._trees, strict=True)
        shared, outputs = (memory.views(tree) for memory, tree in given)
        found = zip(leaves(self._inputs), leaves(shared), self._kept, strict=True)
        for number, (own, view, is_kept) in enumerate(found):
            if is_kept and not _equal(own, view):
                return {"rule": "inputs", "message": f"input {number} was changed"}
        outputs = mapped(outputs, copied)
        check = getattr(self._module, "check_implementation", None)
        if check is not None and not self._is_model:
            result = check(mapped(self._inputs, copied), outputs)
            passed, message = result if isinstance(result, tuple) else (not result, result)
            return {} if passed else {"rule": "mismatch", "message": str(message)[:500]}
        expected = self._expected(mapped(self._inputs, copied))
        for number, pair in enumerate(zip(leaves(outputs), leaves(expected), strict=True)):
            message = _mismatch(_array(pair[0]), _array(pair[1]), self._limits(pair[1]))
            if message is not None:
                return {"rule": "mismatch", "message": f"output {number}: {message}"}
        return {}

    def _limits(self, expected: Array) -> tuple[float, float]:
        rtol, atol = self._tolerance
        usual = _TOLERANCES.get(str(expected.dtype).replace("torch.", ""), 0.0)
        return usual if rtol is None else rtol, usual if atol is None else atol

    def _generated(self, seed: int) -> Tree:
        _seed(seed)
        if self._is_model:
            return self._moved(list(self._module.get_inputs()))
        given = {**self._case, "seed": seed} if "seed" in self._case else self._case
        return self._module.generate_input(**given)

    def _expected(self, inputs: Tree) -> Tree:
        """Return the outputs of the reference; `TypeError` if they are no tree of arrays."""
        return mapped(self._reference(inputs), _as_array, plain=True)

    def _reference(self, inputs: Tree) -> Tree:
        if not self._is_model:
            return self._module.ref_kernel(inputs)
        if not is_tensor(next(leaves(inputs), None)):
            return getattr(self._model, "forward", self._model)(*inputs)
        import torch

        with torch.no_grad():
            return self._model(*inputs)

    def _moved(self, value: Any) -> Any:
        """Return a model or inputs on the GPU, if there is one."""
        if not self._device:
            return value
        if isinstance(value, list):
            return mapped(value, lambda each: each.cuda())
        return value.cuda()


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    if "torch" in sys.modules:
        import torch

        torch.manual_seed(seed)


def _use_host_for_cuda(file: str) -> None:
    """Make PyTorch create its CUDA tensors on the host, where there is no GPU."""
    with open(file) as text:
        if not re.search(r"^\s*(import|from) torch\b", text.read(), re.M):
            return
    import torch
    from torch.overrides import TorchFunctionMode

    class OnHost(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0]
            if "cuda" in str(kwargs.get("device", "")):
                kwargs["device"] = "cpu"
            args = [each if str(each) not in ("cuda", "cuda:0") else "cpu" for each in args]
            return function(*args, **kwargs)

    generator = torch.Generator
    torch.Generator = lambda device=None: generator()
    torch.cuda.synchronize = lambda device=None: None
    OnHost().__enter__()


def _cases(folder: str, module: Any) -> Iterator[dict[str, Any]]:
    """Yield the cases of a problem: of ``cases`` in its module, or of ``task.yml`` beside it."""
    own = getattr(module, "cases", None)
    if own is not None:
        yield from own
        return
    with open(os.path.join(folder, "task.yml")) as file:
        text = file.read()
    try:
        import yaml

        yield from yaml.safe_load(text)["tests"]
    except ImportError:  # lists of one line for each case need no parser
        tests = re.search(r"^tests:\n((?:[ \t]*(?:-.*|#.*)?\n)*)", text + "\n", re.M)
        for line in re.findall(r"-\s*\{(.*)\}", tests[1] if tests else ""):
            pairs = re.findall(r'"?(\w+)"?\s*:\s*("[^"]*"|[^,]+)', line)
            yield {name: _value(word.strip()) for name, word in pairs}


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def _as_array(value: object) -> Array:
    """Return an output, which is an array or a scalar of numpy, as an array."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    if not is_array(value):
        raise TypeError(f"expected an array from the reference, got a {type(value).__name__}")
    return value


def _array(value: Array) -> Array:
    """Return a tensor as an array that numpy can compute with."""
    if not is_tensor(value):
        return value
    import torch

    value = value.detach().cpu()
    is_small = value.is_floating_point() and value.element_size() < 4
    return value.to(torch.float32).numpy() if is_small else value.numpy()


def _equal(one: Array, other: Array) -> bool:
    one, other = map(_array, (one, other))
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def _mismatch(got: Array, expected: Array, limits: tuple[float, float]) -> str | None:
    """Return the first elements that are not close; ``None`` if all are."""
    if any(limits):
        close = np.isclose(got, expected, *limits, equal_nan=True)
    else:  # exact for integers of 64 bits, too, which np.isclose makes floats
        close = (got == expected) | ((got != got) & (expected != expected))
    if close.all():
        return None
    places = np.argwhere(~close)
    shown = "; ".join(
        f"{place.tolist()}: got {got[tuple(place)]}, expected {expected[tuple(place)]}"
        for place in places[:_SHOWN]
    )
    return f"{len(places)} of {got.size} elements mismatched; {shown}"


if __name__ == "__main__":
    main()
