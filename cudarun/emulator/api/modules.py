"""Modules and functions: driver API, sections 6.12 and 6.22 (execution control)."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda.bindings.driver import (
    CUdeviceptr,
    CUfunc_cache,
    CUfunction,
    CUfunction_attribute,
    CUfunctionLoadingState,
    CUjit_option,
    CUmodule,
    CUmoduleLoadingMode,
)

from cudarun.emulator.api.calls import call, query
from cudarun.emulator.api.contexts import cache_preference
from cudarun.emulator.host.addresses import HostPointer, c_string
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.images import image_bytes, image_file
from cudarun.emulator.host.jit import DriverJitOptions, compile_image
from cudarun.emulator.host.modules import (
    LibraryKernel,
    LoadedFunction,
    LoadedModule,
    loads_eagerly,
    parameter,
)
from cudarun.emulator.host.process import process

Options = Sequence[CUjit_option] | None
OptionValues = Sequence[Any] | None


def _module(handle: Handle) -> LoadedModule:
    return process.handles.get(handle_value(handle), LoadedModule)


def function_of(handle: Handle) -> LoadedFunction:
    """Return the function behind a ``CUfunction``, or a ``CUkernel``'s in the current context."""
    value = handle_value(handle)
    kernel = process.handles.find(value, LibraryKernel)
    if kernel is not None:
        return kernel.function(process.current())
    return process.handles.get(value, LoadedFunction)


# --- modules -------------------------------------------------------------------------------------


@call(1)
def cuModuleLoadData(image: HostPointer) -> CUmodule:
    """Load an image into the current context."""
    return _load(image_bytes(image), DriverJitOptions(0, None, None))


@call(1)
def cuModuleLoadDataEx(
    image: HostPointer, numOptions: int, options: Options, optionValues: OptionValues
) -> CUmodule:
    """Load an image into the current context, with options for its compilation."""
    return _load(image_bytes(image), DriverJitOptions(numOptions, options, optionValues))


@call(1)
def cuModuleLoadFatBinary(fatCubin: HostPointer) -> CUmodule:
    """Load a fat binary into the current context."""
    return _load(image_bytes(fatCubin), DriverJitOptions(0, None, None))


@call(1, needs_context=True)
def cuModuleLoad(fname: bytes) -> CUmodule:
    """Load a file into the current context."""
    return _load(image_file(c_string(fname)), DriverJitOptions(0, None, None))


def _load(image: bytes, options: DriverJitOptions) -> CUmodule:
    context = process.current()
    module = LoadedModule(context, compile_image(image, options), options, process.host_memory)
    return CUmodule(module.handle)


@call(waits=True, during_capture=CaptureRule.UNSAFE)
def cuModuleUnload(hmod: Handle) -> None:
    """Unload a module from its context."""
    module = _module(hmod)
    process.ready(module.context.device)
    module.destroy()


@query(1)
def cuModuleGetLoadingMode() -> CUmoduleLoadingMode:
    """Return lazy, or eager if ``CUDA_MODULE_LOADING`` is ``EAGER``."""
    if loads_eagerly():
        return CUmoduleLoadingMode.CU_MODULE_EAGER_LOADING
    return CUmoduleLoadingMode.CU_MODULE_LAZY_LOADING


@call(1)
def cuModuleGetFunction(hmod: Handle, name: bytes) -> CUfunction:
    """Return a kernel of a module by name."""
    return CUfunction(_module(hmod).function(c_string(name)).handle)


@call(1)
def cuModuleGetFunctionCount(mod: Handle) -> int:
    """Return the number of kernels of a module."""
    return len(_module(mod).compiled.kernel_names)


@call(1)
def cuModuleEnumerateFunctions(numFunctions: int, mod: Handle) -> list[CUfunction]:
    """Return the first ``numFunctions`` kernels of a module, padded with null handles."""
    functions = _module(mod).functions(numFunctions)
    missing = [CUfunction(0)] * (numFunctions - len(functions))
    return [CUfunction(function.handle) for function in functions] + missing


@call(2)
def cuModuleGetGlobal(hmod: Handle, name: bytes) -> tuple[CUdeviceptr, int]:
    """Return address and size of a variable of a module."""
    address, size = _module(hmod).variable(c_string(name))
    return CUdeviceptr(address), size


# --- functions -----------------------------------------------------------------------------------


@call(1)
def cuFuncGetAttribute(attrib: CUfunction_attribute, hfunc: Handle) -> int:
    """Return the value of a ``CUfunction_attribute``."""
    return function_of(hfunc).attributes.get(attrib)


@call()
def cuFuncSetAttribute(hfunc: Handle, attrib: CUfunction_attribute, value: int) -> None:
    """Set an attribute that is not read-only."""
    function_of(hfunc).attributes.set(attrib, value)


@call()
def cuFuncSetCacheConfig(hfunc: Handle, config: CUfunc_cache) -> None:
    """Prefer L1 cache or shared memory for a function; no effect here."""
    function_of(hfunc)
    cache_preference(config)


@call(1)
def cuFuncGetModule(hfunc: Handle) -> CUmodule:
    """Return the module of a function."""
    return CUmodule(function_of(hfunc).module.handle)


@call(1)
def cuFuncGetName(hfunc: Handle) -> bytes:
    """Return the function's name in the PTX text."""
    return function_of(hfunc).code.name.encode()


@call(2)
def cuFuncGetParamInfo(func: Handle, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter in the parameter buffer."""
    return parameter(function_of(func).code, paramIndex)


@call(1)
def cuFuncGetParamCount(func: Handle) -> int:
    """Return the number of parameters of a function."""
    return len(function_of(func).code.parameters)


@call(1)
def cuFuncIsLoaded(function: Handle) -> CUfunctionLoadingState:
    """Return the lazy-loading state of a function."""
    loaded = function_of(function).loaded
    return CUfunctionLoadingState(int(loaded))


@call()
def cuFuncLoad(function: Handle) -> None:
    """Load a function now; fails if it cannot run on this device."""
    loaded = function_of(function)
    loaded.check_implemented()
    loaded.loaded = True
