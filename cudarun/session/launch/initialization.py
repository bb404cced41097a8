"""Initialization of device memory, by the device itself where possible.

Repeated items are copied within the device, doubling the amount with each copy. A long sequence is
computed by a kernel. All other contents are generated on the host in chunks.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from cudarun.arguments.contents import ArithmeticSequence, Contents, RepeatedContents
from cudarun.arguments.types import ScalarType
from cudarun.session.driver.transfers import LARGE, ProgressCallback, Transfers
from cudarun.session.image.image import Image
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cudarun.session.load.library import Library

_TILE = 64 << 10  # bytes of repeated items that are generated on the host
_THREADS = 256
_MOST_BLOCKS = 1 << 14  # enough for any device; each thread processes several items


class BufferInitializer:
    """A writer of the initial contents of a launch's buffers.

    Args:
        session: The session; the memory's context must be current.
        transfers: The copies to the device.
        with_kernels: Allow kernels of cudarun.
        large: The size in bytes from which on a sequence justifies compiling a kernel (60 ms).
    """

    def __init__(
        self,
        session: Session,
        transfers: Transfers,
        *,
        with_kernels: bool,
        large: int = LARGE,
    ) -> None:
        self._session = session
        self._driver = session.driver
        self._transfers = transfers
        self._large = large if with_kernels else None
        self._kernels: Library | None = None

    def fill(
        self, address: int, contents: Contents, progress: ProgressCallback = lambda done: None
    ) -> None:
        """Write contents to the address of a buffer, in order on the default stream.

        Raises:
            RequestError: A file cannot be read.
        """
        match contents:
            case RepeatedContents():
                self._repeat(address, contents)
            case ArithmeticSequence() if self._computes(contents):
                self._compute(address, contents)
            case _:
                self._transfers.upload(address, contents, progress)

    def _repeat(self, address: int, contents: RepeatedContents) -> None:
        tile = contents.cut(max(1, _TILE // contents.dtype.itemsize))
        self._transfers.upload(address, tile)
        done = tile.nbytes
        while done < contents.nbytes:
            size = min(done, contents.nbytes - done)
            self._driver.cuMemcpyDtoDAsync(address + done, address, size, 0)
            done += size

    def _computes(self, sequence: ArithmeticSequence) -> bool:
        enough = self._large is not None and 0 < self._large <= sequence.nbytes
        return enough and _kernel_name(sequence.scalar) is not None

    def _compute(self, address: int, sequence: ArithmeticSequence) -> None:
        from cudarun.session.load.library import Library

        if self._kernels is None:
            self._kernels = Library(self._driver, Image("sequences.ptx", _ptx().encode()))
            self._session.add_release(self._kernels.unload)
        name = _kernel_name(sequence.scalar)
        assert name is not None, "_computes has checked the type"
        kernel = self._kernels.handle_of(name)
        blocks = min(-(-sequence.count // _THREADS), _MOST_BLOCKS)
        arguments = (
            ctypes.c_uint64(address),
            ctypes.c_uint64(sequence.count),
            _number(sequence, sequence.start),
            _number(sequence, sequence.step),
        )
        parameters = (ctypes.c_void_p * 4)(*map(ctypes.addressof, arguments))
        self._driver.cuLaunchKernel(
            self._driver.CUfunction(int(kernel)), blocks, 1, 1, _THREADS, 1, 1, 0, 0,
            ctypes.addressof(parameters), 0,
        )  # fmt: skip


def _number(sequence: ArithmeticSequence, value: float) -> ctypes.c_double | ctypes.c_uint64:
    """Return an argument for the kernel; ctypes takes integers modulo 2^64, like the device."""
    return ctypes.c_double(value) if sequence.scalar.is_float else ctypes.c_uint64(int(value))


# --- the kernels ---------------------------------------------------------------------------------

_KERNEL = """
.visible .entry {name}(.param .u64 to, .param .u64 count, .param .{wide} start, .param .{wide} step)
{{
    .reg .pred %done;
    .reg .b32 %r<4>;
    .reg .b64 %index, %stride, %count, %to, %start, %step, %value, %place;
    .reg .f32 %single;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %nctaid.x;
    mul.wide.u32 %index, %r0, %r1;
    cvt.u64.u32 %value, %r2;
    add.u64 %index, %index, %value;
    mul.wide.u32 %stride, %r3, %r1;
    ld.param.u64 %to, [to];
    cvta.to.global.u64 %to, %to;
    ld.param.u64 %count, [count];
    ld.param.b64 %start, [start];
    ld.param.b64 %step, [step];
next:
    setp.ge.u64 %done, %index, %count;
    @%done bra end;
    mad.lo.u64 %place, %index, {size}, %to;
    {compute}
    add.u64 %index, %index, %stride;
    bra.uni next;
end:
    ret;
}}
"""
_INTEGER = "mad.lo.u64 %value, %index, %step, %start;"
_FLOAT = (
    "cvt.rn.f64.u64 %value, %index; "
    "mul.rn.f64 %value, %value, %step; "
    "add.rn.f64 %value, %value, %start; "
)


def _kernel_name(scalar: ScalarType) -> str | None:
    """Return the kernel that computes a sequence of a type; ``None`` for small types."""
    if scalar.is_integer:
        return f"sequence_u{8 * scalar.size}"
    return f"sequence_{scalar.name}" if scalar.name in ("f32", "f64") else None


def _ptx() -> str:
    """Return PTX with a kernel per type, for all devices with a supported driver.

    The arithmetic is that of `ArithmeticSequence`, which rounds after each operation.
    """
    computed = {
        f"sequence_u{8 * size}": (
            "u64", size, f"{_INTEGER} st.global.u{8 * size} [%place], %value;"
        )
        for size in (1, 2, 4, 8)
    }  # fmt: skip
    computed["sequence_f64"] = "f64", 8, f"{_FLOAT} st.global.f64 [%place], %value;"
    computed["sequence_f32"] = (
        "f64", 4, f"{_FLOAT} cvt.rn.f32.f64 %single, %value; st.global.f32 [%place], %single;"
    )  # fmt: skip
    kernels = (
        _KERNEL.format(name=name, wide=wide, size=size, compute=compute)
        for name, (wide, size, compute) in computed.items()
    )
    return ".version 7.0\n.target sm_50\n.address_size 64\n" + "".join(kernels)
