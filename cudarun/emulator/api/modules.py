"""Modules and functions: driver API, sections 6.12 and 6.22 (execution control)."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call, query
from cudarun.emulator.api.handles import FunctionHandle, ModuleHandle
from cudarun.emulator.host.addresses import HostPointer, c_string
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.images import image_bytes, image_file
from cudarun.emulator.host.jit import DriverJitOptions, compile_image
from cudarun.emulator.host.modules import LoadedModule, loads_eagerly, parameter
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import enum_member

Options = Sequence[cuda.CUjit_option] | None
OptionValues = Sequence[object] | None


# --- modules -------------------------------------------------------------------------------------


@call()
def cuModuleLoadData(image: HostPointer) -> cuda.CUmodule:
    """Load an image into the current context."""
    return _load(image_bytes(image), DriverJitOptions(0, None, None))


@call()
def cuModuleLoadDataEx(
    image: HostPointer, numOptions: int, options: Options, optionValues: OptionValues
) -> cuda.CUmodule:
    """Load an image into the current context, with options for its compilation."""
    return _load(image_bytes(image), DriverJitOptions(numOptions, options, optionValues))


@call()
def cuModuleLoadFatBinary(fatCubin: HostPointer) -> cuda.CUmodule:
    """Load a fat binary into the current context."""
    return _load(image_bytes(fatCubin), DriverJitOptions(0, None, None))


@call(needs_context=True)
def cuModuleLoad(fname: bytes) -> cuda.CUmodule:
    """Load a file into the current context."""
    return _load(image_file(c_string(fname)), DriverJitOptions(0, None, None))


def _load(image: bytes, options: DriverJitOptions) -> cuda.CUmodule:
    context = process.current()
    module = LoadedModule(context, compile_image(image, options), options, process.host_memory)
    return cuda.CUmodule(module.handle)


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE)
def cuModuleUnload(hmod: ModuleHandle) -> None:
    """Unload a module from its context."""
    process.ready(hmod.context.device)
    hmod.destroy()


@query()
def cuModuleGetLoadingMode() -> cuda.CUmoduleLoadingMode:
    """Return lazy, or eager if ``CUDA_MODULE_LOADING`` is ``EAGER``."""
    if loads_eagerly():
        return cuda.CUmoduleLoadingMode.CU_MODULE_EAGER_LOADING
    return cuda.CUmoduleLoadingMode.CU_MODULE_LAZY_LOADING


@call()
def cuModuleGetFunction(hmod: ModuleHandle, name: bytes) -> cuda.CUfunction:
    """Return a kernel of a module by name."""
    return cuda.CUfunction(hmod.function(c_string(name)).handle)


@call()
def cuModuleGetFunctionCount(mod: ModuleHandle) -> int:
    """Return the number of kernels of a module."""
    return len(mod.compiled.kernel_names)


@call()
def cuModuleEnumerateFunctions(numFunctions: int, mod: ModuleHandle) -> list[cuda.CUfunction]:
    """Return the first ``numFunctions`` kernels of a module, padded with null handles."""
    functions = mod.functions(numFunctions)
    missing = [cuda.CUfunction(0)] * (numFunctions - len(functions))
    return [cuda.CUfunction(function.handle) for function in functions] + missing


@call()
def cuModuleGetGlobal(hmod: ModuleHandle, name: bytes) -> tuple[cuda.CUdeviceptr, int]:
    """Return address and size of a variable of a module."""
    address, size = hmod.variables.find(c_string(name))
    return cuda.CUdeviceptr(address), size


# --- functions -----------------------------------------------------------------------------------


@call()
def cuFuncGetAttribute(attrib: cuda.CUfunction_attribute, hfunc: FunctionHandle) -> int:
    """Return the value of a ``CUfunction_attribute``."""
    return hfunc.attributes.get(attrib)


@call()
def cuFuncSetAttribute(
    hfunc: FunctionHandle, attrib: cuda.CUfunction_attribute, value: int
) -> None:
    """Set an attribute that is not read-only."""
    hfunc.attributes.set(attrib, value)


@call()
def cuFuncSetCacheConfig(hfunc: FunctionHandle, config: cuda.CUfunc_cache) -> None:
    """Prefer L1 cache or shared memory for a function; no effect here."""
    enum_member(cuda.CUfunc_cache, config)  # may refuse


@call()
def cuFuncGetModule(hfunc: FunctionHandle) -> cuda.CUmodule:
    """Return the module of a function."""
    return cuda.CUmodule(hfunc.module.handle)


@call()
def cuFuncGetName(hfunc: FunctionHandle) -> bytes:
    """Return the function's name in the PTX text."""
    return hfunc.code.name.encode()


@call()
def cuFuncGetParamInfo(func: FunctionHandle, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter in the parameter buffer."""
    return parameter(func.code, paramIndex)


@call()
def cuFuncGetParamCount(func: FunctionHandle) -> int:
    """Return the number of parameters of a function."""
    return len(func.code.parameters)


@call()
def cuFuncIsLoaded(function: FunctionHandle) -> cuda.CUfunctionLoadingState:
    """Return the lazy-loading state of a function."""
    loaded = function.loaded
    return cuda.CUfunctionLoadingState(int(loaded))


@call()
def cuFuncLoad(function: FunctionHandle) -> None:
    """Load a function now; fails if it cannot run on this device."""
    function.check_implemented()
    function.loaded = True
