"""Libraries and kernels: driver API, section 6.14."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings.driver import CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.contexts import cache_preference
from cudarun.emulator.api.modules import Options
from cudarun.emulator.host.addresses import c_string
from cudarun.emulator.host.handles import handle_value
from cudarun.emulator.host.images import image_bytes, image_file
from cudarun.emulator.host.jit import Compiled, JitOptions, compile_image
from cudarun.emulator.host.modules import Attributes, Kernel, Library, parameter
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


def _library(handle: Any) -> Library:
    return process.handles.get(handle_value(handle), Library)


def _kernel(handle: Any) -> Kernel:
    return process.handles.get(handle_value(handle), Kernel)


@call(1)
def cuLibraryLoadData(
    code: Any,
    jitOptions: Options,
    jitOptionsValues: Options,
    numJitOptions: int,
    libraryOptions: Options,
    libraryOptionValues: Options,
    numLibraryOptions: int,
) -> Any:
    """Load an image for all contexts; one that is no good is accepted (`cuLibraryGetKernel`)."""
    return _load(image_bytes(code), JitOptions(numJitOptions, jitOptions, jitOptionsValues))


@call(1)
def cuLibraryLoadFromFile(
    fileName: bytes,
    jitOptions: Options,
    jitOptionsValues: Options,
    numJitOptions: int,
    libraryOptions: Options,
    libraryOptionValues: Options,
    numLibraryOptions: int,
) -> Any:
    """Load a file for all contexts."""
    image = image_file(c_string(fileName))
    return _load(image, JitOptions(numJitOptions, jitOptions, jitOptionsValues))


def _load(image: bytes, options: JitOptions) -> Any:
    compiled: Compiled | Refusal
    try:
        compiled = compile_image(image, options)
    except Refusal as refusal:
        compiled = refusal
    return CUlibrary(Library(compiled, process.handles, process.host_memory).handle)


@call(waits=True)
def cuLibraryUnload(library: Any) -> None:
    """Take a library out of every context."""
    unloaded = _library(library)
    for device in process.devices:
        process.ready(device)
    unloaded.unload()


@call(1)
def cuLibraryGetKernel(library: Any, name: bytes) -> Any:
    """A kernel of a library by name; whatever is wrong with the image is told here."""
    return CUkernel(_library(library).kernel(c_string(name)).handle)


@call(1)
def cuLibraryGetKernelCount(lib: Any) -> int:
    """How many kernels a library has; none where its image is no good."""
    return len(_library(lib).kernels())


@call(1)
def cuLibraryEnumerateKernels(numKernels: int, lib: Any) -> list[Any]:
    """The first ``numKernels`` kernels of a library; null handles where there are fewer."""
    kernels = list(_library(lib).kernels().values())[:numKernels]
    missing = [CUkernel(0)] * (numKernels - len(kernels))
    return [CUkernel(kernel.handle) for kernel in kernels] + missing


@call(1)
def cuLibraryGetModule(library: Any) -> Any:
    """What stands for the library in the current context."""
    return CUmodule(_library(library).module(process.current()).handle)


@call(2)
def cuLibraryGetGlobal(library: Any, name: bytes) -> tuple[Any, int]:
    """Address and size of a variable in the current context."""
    module = _library(library).module(process.current())
    address, size = module.variable(c_string(name))
    return CUdeviceptr(address), size


@call(2)
def cuLibraryGetManaged(library: Any, name: bytes) -> tuple[Any, int]:
    """Address and size of a managed variable, the same in every context; none need be current."""
    address, size = _library(library).managed_variable(c_string(name))
    return CUdeviceptr(address), size


# --- kernels -------------------------------------------------------------------------------------


@call(1)
def cuKernelGetFunction(kernel: Any) -> Any:
    """What stands for a kernel in the current context."""
    return CUfunction(_kernel(kernel).function(process.current()).handle)


@call(1)
def cuKernelGetLibrary(kernel: Any) -> Any:
    """The library of a kernel."""
    return CUlibrary(_kernel(kernel).library.handle)


@call(1)
def cuKernelGetName(hfunc: Any) -> bytes:
    """The kernel's name in the PTX text."""
    return _kernel(hfunc).code.name.encode()


@call(1)
def cuKernelGetAttribute(attrib: Any, kernel: Any, dev: Any) -> int:
    """The value of a ``CUfunction_attribute`` on a device."""
    return _attributes(kernel, dev).get(attrib)


@call()
def cuKernelSetAttribute(attrib: Any, val: int, kernel: Any, dev: Any) -> None:
    """Change an attribute on a device; what ``cuFuncSetAttribute`` has set stays above it."""
    _attributes(kernel, dev).set(attrib, val)


@call()
def cuKernelSetCacheConfig(kernel: Any, config: Any, dev: Any) -> None:
    """Prefer L1 cache or shared memory for a kernel; here it changes nothing."""
    _attributes(kernel, dev)
    cache_preference(config)


def _attributes(kernel: Any, dev: Any) -> Attributes:
    return _kernel(kernel).attributes(process.device(dev).ordinal)


@call(2)
def cuKernelGetParamInfo(kernel: Any, paramIndex: int) -> tuple[int, int]:
    """Offset and size of a parameter in the parameter buffer; a context must be current."""
    process.current()
    return parameter(_kernel(kernel).code, paramIndex)


@call(1)
def cuKernelGetParamCount(kernel: Any) -> int:
    """How many parameters a kernel has."""
    return len(_kernel(kernel).code.parameters)
