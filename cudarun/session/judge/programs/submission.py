"""The untrusted program of a judge: it loads a submission, and runs it on shared memory.

Nothing here decides: outputs are compared, and time is measured, by other processes. What it
reports only explains a failure.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import random
import sys
import traceback
from contextlib import nullcontext
from typing import Any, Callable  # noqa: UP035 - for older Pythons

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exchange import NotShared, SharedMemory, Tree, is_tensor, mapped, task_stream, write, write_all

sys.path[0] = os.getcwd()

_FRAMES = 4
_WATCHED = (
    *("time", "builtins", "random", "gc", "sys", "os", "threading", "json", "exchange"),
    *("numpy", "numpy.testing", "torch", "torch.cuda", "torch.testing", "torch.nn.functional"),
    *("torch.Tensor", "torch.cuda.Event", "torch.cuda.Stream", "torch.nn.Module"),
)
"""Modules and classes whose functions a submission has no reason to replace."""


class Refused(Exception):
    """The submission breaks a rule."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def main() -> None:
    """Answer tasks until the other end is closed."""
    stream = task_stream()
    os.open("/proc/self", os.O_PATH)  # which keeps the permission to read there
    submission = Submission()
    for line in stream:
        task = json.loads(line)
        try:
            getattr(submission, task.pop("do"))(**task)
            answer = {}
        except NotShared as error:
            answer = {"rule": "not_shared", "message": str(error)}
        except Refused as error:
            answer = {"rule": error.rule, "message": str(error)}
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            own = [each for each in frames if each.filename.startswith(os.getcwd())][-_FRAMES:]
            shown = "".join(traceback.format_list(own))
            message = f"{shown}{type(error).__name__}: {error}"
            answer = {"rule": "error", "message": message[-2000:]}
        stream.write(json.dumps(answer) + "\n")
        stream.flush()


class Submission:
    """A submission: ``ModelNew`` or ``custom_kernel``."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, tuple[Any, Any]]] = {}
        self._synchronize: Callable[[], object] = bool
        self._function: Any = None

    def initialize(self) -> None:
        """Initialize the driver."""
        status = ctypes.CDLL("libcuda.so.1").cuInit(0)
        if status:
            raise Refused("error", f"cuInit returns {status}")

    def open(self, file: str, uses_torch: bool) -> None:
        """Load the file."""
        if uses_torch:
            import torch

            torch.cuda.init()
            self._synchronize = torch.cuda.synchronize
        self._known = {name: _functions(name) for name in _WATCHED}
        spec = importlib.util.spec_from_file_location("submission", file)
        assert spec is not None
        assert spec.loader is not None
        self._module = sys.modules["submission"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
        if not hasattr(self._module, "ModelNew") and not hasattr(self._module, "custom_kernel"):
            raise Refused("error", "the submission has neither ModelNew nor custom_kernel")
        self._refuse_replaced()

    def case(
        self,
        trees: list[Tree],
        ends: list[int],
        paths: list[str],
        handles: list[str],
        initial: Tree,
        seed: int,
    ) -> None:
        """Take the shared memory of a case, and make its model."""
        given = [bytes.fromhex(each) if each else None for each in handles or ("", "")]
        shared = [*map(SharedMemory, paths, given, ends)]
        self._inputs, self._outputs = map(SharedMemory.views, shared, trees)
        self._is_copied = not handles
        self._own = self._inputs  # the same addresses in every run
        if self._is_copied:
            self._own = mapped(self._inputs, lambda v: v.cuda() if is_tensor(v) else v.copy())
        self._function = getattr(self._module, "custom_kernel", None)
        if self._function is None:
            random.seed(seed)
            np.random.seed(seed % (1 << 32))
            if "torch" in sys.modules:
                sys.modules["torch"].manual_seed(seed)
            values = shared[0].views(initial)
            model = self._module.ModelNew(*values)
            model = model.cuda() if hasattr(model, "cuda") else model
            call = model if "torch" in sys.modules else getattr(model, "forward", model)
            self._function = lambda inputs: call(*inputs)

    def run(self) -> None:
        """Run on the inputs in the shared memory, and write the outputs there."""
        if self._is_copied:
            write_all(self._own, self._inputs)
        inputs = mapped(self._own, lambda each: each)  # a container of its own in every run
        torch = sys.modules.get("torch")
        with torch.no_grad() if torch else nullcontext():
            result = self._function(inputs)
        self._synchronize()
        self._write(self._outputs, result, "the output")
        if self._is_copied:
            write_all(self._inputs, self._own)
        self._synchronize()
        self._refuse_replaced()

    def _write(self, view: Tree, result: Tree, name: str) -> None:
        """Write a result to the shared memory.

        Raises:
            Refused: It is another tree, or an array that could compute its elements when read.
        """
        if isinstance(view, (list, tuple, dict)):
            if type(result) is not type(view) or len(result) != len(view):
                raise Refused("output", f"{name} is no {type(view).__name__} of {len(view)}")
            keys = view if isinstance(view, dict) else range(len(view))
            for key in keys:
                self._write(view[key], result[key], f"{name}[{key!r}]")
            return
        kind = sys.modules["torch"].Tensor if is_tensor(view) else np.ndarray
        if kind is np.ndarray and type(result) is view.dtype.type:  # such as a sum
            result = np.asarray(result)
        if type(result) is not kind:
            found = type(result)
            raise Refused("output", f"{name} is a {found.__module__}.{found.__qualname__}")
        if result.shape != view.shape or result.dtype != view.dtype:
            raise Refused(
                "output",
                f"{name} is {result.dtype} of shape {tuple(result.shape)}, expected {view.dtype} "
                f"of shape {tuple(view.shape)}",
            )
        write(view, result)

    def _refuse_replaced(self) -> None:
        """Refuse replaced functions: timers, comparisons and the like."""
        for module, known in self._known.items():
            now = _functions(module)
            for name, before in known.items():
                found = now.get(name, (None, None))
                is_same = all(a is b for a, b in zip(found, before, strict=True))
                if not is_same and not _is_of_torch(found[0]):
                    raise Refused("patched", f"the submission replaces {module}.{name}")


def _is_of_torch(function: object) -> bool:
    """Return whether PyTorch itself has replaced a function, as its compiler does."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    torch = sys.modules.get("torch")
    return torch is not None and file.startswith(os.path.dirname(str(torch.__file__)) + os.sep)


def _functions(name: str) -> dict[str, tuple[Any, Any]]:
    """Return the functions and classes of a module or class, if it is imported, and their code."""
    owner = sys.modules.get(name)
    if owner is None:
        module, _, attribute = name.rpartition(".")
        owner = getattr(sys.modules.get(module), attribute, None)
    found = {key: each for key, each in vars(owner).items() if callable(each)} if owner else {}
    return {key: (each, getattr(each, "__code__", None)) for key, each in found.items()}


if __name__ == "__main__":
    main()
