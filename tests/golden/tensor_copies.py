"""Copies of tensor memory access as golden data: run, kept in a file.

The file has the results alone. The cases (``tensor_cases.py``) are made anew, and a digest in the
file shows whether they are what they were.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden import tensor_maps
from tests.golden.tensor_cases import Case, cases, contents
from tests.golden.tensor_kernels import DATA, forms, identifier, module

Array = npt.NDArray[Any]


def initial_region(case: Case) -> Array:
    """Return what the region in shared memory has before the instruction."""
    if "load" in case.form or "multi" in case.form:
        return np.full(case.region, 0xA5, np.uint8)
    return contents(case.data, case.region, 2)


@dataclass
class Found:
    """What became of a case.

    Attributes:
        done: Per block, whether the barrier object completed its phase.
        shared: The region of every block.
        memory: The global memory, of an instruction that writes it.
        words: Per block, the bits of the object before and after the copy.
    """

    done: Array
    shared: Array
    memory: Array
    words: Array = field(default_factory=lambda: np.zeros(0, np.uint64))


class Runner:
    """A context on device 0 of a driver with the functions of ``cuda.bindings.driver``."""

    def __init__(self, driver: Any, names: Sequence[str] | None = None) -> None:
        self.driver = driver
        self._ask("cuInit", 0)
        self.device = self._ask("cuDeviceGet", 0)
        self._ask("cuCtxSetCurrent", self._ask("cuDevicePrimaryCtxRetain", self.device))
        text = module(list(forms()) if names is None else names)
        self.module = self._ask("cuModuleLoadData", text.encode() + b"\0")
        self._functions: dict[str, Any] = {}

    def close(self) -> None:
        """Release the context."""
        self._ask("cuDevicePrimaryCtxRelease", self.device)

    def name(self) -> str:
        """Return the name of the device and the driver's version."""
        name = self._ask("cuDeviceGetName", 128, self.device).split(b"\0")[0].decode()
        return f"{name}, CUDA {self._ask('cuDriverGetVersion')}"

    def run(self, case: Case) -> Found:
        """Run a case."""
        memory = contents(case.data, case.memory, 1)
        region = initial_region(case)
        dump = np.zeros((case.blocks, case.region), np.uint8)
        flags = np.zeros((case.blocks, 4), np.uint64)
        sizes = (memory.nbytes, region.nbytes, dump.nbytes, flags.nbytes, 96)
        pointers = [self._ask("cuMemAlloc", size) for size in sizes]
        tensor, fill, out, flag, given = map(int, pointers)
        words = np.zeros(24, np.uint32)
        for place, value in enumerate((*case.coordinates, 0, 0, 0, 0, 0)[:5]):
            words[place] = value & 0xFFFFFFFF
        words[5 : 5 + len(case.offsets)] = case.offsets
        expects = case.expected
        words[8:12] = case.place + DATA, expects, case.region, case.mask
        words[12:16] = case.size, case.issuer, case.target, case.beyond
        words.view(np.uint64)[8:12] = fill, out, flag, tensor + case.at
        for pointer, data in zip(pointers, (memory, region, dump, flags, words), strict=True):
            self._ask("cuMemcpyHtoD", pointer, data, data.nbytes)
        descriptor = self.driver.CUtensorMap()
        if case.tensor is not None:
            moved = replace(case.tensor, address=case.tensor.address + tensor)
            result, descriptor = tensor_maps.encode(self.driver, moved)
            if int(result) != 0:
                raise ValueError(f"{case.name}: {result!r} of {case.tensor}")
        self._launch(case, descriptor, given)
        self._ask("cuCtxSynchronize")
        for pointer, data in zip(pointers, (memory, region, dump, flags), strict=False):
            if data is not region:
                self._ask("cuMemcpyDtoH", data, pointer, data.nbytes)
        for pointer in pointers:
            self._ask("cuMemFree", pointer)
        kept = memory if case.stores else memory[:0]
        return Found(flags[:, 0].astype(np.uint8), dump, kept, flags[:, 2:].copy())

    def _launch(self, case: Case, descriptor: Any, given: int) -> None:
        if case.form not in self._functions:
            self._functions[case.form] = function = self._ask(
                "cuModuleGetFunction", self.module, identifier(case.form).encode()
            )
            self._ask("cuFuncSetAttribute", function,
                      self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      65536)  # fmt: skip
        driver = self.driver
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = case.blocks, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = 128, 1, 1
        config.sharedMemBytes = DATA + case.region + 1024
        if case.form.endswith("c"):
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extent = attribute.value.clusterDim
            extent.x, extent.y, extent.z = case.blocks, 1, 1
            config.attrs, config.numAttrs = [attribute], 1
        parameters = ((descriptor, given), (None, ctypes.c_void_p))
        self._ask("cuLaunchKernelEx", config, self._functions[case.form], parameters, 0)

    def _ask(self, name: str, *arguments: Any) -> Any:
        result, *found = getattr(self.driver, name)(*arguments)
        if int(result) != 0:
            raise RuntimeError(f"{name}: {result.name}")
        return found[0] if found else None


