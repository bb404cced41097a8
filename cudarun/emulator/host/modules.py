"""Loaded code: modules and their functions, libraries and their kernels.

Driver API, sections 6.12 (modules) and 6.14 (libraries). A library belongs to no context: it
becomes a module in each context at its first use there. A kernel likewise becomes a function.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field

from cuda.bindings.driver import CUfunction_attribute as Attribute

from cudarun.base.records import dataclass
from cudarun.emulator.host.contexts import Context, ContextObject
from cudarun.emulator.host.devices import attribute_value, current_profile
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.hostmemory import HostMemory
from cudarun.emulator.host.jit import CompiledModule, DriverJitOptions
from cudarun.emulator.host.occupancy import registers_per_thread
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.memory import Memory, OutOfMemory
from cudarun.emulator.program import KernelCode, ModuleCode, VariableCode
from cudarun.ptx.errors import ptxas_log

_DEFAULT_SHARED = attribute_value("MAX_SHARED_MEMORY_PER_BLOCK")
_MOST_THREADS = attribute_value("MAX_THREADS_PER_BLOCK")
_NEWEST_ATTRIBUTE = int(Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
_CLUSTER = (
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
)
_SETTABLE = {
    Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    *_CLUSTER,
}


def loads_eagerly() -> bool:
    """Return whether ``CUDA_MODULE_LOADING`` requests eager loading; lazy is the default."""
    return os.environ.get("CUDA_MODULE_LOADING", "").upper() == "EAGER"


class FunctionAttributes:
    """The ``CUfunction_attribute`` values of a kernel, including those that a program has set.

    Args:
        architecture: The target of its PTX, ``80`` for ``sm_80``.
        of_kernel: The attributes of the library's kernel, which apply where none is set here.
    """

    def __init__(
        self, code: KernelCode, architecture: int, of_kernel: FunctionAttributes | None = None
    ) -> None:
        self._set: dict[Attribute, int] = {}
        self._of_kernel = of_kernel
        # As on a GPU, .reqntid does not lower the maximum number of threads.
        threads = code.max_threads if code.required_block is None else _MOST_THREADS
        self._defaults: dict[Attribute, int] = {
            Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: threads,
            Attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: code.static_shared,
            Attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: code.const_bytes,
            Attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: code.local_bytes,
            Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS: registers_per_thread(code),
            Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION: architecture,
            Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION: current_profile().architecture,
            Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: max(
                _DEFAULT_SHARED - code.static_shared, 0
            ),
            Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: -1,
            **dict(zip(_CLUSTER, code.required_cluster or (0, 0, 0), strict=True)),
        }
        self._static_shared = code.static_shared

    def get(self, attribute: Attribute) -> int:
        """Return a value; `Refusal` if there is no such attribute."""
        attribute = _known(attribute)
        if attribute in self._set:
            return self._set[attribute]
        if self._of_kernel is not None:
            return self._of_kernel.get(attribute)
        return self._defaults.get(attribute, 0)

    def set(self, attribute: Attribute, value: int) -> None:
        """Set a value; `Refusal` if it is read-only, or the value is out of range."""
        attribute = _known(attribute)
        refuse_if(attribute not in _SETTABLE, f"{attribute.name} cannot be set")
        if attribute == Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            most = current_profile().shared_optin - self._static_shared
            words = f"{value} bytes of dynamic shared memory exceed the maximum of {most}"
            refuse_if(not 0 <= value <= most, words)
        if attribute == Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT and (
            not -1 <= value <= 100
        ):
            raise Refusal("INVALID_VALUE", f"the carveout is {value}; it must be -1 to 100")
        refuse_if(attribute in _CLUSTER and value < 0, f"a cluster dimension is {value}")
        self._set[attribute] = value

    def required_cluster(self) -> tuple[int, int, int] | None:
        """Return the cluster that every launch must have, if one was set."""
        width, height, depth = (self.get(attribute) for attribute in _CLUSTER)
        return (width, height, depth) if width and height and depth else None


def _known(attribute: Attribute) -> Attribute:
    if not 0 <= int(attribute) <= _NEWEST_ATTRIBUTE:
        raise Refusal("INVALID_VALUE", f"{int(attribute)} is not a CUfunction_attribute")
    return Attribute(int(attribute))


def parameter(code: KernelCode, index: int) -> tuple[int, int]:
    """Return offset and size of a kernel's parameter; `Refusal` past the last one."""
    if not 0 <= index < len(code.parameters):
        raise Refusal("INVALID_VALUE", f"{code.name} has {len(code.parameters)} parameters")
    return code.parameters[index]


