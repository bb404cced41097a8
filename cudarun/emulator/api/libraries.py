"""Libraries and kernels: driver API, section 6.14."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import (
    CUdeviceptr,
    CUfunc_cache,
    CUfunction,
    CUfunction_attribute,
    CUkernel,
    CUlibrary,
    CUmodule,
)

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.contexts import cache_preference
from cudarun.emulator.api.modules import Options, OptionValues
from cudarun.emulator.host.addresses import HostPointer, c_string
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.images import image_bytes, image_file
from cudarun.emulator.host.jit import CompiledModule, DriverJitOptions, compile_image
from cudarun.emulator.host.modules import (
    FunctionAttributes,
    LibraryKernel,
    LoadedLibrary,
    parameter,
)
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


def _library(handle: Handle) -> LoadedLibrary:
    return process.handles.get(handle_value(handle), LoadedLibrary)


def _kernel(handle: Handle) -> LibraryKernel:
    return process.handles.get(handle_value(handle), LibraryKernel)


@call(1)
def cuLibraryLoadData(
    code: HostPointer,
    jitOptions: Options,
    jitOptionsValues: OptionValues,
    numJitOptions: int,
    libraryOptions: OptionValues,
    libraryOptionValues: OptionValues,
    numLibraryOptions: int,
) -> CUlibrary:
    """Load an image for all contexts; an invalid one fails later (`cuLibraryGetKernel`)."""
    return _load(image_bytes(code), DriverJitOptions(numJitOptions, jitOptions, jitOptionsValues))


@call(1)
def cuLibraryLoadFromFile(
    fileName: bytes,
    jitOptions: Options,
    jitOptionsValues: OptionValues,
    numJitOptions: int,
    libraryOptions: OptionValues,
    libraryOptionValues: OptionValues,
    numLibraryOptions: int,
) -> CUlibrary:
    """Load a file for all contexts."""
    image = image_file(c_string(fileName))
    return _load(image, DriverJitOptions(numJitOptions, jitOptions, jitOptionsValues))


def _load(image: bytes, options: DriverJitOptions) -> CUlibrary:
    compiled: CompiledModule | Refusal
    try:
        compiled = compile_image(image, options, on_demand=process.compiles_on_demand)
    except Refusal as refusal:
        compiled = refusal
    return CUlibrary(LoadedLibrary(compiled, options, process.handles, process.host_memory).handle)


@call(waits=True, during_capture=CaptureRule.UNSAFE)
def cuLibraryUnload(library: Handle) -> None:
    """Unload a library from every context."""
    unloaded = _library(library)
    for device in process.devices:
        process.ready(device)
    unloaded.unload()


@call(1)
def cuLibraryGetKernel(library: Handle, name: bytes) -> CUkernel:
    """Return a kernel of a library by name; fails if the image is invalid."""
    return CUkernel(_library(library).kernel(c_string(name)).handle)


@call(1)
def cuLibraryGetKernelCount(lib: Handle) -> int:
    """Return the number of kernels of a library; 0 if its image is invalid."""
    return len(_library(lib).kernels())


@call(1)
def cuLibraryEnumerateKernels(numKernels: int, lib: Handle) -> list[CUkernel]:
    """Return the first ``numKernels`` kernels of a library, padded with null handles."""
    kernels = list(_library(lib).kernels().values())[:numKernels]
    missing = [CUkernel(0)] * (numKernels - len(kernels))
    return [CUkernel(kernel.handle) for kernel in kernels] + missing


@call(1)
def cuLibraryGetModule(library: Handle) -> CUmodule:
    """Return the module of a library in the current context."""
    return CUmodule(_library(library).module(process.current()).handle)


@call(2)
def cuLibraryGetGlobal(library: Handle, name: bytes) -> tuple[CUdeviceptr, int]:
    """Return address and size of a variable in the current context."""
    module = _library(library).module(process.current())
    address, size = module.variable(c_string(name))
    return CUdeviceptr(address), size


@call(2)
def cuLibraryGetManaged(library: Handle, name: bytes) -> tuple[CUdeviceptr, int]:
    """Return address and size of a managed variable; no context need be current."""
    address, size = _library(library).managed_variable(c_string(name))
    return CUdeviceptr(address), size


# --- kernels -------------------------------------------------------------------------------------


@call(1)
def cuKernelGetFunction(kernel: Handle) -> CUfunction:
    """Return the function of a kernel in the current context."""
    return CUfunction(_kernel(kernel).function(process.current()).handle)


@call(1)
def cuKernelGetLibrary(kernel: Handle) -> CUlibrary:
    """Return the library of a kernel."""
    return CUlibrary(_kernel(kernel).library.handle)


@call(1)
def cuKernelGetName(hfunc: Handle) -> bytes:
    """Return the kernel's name in the PTX text."""
    return _kernel(hfunc).name.encode()


@call(1)
def cuKernelGetAttribute(attrib: CUfunction_attribute, kernel: Handle, dev: Handle) -> int:
    """Return the value of a ``CUfunction_attribute`` on a device."""
    return _attributes(kernel, dev).get(attrib)


@call()
def cuKernelSetAttribute(
    attrib: CUfunction_attribute, val: int, kernel: Handle, dev: Handle
) -> None:
    """Set an attribute on a device; values set by ``cuFuncSetAttribute`` take precedence."""
    _attributes(kernel, dev).set(attrib, val)


@call()
def cuKernelSetCacheConfig(kernel: Handle, config: CUfunc_cache, dev: Handle) -> None:
    """Prefer L1 cache or shared memory for a kernel; no effect here."""
    _attributes(kernel, dev)
    cache_preference(config)


def _attributes(kernel: Handle, dev: Handle) -> FunctionAttributes:
    return _kernel(kernel).attributes(process.device(dev).ordinal)


@call(2, needs_context=True)
def cuKernelGetParamInfo(kernel: Handle, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter in the parameter buffer; needs a current context."""
    return parameter(_kernel(kernel).code, paramIndex)


@call(1)
def cuKernelGetParamCount(kernel: Handle) -> int:
    """Return the number of parameters of a kernel."""
    return len(_kernel(kernel).code.parameters)
