"""Replay recorded launches on the emulated device, and compare device memory bit for bit.

A recording is a folder of the recorder (``recorder.c``): ``launchN``, ``imageN``, and PTX beside
them. Its addresses are kept: pointers in parameters, structs and tensor maps stay valid. The
environment variable ``CUDARUN_CPU_ENGINE`` selects the engine.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.emulator import driver as cuda
from cudarun.emulator.host.allocations import AllocationKind, DriverAllocation
from cudarun.emulator.host.process import process
from cudarun.emulator.memory import Memory
from cudarun.images.fatbin import read_entries
from cudarun.images.kinds import ImageKind

_HEADROOM = 1 << 30  # for variables of the image and for what the kernel allocates
_LARGE_SHARED = 48 << 10  # above it a kernel needs an attribute


@dataclass
class Region:
    """A range of device memory: an allocation, or a variable of the image."""

    address: int
    size: int
    variable: str | None
    before: np.ndarray[Any, Any] = field(repr=False)
    after: np.ndarray[Any, Any] = field(repr=False)


class Recording:
    """A recorded launch.

    Args:
        path: The file ``launchN``.
    """

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        end = data.index(b"end\n") + 4
        lines = [line.split(" ") for line in data[:end].decode().splitlines()]
        self.facts = {line[0]: line[1:] for line in lines}
        self.kernel = self.facts["kernel"][0]
        self.parameters = [(int(x[1]), int(x[2])) for x in lines if x[0] == "parameter"]
        self.bytes = bytes.fromhex("".join(self.facts["bytes"]))
        places = [(int(x[1], 16), int(x[2]), x[3]) for x in lines if x[0] == "memory"]
        total = sum(size for _, size, _ in places)
        self.regions = []
        at = end
        for address, size, name in places:
            before = np.frombuffer(data, np.uint8, size, at)
            after = np.frombuffer(data, np.uint8, size, at + total)
            self.regions.append(Region(address, size, None if name == "-" else name, before, after))
            at += size
        self.image = self._ptx(path.parent)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of a line of the header."""
        return [int(word) for word in self.facts[name]]

    def _ptx(self, folder: Path) -> bytes:
        """Return the PTX of the kernel: from a file beside the recording, or from its fatbin."""
        for text in self._texts(folder):
            if f".entry {self.kernel}(".encode() in text:
                return text.rstrip(b"\0") + b"\0"
        raise SystemExit(f"no PTX of {self.kernel} in {folder}")

    def _texts(self, folder: Path) -> Iterator[bytes]:
        for path in sorted(folder.glob("*.ptx")):
            yield path.read_bytes()
        fatbin = folder / f"image{self.facts['image'][0]}"
        for entry in read_entries(fatbin.read_bytes(), str(fatbin)):
            if entry.kind is ImageKind.PTX:
                yield entry.content(str(fatbin))


