"""The types of parameters that are handles: a call gets the objects behind them.

If a handle is not valid, the call returns the error that its type names here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from cudarun.emulator.host.arrays import CudaArray, MipmappedArray
from cudarun.emulator.host.contexts import Context, PrimaryContext
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Graph, Node, UserObject
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction, LoadedLibrary, LoadedModule
from cudarun.emulator.host.pools import Pool
from cudarun.emulator.host.process import process
from cudarun.emulator.host.streams import Event, Stream
from cudarun.emulator.host.textures import SurfaceObject, TextureObject

T = TypeVar("T")


def function_of(handle: Handle) -> LoadedFunction:
    """Return the function behind a ``CUfunction``, or a ``CUkernel``'s in the current context."""
    kernel = process.handles.find(handle_value(handle), LibraryKernel)
    if kernel is not None:
        return kernel.function(process.current())
    return process.handles.get(handle_value(handle), LoadedFunction)


def array_of(handle: Handle) -> CudaArray:
    """Return the array behind a handle."""
    return _array(handle, CudaArray)


def node_of(handle: Handle) -> Node:
    """Return the node behind a handle."""
    return process.handles.get(handle_value(handle), Node, "INVALID_VALUE")


def _array(handle: Handle, kind: type[T]) -> T:
    """Return an array; of a destroyed one the driver says its context is."""
    number = handle_value(handle)
    refusal = "CONTEXT_IS_DESTROYED" if process.handles.is_spent(number) else "INVALID_HANDLE"
    return process.handles.get(number, kind, refusal)


def lookup(kind: type[T], refusal: str = "INVALID_HANDLE") -> Callable[[Handle], T]:
    """Return the function that returns the object behind a handle."""
    return lambda handle: process.handles.get(handle_value(handle), kind, refusal)


DeviceHandle = Annotated[EmulatedDevice, process.device]
PrimaryContextHandle = Annotated[PrimaryContext, process.primary_context]
ContextHandle = Annotated[Context, process.context]
StreamHandle = Annotated[Stream, process.stream]
IdleStreamHandle = Annotated[Stream, process.idle_stream]
EventHandle = Annotated[Event, lookup(Event)]
ModuleHandle = Annotated[LoadedModule, lookup(LoadedModule)]
FunctionHandle = Annotated[LoadedFunction, function_of]
LibraryHandle = Annotated[LoadedLibrary, lookup(LoadedLibrary)]
KernelHandle = Annotated[LibraryKernel, lookup(LibraryKernel)]
ArrayHandle = Annotated[CudaArray, array_of]
MipmappedArrayHandle = Annotated[MipmappedArray, lambda handle: _array(handle, MipmappedArray)]
TextureHandle = Annotated[TextureObject, lookup(TextureObject, "INVALID_VALUE")]
SurfaceHandle = Annotated[SurfaceObject, lookup(SurfaceObject, "INVALID_VALUE")]
GraphHandle = Annotated[Graph, lookup(Graph, "INVALID_VALUE")]
NodeHandle = Annotated[Node, node_of]
ExecutableGraphHandle = Annotated[ExecutableGraph, lookup(ExecutableGraph, "INVALID_VALUE")]
UserObjectHandle = Annotated[UserObject, lookup(UserObject, "INVALID_VALUE")]
PoolHandle = Annotated[Pool, lookup(Pool, "INVALID_VALUE")]
