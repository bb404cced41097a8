"""The code that the program registers when it is loaded: fat binaries, kernels and variables.

``crt/host_runtime.h`` of the toolkit declares the functions that do so. Code is loaded when the
first of its kernels or variables is used.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cuda.bindings.driver import CUjitInputType

from cudarun.base.records import dataclass
from cudarun.emulator.host.addresses import read_numbers
from cudarun.emulator.host.images import NotLoadable, image_bytes, ptx_text
from cudarun.emulator.host.process import process
from cudarun.emulator.runtime_api.calls import RuntimeRefusal, driver_call

_FATBIN, _FUNCTION, _VARIABLE, _MANAGED, _UNREGISTER = range(5)
_INVALID_SYMBOL, _INVALID_FUNCTION = 13, 98
_HEAD = struct.Struct("=4Q")


@dataclass(slots=True)
class FatBinary:
    """A registered fat binary."""

    address: int  # where it is
    linked: int  # where the array of those is that are to be linked (``-rdc=true``); 0 without
    library: int = 0  # the library, once it is loaded


@dataclass(frozen=True, slots=True)
class HostSymbol:
    """A kernel or a variable: the handle of its fat binary, and its name."""

    binary: int
    name: bytes
    is_managed: bool = False


class RegisteredCode:
    """Everything that the program has registered."""

    def __init__(self) -> None:
        self._binaries: dict[int, FatBinary] = {}
        self._functions: dict[int, HostSymbol] = {}
        self._variables: dict[int, HostSymbol] = {}
        self._kernels: dict[int, int] = {}
        self.notes: dict[str, str] = {}  # why a kernel could not be loaded or launched

    def register(self, message: bytes) -> None:
        """Enter what a message says."""
        kind, handle, host, value = _HEAD.unpack_from(message)
        name = bytes(message[_HEAD.size :])
        if kind == _FATBIN:
            self._binaries[handle] = FatBinary(host, value)
        elif kind == _FUNCTION:
            self._functions[host] = HostSymbol(handle, name)
        elif kind != _UNREGISTER:
            self._variables[host] = HostSymbol(handle, name, kind == _MANAGED)
        else:
            binary = self._binaries.pop(handle, None)
            for symbols in (self._functions, self._variables):
                for host in [host for host, each in symbols.items() if each.binary == handle]:
                    del symbols[host]
                    self._kernels.pop(host, None)
            if binary is not None and binary.library:
                driver_call("cuLibraryUnload", binary.library)

    def kernel(self, function: int) -> int:
        """Return the kernel of a host function; a kernel's handle is one itself.

        Raises:
            RuntimeRefusal: There is none, or it cannot be loaded.
        """
        if function not in self._kernels:
            symbol = self._functions.get(function)
            if symbol is None:
                if process.handles.find(function, object) is not None:
                    return function
                raise RuntimeRefusal(_INVALID_FUNCTION)
            with self._noting(symbol):
                found = driver_call("cuLibraryGetKernel", self._library(symbol), symbol.name)
                driver_call("cuKernelGetFunction", found)  # decodes it
            self._kernels[function] = int(found)
        return self._kernels[function]

    def host_function(self, kernel: int) -> int:
        """Return the host function of a kernel; without one its handle."""
        kernels = self._kernels.copy()  # other threads add theirs
        return next((host for host, each in kernels.items() if each == kernel), kernel)

    def variable(self, host: int) -> tuple[int, int]:
        """Return address and size of the variable of a host variable.

        Raises:
            RuntimeRefusal: There is none, or it cannot be loaded.
        """
        symbol = self._variables.get(host)
        if symbol is None:
            raise RuntimeRefusal(_INVALID_SYMBOL)
        call = "cuLibraryGetManaged" if symbol.is_managed else "cuLibraryGetGlobal"
        with self._noting(symbol):
            address, size = driver_call(call, self._library(symbol), symbol.name)
        return int(address), int(size)

    def managed(self, binary: int) -> list[tuple[int, int]]:
        """Return the host variable and the address of each managed variable of a fat binary."""
        symbols = self._variables.copy()  # other threads register theirs
        hosts = [
            host for host, each in symbols.items() if each.is_managed and each.binary == binary
        ]
        return [(host, self.variable(host)[0]) for host in hosts]

    def _library(self, symbol: HostSymbol) -> int:
        binary = self._binaries[symbol.binary]
        with process.mutex:  # another thread would load it, too, with variables of its own
            if not binary.library:
                image = _linked(binary.linked) if binary.linked else image_bytes(binary.address)
                library = driver_call("cuLibraryLoadData", image, None, None, 0, None, None, 0)
                binary.library = int(library)
        return binary.library

    @contextmanager
    def _noting(self, symbol: HostSymbol) -> Iterator[None]:
        """Record the driver's last message of a refusal; after a fault, every call fails."""
        try:
            yield
        except RuntimeRefusal:
            words = process.log.last_words
            if process.fault is None:
                self.notes[symbol.name.decode(errors="replace")] = f"cannot be loaded: {words}"
            raise


def _linked(pointers: int) -> bytes:
    """Return the code of translation units that were compiled separately."""
    state = driver_call("cuLinkCreate", 0, [], [])
    kind = CUjitInputType.CU_JIT_INPUT_FATBINARY
    while address := read_numbers(pointers, 1)[0]:
        image = image_bytes(address)
        with suppress(NotLoadable):  # without PTX is NVIDIA's own code, which the device has
            ptx_text(image)
            driver_call("cuLinkAddData", state, kind, address, len(image), None, 0, [], [])
        pointers += 8
    address, size = driver_call("cuLinkComplete", state)
    image = ctypes.string_at(address, size) + b"\0"
    driver_call("cuLinkDestroy", state)
    return image