def replay(recording: Recording) -> dict[str, Any]:
    """Launch on the emulated device; return the comparison with the recorded memory."""
    _checked(cuda.cuInit(0))
    device = _checked(cuda.cuDeviceGet(0))
    _checked(cuda.cuCtxSetCurrent(_checked(cuda.cuDevicePrimaryCtxRetain(device))))
    _place(recording)
    started = time.process_time()
    library = _checked(cuda.cuLibraryLoadData(recording.image, [], [], 0, [], [], 0))
    kernel = _checked(cuda.cuLibraryGetKernel(library, recording.kernel.encode()))
    for region in recording.regions:
        if region.variable is not None:
            found = cuda.cuLibraryGetGlobal(library, region.variable.encode())
            if int(found[0]) == 0:
                _checked(cuda.cuMemcpyHtoD(found[1], region.before.tobytes(), region.size))
    loaded = time.process_time()
    _launch(recording, kernel, device)
    _checked(cuda.cuCtxSynchronize())
    ran = time.process_time()
    (note,) = (each for each in cuda.engine_notes() if each.kernel == recording.kernel)
    return _compared(recording) | {
        "engine": note.engine,
        "reason": note.reason,
        "load_s": round(loaded - started, 2),
        "run_s": round(ran - loaded, 2),
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def _checked(answer: tuple[Any, ...]) -> Any:
    if int(answer[0]) != 0:
        raise SystemExit(json.dumps({"verdict": str(answer[0])}))
    return answer[1] if len(answer) == 2 else answer[1:]


def _place(recording: Recording) -> None:
    """Allocate the recorded ranges at their addresses, and fill them."""
    context = process.current()
    plain = sorted(
        (each for each in recording.regions if each.variable is None), key=lambda r: r.address
    )
    if not plain:
        return
    low = plain[0].address & ~((1 << 21) - 1)
    memory = Memory(low, plain[-1].address + plain[-1].size - low + _HEADROOM)
    context.device.memory = memory
    for region in plain:
        memory._top = region.address
        if memory.allocate(region.size, label="cuMemAlloc") != region.address:
            raise SystemExit(f"{region.address:#x} is not free")
        kept = DriverAllocation(
            region.address, region.size, AllocationKind.DEVICE, context, memory, 0, None
        )
        process.allocations.add(kept)
        _checked(cuda.cuMemcpyHtoD(region.address, region.before.tobytes(), region.size))


def _launch(recording: Recording, kernel: Any, device: Any) -> None:
    config = cuda.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = recording.numbers("grid")
    config.blockDimX, config.blockDimY, config.blockDimZ = recording.numbers("block")
    [config.sharedMemBytes] = recording.numbers("shared")
    if config.sharedMemBytes > _LARGE_SHARED:
        name = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _checked(cuda.cuKernelSetAttribute(name, config.sharedMemBytes, kernel, device))
    names = cuda.CUlaunchAttributeID
    attributes = []
    if any(recording.numbers("cluster")):
        cluster = cuda.CUlaunchAttribute()
        cluster.id = names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        value = cuda.CUlaunchAttributeValue()
        size = value.clusterDim
        size.x, size.y, size.z = recording.numbers("cluster")
        cluster.value = value
        attributes.append(cluster)
    if any(recording.numbers("cooperative")):
        cooperative = cuda.CUlaunchAttribute()
        cooperative.id = names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        value = cuda.CUlaunchAttributeValue()
        value.cooperative = 1
        cooperative.value = value
        attributes.append(cooperative)
    config.attrs, config.numAttrs = attributes, len(attributes)
    data = ctypes.create_string_buffer(recording.bytes, max(len(recording.bytes), 1))
    start = ctypes.addressof(data)
    if "packed" in recording.facts:
        length = ctypes.c_size_t(len(recording.bytes))
        packed = (ctypes.c_void_p * 5)(1, start, 2, ctypes.addressof(length), 0)
        _checked(cuda.cuLaunchKernelEx(config, kernel, 0, ctypes.addressof(packed)))
        return
    pointers = (ctypes.c_void_p * max(len(recording.parameters), 1))(
        *(start + offset for offset, _ in recording.parameters)
    )
    _checked(cuda.cuLaunchKernelEx(config, kernel, ctypes.addressof(pointers), 0))


def _compared(recording: Recording) -> dict[str, Any]:
    """Compare device memory with the recorded one; describe mismatches as f16 and f32."""
    different = changed = 0
    mismatches = []
    for region in recording.regions:
        if region.variable is not None:
            continue
        got = np.zeros(region.size, np.uint8)
        _checked(cuda.cuMemcpyDtoH(got.ctypes.data, region.address, region.size))
        changed += int((region.after != region.before).sum())
        count = int((got != region.after).sum())
        different += count
        if count:
            mismatches += [_mismatch(got, region.after, dtype) for dtype in ("f2", "f4")]
    return {
        "verdict": "equal" if not different else "different",
        "changed_bytes": changed,
        "different_bytes": different,
        "mismatches": mismatches,
    }


def _mismatch(got: Any, expected: Any, dtype: str) -> str:
    whole = len(got) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize
    left, right = (each[:whole].view(dtype).astype(np.float64) for each in (got, expected))
    with np.errstate(all="ignore"):
        error = np.nanmax(np.abs(left - right))
        return f"{dtype}: {int((left != right).sum())} of {left.size}, largest error {error:.3g}"


def main() -> None:
    """Replay one launch of a folder; print a JSON line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("number", nargs="?", default="0", help="the launch")
    given = parser.parse_args()
    recording = Recording(given.folder / f"launch{given.number}")
    found = {"recording": f"{given.folder.name}/{given.number}", "kernel": recording.kernel}
    print(json.dumps(found | replay(recording)))


if __name__ == "__main__":
    main()
