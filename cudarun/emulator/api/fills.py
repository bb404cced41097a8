"""Fills: driver API, section 6.13."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from cuda.bindings.driver import CUgraphNodeType

from cudarun.base.records import dataclass
from cudarun.emulator.api.calls import call, enqueue, generated
from cudarun.emulator.api.copies import device_bytes
from cudarun.emulator.host.addresses import Bytes
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.pools import AllocationKind
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, refuse_if


@dataclass(frozen=True)
class Fill:
    """A fill of rows."""

    width: int  # the bytes of an item
    pointer: Handle  # the address of the first row
    value: int
    items: int  # the number of items in a row
    pitch: int = 0  # the bytes from a row to the next
    rows: int = 1

    @property
    def extent(self) -> int:
        """The number of bytes from the first to the last."""
        if not self.items or not self.rows:
            return 0
        return (self.rows - 1) * self.pitch + self.items * self.width

    def view(self, *, to_write: bool = False) -> Bytes:
        """Return the memory of the rows and all between them.

        Raises:
            Refusal: The address, the pitch or the extent is invalid.
        """
        length = self.items * self.width
        if handle_value(self.pointer) % self.width:
            raise Refusal("INVALID_VALUE", f"the address is not a multiple of {self.width}")
        words = f"invalid pitch: {self.pitch} bytes for rows of {length} bytes"
        refuse_if(self.rows > 1 and (self.pitch < length or self.pitch % self.width), words)
        found = process.allocations.find(handle_value(self.pointer))
        pool = found.pool if found and found.kind is AllocationKind.PAGE_LOCKED else None
        refuse_if(pool and not pool.accessing, "no device accesses the pool: cuMemPoolSetAccess")
        return device_bytes(self.pointer, self.extent, to_write=to_write)

    def perform(self) -> None:
        """Fill the rows; `Refusal` if they are invalid."""
        view, shape = self.view(to_write=True), (self.rows, self.items * self.width)
        strided = np.lib.stride_tricks.as_strided
        for row in [view] if self.rows == 1 else strided(view, shape, (self.pitch, 1)):
            row.view(f"<u{self.width}")[:] = self.value & (1 << 8 * self.width) - 1

    def operation(self) -> Operation:
        """Return the operation that fills the rows; `Refusal` if they are invalid."""
        self.view()
        return Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, self.perform)


def _declare(name: str, parameters: str, text: str, fill_of: Callable[..., Fill]) -> None:
    types = dict.fromkeys(parameters.split(), "int") | {"dstDevice": "Handle"}

    def perform(*values: int) -> None:
        fill_of(*values).perform()

    def submit(*values: int) -> None:
        *values_, stream = values
        fill_ = fill_of(*values_)
        operation = fill_.operation()  # may refuse
        process.submit(process.stream(stream), *[operation] if fill_.extent else [])

    synchronous = call(
        waits=Wait.BLOCKING, needs_context=True, during_capture=CaptureRule.LEGACY_STREAM
    )
    synchronous(generated(__name__, name, types, f"{text}.", perform))
    types["hStream"] = "Handle"
    enqueue()(generated(__name__, f"{name}Async", types, f"{text}, in a stream.", submit))


def _rows(width: int, pointer: Handle, pitch: int, value: int, items: int, rows: int) -> Fill:
    return Fill(width, pointer, value, items, pitch, rows)


for _width, _value, _items in (
    (1, "uc", "bytes"),
    (2, "us", "items of 2 bytes"),
    (4, "ui", "items of 4 bytes"),
):
    _declare(
        f"cuMemsetD{8 * _width}",
        f"dstDevice {_value} N",
        f"Set ``N`` {_items}",
        partial(Fill, _width),
    )
    _declare(
        f"cuMemsetD2D{8 * _width}",
        f"dstDevice dstPitch {_value} Width Height",
        f"Set ``Height`` rows of ``Width`` {_items}",
        partial(_rows, _width),
    )