def kernel_code(compiled: CompiledModule, name: str, options: DriverJitOptions) -> KernelCode:
    """Return the code of a kernel; `Refusal` if it does not compile, logged by ``options``."""
    with options.logging_errors():
        return compiled.kernel(name)


@dataclass(eq=False)
class LoadedFunction:
    """A kernel in one context (``CUfunction``)."""

    module: LoadedModule
    code: KernelCode
    attributes: FunctionAttributes
    kernel: LibraryKernel | None = None
    loaded: bool = field(default_factory=loads_eagerly)

    def __post_init__(self) -> None:
        self.handle = self.module.context.handles.add(self)

    def check_implemented(self) -> None:
        """Raise `Refusal` if the kernel cannot run on this device; the error log gets why."""
        if self.code.unimplemented:
            log = ptxas_log(self.code.unimplemented)
            self.module.options.append("error", log)
            raise Refusal("INVALID_PTX", log)


class LoadedModule(ContextObject):
    """A program loaded into a context: its variables have addresses there (``CUmodule``).

    That of a library has the managed variables of the library.
    """

    def __init__(
        self,
        context: Context,
        compiled: CompiledModule,
        options: DriverJitOptions,
        host_memory: HostMemory,
        *,
        library: LoadedLibrary | None = None,
    ) -> None:
        self.context = context
        self.compiled = compiled
        self.options = options
        self.library = library
        memory = context.device.memory
        self.variables = ModuleVariables(compiled.program, memory, host_memory, library)
        self._functions: dict[str, LoadedFunction] = {}
        self.enter()

    def function(self, name: str) -> LoadedFunction:
        """Return a kernel by name; `Refusal` if there is none, or it cannot run here."""
        if name not in self.compiled.kernel_names:
            raise Refusal("NOT_FOUND", f"the module does not contain a kernel '{name}'")
        function = self._function(name)
        function.check_implemented()
        return function

    def functions(self, count: int) -> list[LoadedFunction]:
        """Return the first kernels, those that cannot run here included."""
        return [self._function(name) for name in self.compiled.kernel_names[:count]]

    def _function(self, name: str) -> LoadedFunction:
        function = self._functions.get(name)
        if function is None:
            code = kernel_code(self.compiled, name, self.options)
            self.variables.allocate()
            kernel = self.library.kernels[name] if self.library else None
            of_kernel = kernel.attributes(self.context.device.ordinal) if kernel else None
            attributes = FunctionAttributes(code, self.compiled.architecture, of_kernel)
            function = self._functions[name] = LoadedFunction(self, code, attributes, kernel)
        return function

    def end(self) -> None:
        """Free the variables and make the handles of the functions invalid."""
        for function in self._functions.values():
            self.context.handles.remove(function.handle)
        super().end()
        self.variables.release()


class ModuleVariables:
    """The variables of a program, allocated and initialized."""

    def __init__(
        self,
        program: ModuleCode,
        memory: Memory,
        host_memory: HostMemory,
        library: LoadedLibrary | None = None,
    ) -> None:
        self._program = program
        self._memory, self._host_memory = memory, host_memory
        self._allocations: list[tuple[Memory, int]] = []
        self.addresses: dict[str, int] = dict(library.managed.addresses) if library else {}
        self.allocate()

    def allocate(self) -> None:
        """Allocate and initialize the variables that are new, as those of a compiled function.

        Raises:
            OutOfMemory: There is not enough memory; then all are released.
            Refusal: An initial value has no address.
        """
        variables = self._program.variables
        if len(variables) == len(self.addresses):
            return
        new = [each for each in variables.values() if each.name not in self.addresses]
        try:
            for variable in new:
                self._allocate(variable, self._host_memory if variable.managed else self._memory)
            for variable in new:
                self._fill(variable, self._host_memory if variable.managed else self._memory)
        except (OutOfMemory, Refusal):
            self.release()
            raise

    def _allocate(self, variable: VariableCode, memory: Memory) -> None:
        address = memory.allocate(
            max(variable.size, 1), alignment=variable.alignment, label=f"variable {variable.name}"
        )
        self._allocations.append((memory, address))
        self.addresses[variable.name] = address

    def _fill(self, variable: VariableCode, memory: Memory) -> None:
        contents = bytearray(variable.initial)
        for relocation in variable.relocations:
            value = self._target(relocation.symbol) + relocation.addend
            if relocation.mask is not None:
                shift = (relocation.mask & -relocation.mask).bit_length() - 1
                value = (value & relocation.mask) >> shift
            value &= (1 << 8 * relocation.width) - 1
            contents[relocation.offset : relocation.offset + relocation.width] = value.to_bytes(
                relocation.width, "little"
            )
        memory.bytes_at(self.addresses[variable.name], len(contents))[:] = memoryview(contents)

    def _target(self, symbol: str) -> int:
        for addresses in (self._program.functions, self.addresses):
            if symbol in addresses:
                return addresses[symbol]
        raise Refusal(
            "INVALID_IMAGE", f"'{symbol}' in an initializer has no address on the emulated device"
        )

    def find(self, name: str) -> tuple[int, int]:
        """Return address and size by name; `Refusal` if there is none."""
        variable = self._program.variables.get(name)
        if variable is None:
            raise Refusal("NOT_FOUND", f"the code does not contain a variable '{name}'")
        return self.addresses[name], variable.size

    def release(self) -> None:
        """Free the memory."""
        for memory, address in self._allocations:
            memory.free(address)
        self._allocations.clear()