# --- the file ------------------------------------------------------------------------------------


def digest(wanted: Sequence[Case]) -> str:
    """A digest of all cases, their instructions included."""
    return hashlib.sha256(
        repr([(case, forms()[case.form]) for case in wanted]).encode()
    ).hexdigest()


def write(path: Path, device: str, results: Mapping[str, Found]) -> int:
    """Write the results of cases; return the size of the file in bytes."""
    kept = [case for case in cases() if case.name in results]
    head = {"device": device, "inputs": digest(kept), "cases": [case.name for case in kept]}
    data = [json.dumps(head).encode(), b"\n"]
    for case in kept:  # what has not changed is zeros, which packs better
        found = results[case.name]
        data.append(found.done.tobytes())
        data.append((found.shared ^ initial_region(case)).tobytes())
        if case.stores:
            data.append((found.memory ^ contents(case.data, case.memory, 1)).tobytes())
    packed = lzma.compress(b"".join(data), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> dict[str, Found]:
    """Return the recorded results of all cases, by their names.

    Raises:
        ValueError: The cases have changed since.
    """
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head, wanted = json.loads(text), {case.name: case for case in cases()}
    kept = [wanted[name] for name in head["cases"] if name in wanted]
    if digest(kept) != head["inputs"]:
        raise ValueError(f"{path}: recorded with other inputs; record again")
    found: dict[str, Found] = {}
    at = 0

    def take(size: int) -> Array:
        nonlocal at
        at += size
        return np.frombuffer(data, np.uint8, size, at - size)

    for case in kept:
        done = take(case.blocks)
        shared = take(case.blocks * case.region).reshape(case.blocks, -1) ^ initial_region(case)
        size = case.memory if case.stores else 0
        memory = take(size) ^ contents(case.data, case.memory, 1)[:size]
        found[case.name] = Found(done, shared, memory)
    return found


def differences(case: Case, recorded: Found, found: Found) -> Iterator[str]:
    """Where a result has other bytes than were recorded, in words."""
    if (recorded.done != found.done).any():
        one, other = recorded.done.tolist(), found.done.tolist()
        yield f"{case.name}: recorded {one} completed, found {other}"
    for name, left, right in (
        ("shared", recorded.shared.ravel(), found.shared.ravel()),
        ("global", recorded.memory, found.memory),
    ):
        apart = np.flatnonzero(left != right)
        if len(apart):
            first = int(apart[0]) // 16 * 16
            chunk = slice(first, first + 16)
            yield (
                f"{case.name}: {len(apart)} bytes of {name} memory differ, from {first}: recorded "
                f"{left[chunk].tobytes().hex()}, found {right[chunk].tobytes().hex()}"
            )
