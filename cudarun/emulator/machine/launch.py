"""The state of one launch that all its batches share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cudarun.base.profiles import DEFAULT, profiles
from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, FunctionCode, Role, Site
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.child_grids import ChildGrid, ChildQueue, DeviceServices, GridFamily
from cudarun.emulator.machine.printf import PrintBuffer
from cudarun.emulator.machine.report import Report
from cudarun.emulator.machine.spaces import RESERVED_SHARED, Section
from cudarun.emulator.memory import UNDEFINED_BYTE, Memory
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import Type, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.heap import DeviceHeap
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.observer import Observer
    from cudarun.emulator.machine.schedules.schedule import OverlappingGrid, Schedule
    from cudarun.emulator.machine.textures.texels import Surface
    from cudarun.emulator.machine.textures.texture import Texture
    from cudarun.emulator.machine.threads import Threads
    from cudarun.emulator.program import KernelCode, ModuleCode


DEFAULT_STACK = 1024
DEFAULT_PRINTF_FIFO = 8650752
OPERATION_WORK = 4096  # of an operation, besides its lanes
_PRODUCT_WORK = 8  # of an element of a matrix that is multiplied by another one and added
_CALL_WORK = 16384  # of a lane's call of printf, malloc or free
_LOCAL_LIMIT = 512 << 10
_LARGEST_BATCH = 1 << 16
_SMALLEST_BATCH = 1 << 10
_REGISTER_BYTES = 8 << 20  # of one batch: about the size of a core's caches
_BATCH_MEMORY = 512 << 20  # shared and local memory of a batch, except where one cluster has more
_RECURSIVE_BATCH = 1 << 11
_SHARED_UNIT = 128  # bytes in which shared memory is allocated
_LARGEST_ID = (1 << 64) - 1

_DEFAULT = profiles()[DEFAULT]
# Where the reserved shared memory of a block is on an H200 with the driver of CUDA 13.0.
_RESERVED_SHARED = {"%reserved_smem_offset_end": 288, "%reserved_smem_offset_cap": RESERVED_SHARED}


class RepeatedLaunch(Protocol):
    """A launch that the interpreter repeats if compiled code faults."""

    def withhold(self, text: str) -> None:
        """Keep what it would print on stderr."""

    def run(self, interpret: Callable[[], object]) -> str:
        """Restore the memory, and interpret the launch; return what is left to print."""


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """The configuration of a launch; sizes in bytes.

    ``parameters`` is the whole parameter buffer, ``cluster`` is ``None`` for a launch without
    clusters, which are of one block then, ``stack_limit`` is ``CU_LIMIT_STACK_SIZE``,
    ``printf_fifo`` is ``CU_LIMIT_PRINTF_FIFO_SIZE``, ``textures`` and ``surfaces`` are the
    objects by handle, ``grid_id`` is ``%gridid``, ``services`` serve the functions of the device
    runtime, ``resident_blocks`` returns how many blocks fit on the device at once, of a kernel,
    their threads and the dynamic shared memory; without it only their threads count, ``schedule``
    makes the choices that the interpreter otherwise makes in the same way, ``overlap`` is the
    grid as others can overlap with it.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    dynamic_shared: int = 0
    cooperative: bool = False
    cluster: tuple[int, int, int] | None = None
    stack_limit: int = DEFAULT_STACK
    printf_fifo: int = DEFAULT_PRINTF_FIFO
    heap: DeviceHeap | None = None
    textures: Mapping[int, Texture] = field(default_factory=dict)
    surfaces: Mapping[int, Surface] = field(default_factory=dict)
    grid_id: int = 1
    services: DeviceServices | None = None
    resident_blocks: Callable[[KernelCode, int, int], int] | None = None
    schedule: Schedule | None = None
    overlap: OverlappingGrid | None = None


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """The properties of the device that a kernel can query."""

    ordinal: int = 0
    multiprocessors: int = _DEFAULT.multiprocessors
    threads_per_multiprocessor: int = _DEFAULT.threads
    architecture: int = _DEFAULT.architecture


