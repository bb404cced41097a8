"""Libraries and kernels: driver API, section 6.14."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import DeviceHandle, KernelHandle, LibraryHandle
from cudarun.emulator.api.modules import Options, OptionValues
from cudarun.emulator.host.addresses import HostPointer, c_string
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.images import image_bytes, image_file
from cudarun.emulator.host.jit import CompiledModule, DriverJitOptions, compile_image
from cudarun.emulator.host.modules import LoadedLibrary, parameter
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, enum_member


@call()
def cuLibraryLoadData(
    code: HostPointer,
    jitOptions: Options,
    jitOptionsValues: OptionValues,
    numJitOptions: int,
    libraryOptions: OptionValues,
    libraryOptionValues: OptionValues,
    numLibraryOptions: int,
) -> cuda.CUlibrary:
    """Load an image for all contexts; an invalid one fails later (`cuLibraryGetKernel`)."""
    return _load(image_bytes(code), DriverJitOptions(numJitOptions, jitOptions, jitOptionsValues))


@call()
def cuLibraryLoadFromFile(
    fileName: bytes,
    jitOptions: Options,
    jitOptionsValues: OptionValues,
    numJitOptions: int,
    libraryOptions: OptionValues,
    libraryOptionValues: OptionValues,
    numLibraryOptions: int,
) -> cuda.CUlibrary:
    """Load a file for all contexts."""
    image = image_file(c_string(fileName))
    return _load(image, DriverJitOptions(numJitOptions, jitOptions, jitOptionsValues))


def _load(image: bytes, options: DriverJitOptions) -> cuda.CUlibrary:
    compiled: CompiledModule | Refusal
    try:
        compiled = compile_image(image, options, on_demand=process.compiles_on_demand)
    except Refusal as refusal:
        compiled = refusal
    return cuda.CUlibrary(
        LoadedLibrary(compiled, options, process.handles, process.host_memory).handle
    )


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE)
def cuLibraryUnload(library: LibraryHandle) -> None:
    """Unload a library from every context."""
    for device in process.devices:
        process.ready(device)
    library.unload()


@call()
def cuLibraryGetKernel(library: LibraryHandle, name: bytes) -> cuda.CUkernel:
    """Return a kernel of a library by name; fails if the image is invalid."""
    return cuda.CUkernel(library.kernel(c_string(name)).handle)


@call()
def cuLibraryGetKernelCount(lib: LibraryHandle) -> int:
    """Return the number of kernels of a library; 0 if its image is invalid."""
    return len(lib.kernels)


@call()
def cuLibraryEnumerateKernels(numKernels: int, lib: LibraryHandle) -> list[cuda.CUkernel]:
    """Return the first ``numKernels`` kernels of a library, padded with null handles."""
    kernels = list(lib.kernels.values())[:numKernels]
    missing = [cuda.CUkernel(0)] * (numKernels - len(kernels))
    return [cuda.CUkernel(kernel.handle) for kernel in kernels] + missing


@call()
def cuLibraryGetModule(library: LibraryHandle) -> cuda.CUmodule:
    """Return the module of a library in the current context."""
    return cuda.CUmodule(library.module(process.current()).handle)


@call()
def cuLibraryGetGlobal(library: LibraryHandle, name: bytes) -> tuple[cuda.CUdeviceptr, int]:
    """Return address and size of a variable in the current context."""
    module = library.module(process.current())
    address, size = module.variables.find(c_string(name))
    return cuda.CUdeviceptr(address), size


@call()
def cuLibraryGetManaged(library: LibraryHandle, name: bytes) -> tuple[cuda.CUdeviceptr, int]:
    """Return address and size of a managed variable; no context need be current."""
    library.compiled()  # may refuse
    address, size = library.managed.find(c_string(name))
    return cuda.CUdeviceptr(address), size


# --- kernels -------------------------------------------------------------------------------------


@call()
def cuKernelGetFunction(kernel: KernelHandle) -> cuda.CUfunction:
    """Return the function of a kernel in the current context."""
    return cuda.CUfunction(kernel.function(process.current()).handle)


@call()
def cuKernelGetLibrary(kernel: KernelHandle) -> cuda.CUlibrary:
    """Return the library of a kernel."""
    return cuda.CUlibrary(kernel.library.handle)


@call()
def cuKernelGetName(hfunc: KernelHandle) -> bytes:
    """Return the kernel's name in the PTX text."""
    return hfunc.name.encode()


@call()
def cuKernelGetAttribute(
    attrib: cuda.CUfunction_attribute, kernel: KernelHandle, dev: DeviceHandle
) -> int:
    """Return the value of a ``CUfunction_attribute`` on a device."""
    return kernel.attributes(dev.ordinal).get(attrib)


@call()
def cuKernelSetAttribute(
    attrib: cuda.CUfunction_attribute, val: int, kernel: KernelHandle, dev: DeviceHandle
) -> None:
    """Set an attribute on a device; values set by ``cuFuncSetAttribute`` take precedence."""
    kernel.attributes(dev.ordinal).set(attrib, val)


@call()
def cuKernelSetCacheConfig(
    kernel: KernelHandle, config: cuda.CUfunc_cache, dev: DeviceHandle
) -> None:
    """Prefer L1 cache or shared memory for a kernel; no effect here."""
    kernel.attributes(dev.ordinal)  # may refuse
    enum_member(cuda.CUfunc_cache, config)  # may refuse


@call(needs_context=True)
def cuKernelGetParamInfo(kernel: KernelHandle, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter in the parameter buffer; needs a current context."""
    return parameter(kernel.code, paramIndex)


@call()
def cuKernelGetParamCount(kernel: KernelHandle) -> int:
    """Return the number of parameters of a kernel."""
    return len(kernel.code.parameters)
