"""Linking: driver API, section 6.12 (module management)."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import itertools
from typing import Annotated

from cuda.bindings.driver import CUjitInputType, CUlinkState

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import lookup
from cudarun.emulator.api.modules import Options, OptionValues
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostPointer, address_of, c_string
from cudarun.emulator.host.contexts import Context, ContextObject
from cudarun.emulator.host.images import image_file, ptx_text
from cudarun.emulator.host.jit import DriverJitOptions, compile_text, information
from cudarun.emulator.host.linker import Linker, LinkInput
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import enum_member, refuse_if

# Input types that can contain PTX. The image of cuLinkComplete counts as a cubin.
_INPUTS = (
    CUjitInputType.CU_JIT_INPUT_CUBIN,
    CUjitInputType.CU_JIT_INPUT_PTX,
    CUjitInputType.CU_JIT_INPUT_FATBINARY,
)


class _LinkState(ContextObject):
    """A link in progress; it owns the linked image."""

    def __init__(self, context: Context, options: DriverJitOptions) -> None:
        self.options = options
        self.linker = Linker()
        self.numbers = itertools.count(1)
        self.image: ctypes.Array[ctypes.c_char] | None = None
        self.context = context
        self.enter()

    def check_open(self) -> None:
        """Raise `Refusal` if the link is complete."""
        refuse_if(self.image is not None, "the link is already complete")

    def add(self, kind: CUjitInputType, image: bytes, name: str) -> None:
        """Add an input; if it is refused, the error log has the reason."""
        self.check_open()
        kind = enum_member(CUjitInputType, kind)
        words = f"the emulated device does not support linker inputs of type {kind.name}"
        refuse_if(kind not in _INPUTS, words, "NOT_SUPPORTED")
        number = next(self.numbers)
        with self.options.logging_errors():
            self.linker.add(LinkInput(name or f"input file {number}", ptx_text(image)))

    def complete(self) -> tuple[int, int]:
        """Return address and size of the linked image; undefined symbols are only logged."""
        self.options.append("error", "\n".join(self.linker.undefined()))
        with self.options.logging_errors():
            linked = self.linker.complete()
        if self.options.verbose and not self.linker.undefined():
            self.options.append("info", information(compile_text(linked).program))
        text = linked.encode("latin-1")
        self.image = ctypes.create_string_buffer(text)
        return ctypes.addressof(self.image), len(text)


LinkHandle = Annotated[_LinkState, lookup(_LinkState)]


@call()
def cuLinkCreate(numOptions: int, options: Options, optionValues: OptionValues) -> CUlinkState:
    """Begin a link."""
    jit_options = DriverJitOptions(numOptions, options, optionValues)
    jit_options.check_of_link()
    return CUlinkState(_LinkState(process.current(), jit_options).handle)


@call()
def cuLinkAddData(
    state: LinkHandle,
    typename: CUjitInputType,
    data: HostPointer,
    size: int,
    name: bytes | None,
    numOptions: int,
    options: Options,
    optionValues: OptionValues,
) -> None:
    """Add an input from memory, ``size`` bytes."""
    DriverJitOptions(numOptions, options, optionValues).check_of_one_input()
    address = address_of(data)
    refuse_if(address == 0 or size == 0, "the input is empty")
    state.add(typename, addresses.host.read(address, size), c_string(name) if name else "")


@call()
def cuLinkAddFile(
    state: LinkHandle,
    typename: CUjitInputType,
    path: bytes,
    numOptions: int,
    options: Options,
    optionValues: OptionValues,
) -> None:
    """Add an input from a file."""
    state.check_open()
    DriverJitOptions(numOptions, options, optionValues).check_of_one_input()
    file = c_string(path)
    state.add(typename, image_file(file), file)


@call()
def cuLinkComplete(state: LinkHandle) -> tuple[int, int]:
    """Finish a link; return address and size of the image, which the link state owns."""
    return state.complete()


@call()
def cuLinkDestroy(state: LinkHandle) -> None:
    """Destroy a link and its image."""
    state.destroy()