@dataclass(eq=False)
class Launch:
    """One launch of a kernel.

    Attributes:
        kernel_function: Its code.
        printed: The text printed so far.
        block_threads: Threads per block.
        blocks: Blocks of the grid.
        cluster: Blocks per cluster in each dimension.
        cluster_blocks: Blocks per cluster.
        excluded: The number of blocks that cannot begin because others fill the device.
        parameters: The parameter buffer, padded.
        reserved_bytes: The part of the reserved shared memory that threads have access to.
        shared_start: The first address of shared memory that they have access to.
        shared_bytes: Shared memory of a block from there on, including the dynamic part.
        shared_stride: Bytes from one block's shared memory to the next one's.
        local_bytes: Local memory that a lane can access.
        local_stride: Bytes from one lane's local memory to the next one's.
        functions: The functions of the program by name.
        running: The batch that is being executed.
        find_running: Returns that of compiled code.
        ended: A lower bound of the number of completed blocks.
        work: The work of the interpreter so far, in lanes that an operation of one value takes
            about 2 ns for. Unlike the time that it took, it is the same in every run.
        is_compiling: Whether it waits for its kernel to be compiled.
        repetition: The repetition by the interpreter if the launch faults, or ``None``.
        hands_over: Returns whether another engine runs the blocks that have not run; the argument
            has the basic blocks that the running batch has executed, by their numbers.
        batch_size: Returns the number of blocks of the next batch, of the largest number.
        children: The grids that it has launched and that have not run.
        constant_variables: Address and bytes of each ``.const`` variable of the module.
    """

    program: ModuleCode  # the module of the kernel
    kernel: KernelCode
    config: LaunchConfig  # grid, block and so on
    memories: Sequence[Memory]  # of global addresses
    symbols: Mapping[str, int]  # the addresses of the variables of the program
    device: DeviceTraits
    grid_workspace: int  # memory for the barrier of a cooperative grid; 0 in other launches
    observer: Observer  # notified of the actions of the launch
    # What it shares with the grids that it descends from; by default there are none.
    family: GridFamily = field(default_factory=GridFamily)
    origin: ChildGrid | None = None  # the launch by a kernel; ``None`` for one by the host

    def __post_init__(self) -> None:
        program, kernel, config = self.program, self.kernel, self.config
        self.children = ChildQueue(self.family)
        self.printed = PrintBuffer(config.printf_fifo)
        self.functions = program.code
        self.kernel_function = program.code[kernel.name]
        self.block_threads = prod(config.block)
        self.blocks = prod(config.grid)
        self.take_last: Callable[[], bool] = lambda: False
        padded = config.parameters + bytes(-len(config.parameters) % 16 + 16)
        self.parameters = np.frombuffer(padded, dtype=np.uint8).copy()  # aligned
        self.parameters.flags.writeable = False
        self.reserved_bytes = RESERVED_SHARED if kernel.reads_reserved else 0
        self.shared_start = RESERVED_SHARED - self.reserved_bytes
        self.shared_bytes = self.reserved_bytes + kernel.static_shared + config.dynamic_shared
        self.shared_stride = _round_up(max(self.shared_bytes, 1), 128)
        self.cluster = config.cluster or (1, 1, 1)
        self.cluster_blocks = prod(self.cluster)
        self.has_ranks = kernel.has_ranks and self.cluster_blocks > 1
        self.excluded = 0
        stack = config.stack_limit if self.kernel_function.grows_stack else 0
        self.local_stride = min(_round_up(kernel.local_bytes + stack + 16, 16), _LOCAL_LIMIT)
        extent = kernel.local_extent
        self.local_bytes = self.local_stride if extent is None else extent
        self.running: Batch | None = None
        self.find_running: Callable[[], Batch | None] | None = None
        self.ended = 0
        self.work = 0
        self.is_compiling = False
        self.hands_over: Callable[[Collection[int]], bool] = lambda executed: False
        self.batch_size: Callable[[int], int] = lambda size: size
        self.repetition: RepeatedLaunch | None = None
        self.constant_variables = tuple(
            (self.symbols[variable.name], variable.size)
            for variable in program.variables.values()
            if variable.space == "const" and variable.name in self.symbols
        )
        self._in_order = list(program.code.values())
        self._starts = [function.base for function in self._in_order]

    @cached_property
    def resident_blocks(self) -> int:
        """The maximum number of blocks in progress at one time, of whole clusters."""
        config, device, threads = self.config, self.device, self.block_threads
        resident = device.threads_per_multiprocessor // threads * device.multiprocessors
        if config.resident_blocks is not None:
            resident = config.resident_blocks(self.kernel, threads, config.dynamic_shared)
        return self.whole_clusters(resident) or self.cluster_blocks

    @cached_property
    def constants(self) -> dict[str, int]:
        """Special registers with one value for the whole launch; the others are 0."""
        grid, block, cluster = self.config.grid, self.config.block, self.cluster
        warps = self.device.threads_per_multiprocessor // 32
        shared = self.kernel.static_shared + self.config.dynamic_shared
        values = {
            "%nwarpid": warps,
            "%nsmid": self.device.multiprocessors,
            "%gridid": self.config.grid_id & _LARGEST_ID,
            "%dynamic_smem_size": self.config.dynamic_shared,
            "%total_smem_size": _round_up(shared, _SHARED_UNIT),
            "%aggr_smem_size": RESERVED_SHARED + shared,
            "%is_explicit_cluster": int(self.config.cluster is not None),
            "%cluster_nctarank": self.cluster_blocks,
            **_RESERVED_SHARED,
            # Read by the cooperative groups header to find the barrier of a grid.
            "%envreg1": self.grid_workspace >> 32,
            "%envreg2": self.grid_workspace & 0xFFFFFFFF,
        }
        for axis, g, b, c in zip("xyz", grid, block, cluster, strict=True):
            values[f"%nctaid.{axis}"] = g
            values[f"%ntid.{axis}"] = b
            values[f"%cluster_nctaid.{axis}"] = c
            values[f"%nclusterid.{axis}"] = g // c
        return values

    @property
    def fixed_inputs(self) -> tuple[object, ...]:
        """Inputs of the values that all lanes have in common.

        Launches of a kernel with equal inputs have the same values.
        """
        config, symbols = self.config, tuple(self.symbols.values())
        shape = (config.grid, config.block, config.cluster, config.dynamic_shared)
        return config.parameters, shape, config.grid_id, self.grid_workspace, self.device, symbols

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Note that it waits for its kernel to be compiled."""
        self.is_compiling = True
        try:
            yield
        finally:
            self.is_compiling = False

    def count_products(self, count: int) -> None:
        """Count the multiplications of an operation on matrices as work."""
        self.work += _PRODUCT_WORK * count

    def count_calls(self, count: int) -> None:
        """Count calls of functions of the device, one per lane, as work."""
        self.work += _CALL_WORK * count

    def begin_again(self) -> None:
        """Discard what blocks have printed and how many have ended."""
        self.printed.take()
        self.ended = self.work = 0
        self.running = self.find_running = None
        self.hands_over, self.batch_size = lambda executed: False, lambda size: size
        self.repetition = None

    @property
    def is_serial(self) -> bool:
        """True if it has one thread: there is no order of threads that it could show."""
        return self.blocks * self.block_threads == 1

    @property
    def uses_local(self) -> bool:
        """True if its threads have local variables, or the frames of functions."""
        return self.kernel.local_bytes > 0 or self.kernel_function.grows_stack

    @property
    def shares_memory(self) -> bool:
        """True if the program can access memory of it while it runs."""
        return any(memory.used for memory in self.memories[1:])

    @property
    def launches_grids(self) -> bool:
        """True if its grid is a child, or its module has kernels that kernels launch."""
        kernels = self.program.kernels.keys()
        return self.origin is not None or any(
            function.symbols & kernels for function in self.functions.values()
        )

    @property
    def unused_variables(self) -> set[int]:
        """The addresses of the variables that neither its kernel nor a function refers to."""
        kernels = self.program.kernels.keys() - {self.kernel.name}
        used: set[str] = set()
        for name, function in self.functions.items():
            if name not in kernels:
                used |= function.symbols
        return {address for name, address in self.symbols.items() if name not in used}

    # --- code ------------------------------------------------------------------------------------

    def locate(self, number: int) -> tuple[FunctionCode, BlockCode]:
        """Return the function and block with an index in the program."""
        function = self._in_order[bisect_right(self._starts, number) - 1]
        return function, function.blocks[number - function.base]

    def function_at(self, address: int) -> FunctionCode | None:
        """Return the function that a pointer points to."""
        for name, start in self.program.functions.items():
            if start == address:
                return self.functions.get(name)
        return None

    def address_of(self, space: str, name: str) -> int:
        """Return the address of a variable in its space, or of a function."""
        if space == "shared":
            return self.kernel.shared[name]
        if space == "func":
            return self.program.functions[name]
        return self.symbols[name]

    def undefine(self, section: Section) -> None:
        """Fill memory of blocks with `UNDEFINED_BYTE`, except what the system has in it."""
        section.bytes[:] = UNDEFINED_BYTE
        if section.name == "shared":
            section.bytes.reshape(-1, self.shared_stride)[:, : self.reserved_bytes] = 0

    def parameter(self, offset: int, ptx_type: Type) -> Array:
        """Return a value in the parameter buffer, as an array of one."""
        values = self.parameters[offset : offset + ptx_type.bytes].view(ptx_type.dtype)
        if ptx_type.kind is TypeKind.PREDICATE or ptx_type.elements == 1:
            return values
        return values.reshape(1, ptx_type.elements)

    # --- batches ---------------------------------------------------------------------------------

    def blocks_per_batch(self) -> int:
        """Return the number of blocks per batch: as many as have their registers in the cache."""
        if self.config.cooperative:
            return self.blocks
        function = self.kernel_function
        if any(getattr(action, "cancels_launches", False) for action in function.actions):
            return self.cluster_blocks  # so that there are some that have not begun
        per_lane = sum(slot.type.bytes for slot in function.slots if slot.role is Role.REGISTER)
        lanes = _REGISTER_BYTES // max(per_lane, 1)
        lanes = min(max(lanes, _SMALLEST_BATCH), _LARGEST_BATCH)
        if self.kernel.recursive:
            lanes = min(lanes, _RECURSIVE_BATCH)
        most = min(lanes // self.block_threads, self.blocks_in_memory, self.resident_blocks)
        return min(self.whole_clusters(most) or self.cluster_blocks, self.blocks)

    def cancel(self) -> int | None:
        """Leave out the last cluster that has not begun; return its first block, if there is one.

        It is for a running block, which does its work.
        """
        if not self.take_last():
            return None
        self.blocks -= self.cluster_blocks
        return self.blocks

    def whole_clusters(self, blocks: int) -> int:
        """Return the most blocks of whole clusters among so many."""
        return blocks // self.cluster_blocks * self.cluster_blocks

    @property
    def blocks_in_memory(self) -> int:
        """The number of blocks whose shared and local memory a batch may have; 0 if not one."""
        return _BATCH_MEMORY // (self.shared_stride + self.block_threads * self.local_stride)

    def stack_overflow(
        self, threads: Threads, lane: int, function: FunctionCode, site: Site | None
    ) -> DeviceFault:
        """Return the fault of a lane whose stack has no room for another frame."""
        report = Report(self, f"stack overflow in a call of {function.name}")
        report.lines.append(
            f"  the stack of {self.local_stride} bytes per thread is exhausted "
            f"(CU_LIMIT_STACK_SIZE is {self.config.stack_limit})"
        )
        report.at(site)
        report.name(threads, lane)
        return report.fault(700)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