class LibraryKernel:
    """A kernel of a library, independent of contexts (``CUkernel``)."""

    def __init__(self, library: LoadedLibrary, name: str, handles: HandleTable) -> None:
        self.library = library
        self.name = name
        self.handle = handles.add(self)
        self._attributes: dict[int, FunctionAttributes] = {}

    @property
    def code(self) -> KernelCode:
        """Its code; `Refusal` if it does not compile."""
        return kernel_code(self.library.compiled(), self.name, self.library.options)

    def attributes(self, ordinal: int) -> FunctionAttributes:
        """Return its attributes on a device; set there, they apply in all contexts of it."""
        if ordinal not in self._attributes:
            architecture = self.library.compiled().architecture
            self._attributes[ordinal] = FunctionAttributes(self.code, architecture)
        return self._attributes[ordinal]

    def function(self, context: Context) -> LoadedFunction:
        """Return its function in a context; `Refusal` if it cannot run here."""
        return self.library.module(context).function(self.name)


class LoadedLibrary:
    """Code loaded once for all contexts (``CUlibrary``)."""

    def __init__(
        self,
        compiled: CompiledModule | Refusal,
        options: DriverJitOptions,
        handles: HandleTable,
        host_memory: HostMemory,
    ) -> None:
        # The code, or the refusal that using it must meet: the driver accepts any image, even when
        # ``CUDA_MODULE_LOADING`` says ``EAGER``.
        self._compiled = compiled
        self.options = options  # the options of the load, with its logs
        self._handles = handles
        self._host_memory = host_memory
        self._modules: list[LoadedModule] = []
        names: Iterable[str] = ()
        managed = ModuleCode({}, {})
        if isinstance(compiled, CompiledModule):
            names, program = compiled.kernel_names, compiled.program
            variables = {name: code for name, code in program.variables.items() if code.managed}
            managed = ModuleCode({}, variables, program.functions)
        # Its managed variables, with the same addresses in every context; they come before handles,
        # because memory for them may be missing.
        self.managed = ModuleVariables(managed, host_memory, host_memory)
        # Its kernels by name; empty if it did not compile.
        self.kernels = {name: LibraryKernel(self, name, handles) for name in names}
        self.handle = handles.add(self)

    def compiled(self) -> CompiledModule:
        """The code; `Refusal` if it did not compile."""
        if isinstance(self._compiled, Refusal):
            raise self._compiled
        return self._compiled

    def kernel(self, name: str) -> LibraryKernel:
        """Return a kernel by name; `Refusal` if there is none, or the image did not compile."""
        self.compiled()
        kernel = self.kernels.get(name)
        if kernel is None:
            raise Refusal("NOT_FOUND", f"the library does not contain a kernel '{name}'")
        kernel_code(self.compiled(), name, self.options)
        return kernel

    def module(self, context: Context) -> LoadedModule:
        """Return its module in a context."""
        module = context.libraries.get(self.handle)
        if module is None:
            module = LoadedModule(
                context, self.compiled(), self.options, self._host_memory, library=self
            )
            context.libraries[self.handle] = module
            self._modules.append(module)
        return module

    def unload(self) -> None:
        """Unload it from every context and make its handles invalid."""
        for module in self._modules:
            if module.context.libraries.pop(self.handle, None) is module:
                module.destroy()
        for kernel in self.kernels.values():
            self._handles.remove(kernel.handle)
        self._handles.remove(self.handle)
        self.managed.release()
