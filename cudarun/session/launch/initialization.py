"""Initialization of device memory, by the device itself where possible.

Repeated items are copied within the device, doubling the amount with each copy. A long sequence is
computed by a kernel. All other contents are generated on the host in chunks.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from cudarun.arguments.contents import ArithmeticSequence, Contents, RepeatedContents
from cudarun.base.records import dataclass
from cudarun.session.driver.transfers import LARGE, ProgressCallback, Transfers
from cudarun.session.image.image import Image
from cudarun.session.load.library import Library
from cudarun.session.workers.session import Session

_TILE = 64 << 10  # bytes of repeated items that are generated on the host
_KERNELS = Path(__file__).parent / "sequences.ptx"
_THREADS = 256
_MOST_BLOCKS = 1 << 14  # enough for any device; each thread processes several items


@dataclass()
class BufferInitializer:
    """A writer of the initial contents of a launch's buffers."""

    session: Session  # the session; the memory's context must be current
    transfers: Transfers
    with_kernels: bool  # allow kernels of cudarun
    large: int = LARGE  # the bytes from which on a sequence justifies compiling a kernel (60 ms)
    kernels: Library | None = None

    def fill(
        self, address: int, contents: Contents, progress: ProgressCallback = lambda done: None
    ) -> None:
        """Write contents to the address of a buffer, in order on the default stream."""
        match contents:
            case RepeatedContents():
                self._repeat(address, contents)
            case ArithmeticSequence(scalar=scalar) if (
                self.with_kernels
                and 0 < self.large <= contents.nbytes
                and (scalar.is_integer or scalar.name in ("f32", "f64"))
            ):
                self._compute(address, contents)
            case _:
                self.transfers.upload(address, contents, progress)

    def _repeat(self, address: int, contents: RepeatedContents) -> None:
        tile = contents.cut(max(1, _TILE // contents.dtype.itemsize))
        self.transfers.upload(address, tile)
        done = tile.nbytes
        while done < contents.nbytes:
            size = min(done, contents.nbytes - done)
            self.session.driver.cuMemcpyDtoDAsync(address + done, address, size, 0)
            done += size

    def _compute(self, address: int, sequence: ArithmeticSequence) -> None:
        if self.kernels is None:
            image = Image("sequences.ptx", _KERNELS.read_bytes())
            self.kernels = Library(self.session.driver, image)
            self.session.add_release(self.kernels.unload)
        is_integer = sequence.scalar.is_integer
        kernel = self.kernels.handle_of("integers" if is_integer else "floats")
        blocks = min(-(-sequence.count // _THREADS), _MOST_BLOCKS)
        arguments = (
            ctypes.c_uint64(address),
            ctypes.c_uint64(sequence.count),
            _number(sequence, sequence.start),
            _number(sequence, sequence.step),
            ctypes.c_uint64(sequence.scalar.size),
        )
        parameters = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.session.driver.cuLaunchKernel(
            self.session.driver.CUfunction(int(kernel)), blocks, 1, 1, _THREADS, 1, 1, 0, 0,
            ctypes.addressof(parameters), 0,
        )  # fmt: skip


def _number(sequence: ArithmeticSequence, value: float) -> ctypes.c_double | ctypes.c_uint64:
    """Return an argument for the kernel; ctypes takes integers modulo 2^64, like the device."""
    return ctypes.c_double(value) if sequence.scalar.is_float else ctypes.c_uint64(int(value))
