"""The memory that compiled code and its caller share, as offsets in bytes.

* A **context** has pointers to everything else, and the state of the run. There is one per
  **slot**, in which a block runs; those of a cluster follow each other.
* A **cache entry** belongs to one access of the code: the region that it accessed last.
* A **tensor entry** belongs to one tensor copy of the code: the tensor map that it used last.
* A **warp state** has the masks of a warp's waiting lanes, and its registers while they wait.
* A **frame** has the state of the lanes that have called an outlined function.
* The **scratch** has a column per operand, by which values pass between code and caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.numerics.arrays import Array

# The context.
RUNNING = 0  # not 0 while a block, or the cluster that begins here, runs in the slot
CONSTANTS = 8
CACHE = 16
BLOCK_REGISTERS = 24  # of the block that runs: a word per register
LANE_REGISTERS = 32  # a row per register: a word per thread, padded to whole warps
SCRATCH = 40
STATES = 48
CALLBACK = 56
BLOCK = 64  # the number of the block that runs
TICKS = 72  # jumps back in this slot until the next call of the callback
SHARED = 80
SHARED_STRIDE = 88
LANE_ROW = 96  # bytes of a row of the lane registers
WARPS = 104
THREADS = 112
SLOTS = 120
CLUSTER = 128  # blocks of a cluster
AT_ONCE = 136  # the number of blocks that begin together; more while those seem to wait
SHARED_BYTES = 144
LOCAL_BYTES = 152  # of a thread
SITE = 160  # of the last callback,
CALLING_WARP = 164  # its warp
CALLING_MASK = 168  # and the lanes that ran
FRAMES = 176  # of calls, for the warp that runs
TENSORS = 184  # the tensor entries
CONCURRENT = 192  # not 0 if other threads run blocks of the launch
EPOCH = 200  # the block and its epoch, as words of shadow memory have them
SUSPECTED = 208  # not 0 if a detector may have a finding
SHARED_SHADOW = 216
SHARED_SHADOW_BYTES = 224
SHARED_MARKS = 232  # of unwritten bytes
SHARED_MARKS_BYTES = 240
LOCAL_MARKS = 248
LOCAL_MARKS_BYTES = 256
LOCAL = 264
LOCAL_SIZE = 272  # of the threads of a block, if the kernel uses it
BARRIER = 280  # the number of the barrier that lanes wait at, from 1 on, for a detector
SHARED_START = 288  # the address of the first byte of shared memory that threads can access
TESTS = 296  # the last tests of mbarrier objects: a row of warps for each instruction
TESTS_BYTES = 304
SHARED_RESERVED = 312  # bytes of shared memory that the system has, and that are zero
FIRST_TURN = 320  # the warp, or the cluster, that runs first in a round, modulo their number
COPIES = 328  # for detectors, a list of ``cp.async`` copies of each warp,
COPIES_BYTES = 336  # and bytes from one to the next
READ_PARTS = 344  # the parts of shared memory that are read, or have been since the last barrier
ARRIVING = 352  # the number of copies in the list of the block, which is after those of the warps
RELEASED = 360  # the number of phases that whole warps have waited for since the last barrier
CONTEXT_BYTES = 384  # whole cache lines

# A cache entry: addresses from BASE on, of which COUNT ones are valid for an access.
BASE = 0
COUNT = 8
HOST = 16  # the host address of BASE
LANE_STRIDE = 24  # from one thread's memory to the next one's
UNWRITTEN = 32  # the host address of the marks of unwritten bytes, or null
SHARED_COUNT = 40  # COUNT if all lanes access the same memory, else 0
ROW_COUNT = 48  # the same for the first of 16 lanes whose accesses follow one another
CLUSTER_STRIDE = 56  # of shared memory, from one block's to the next one's in the cluster; else 0
SHADOW = 64  # the host address of the shadow of BASE, or null
CACHE_BYTES = 72

# The first bits of the epoch and the block in a word of shadow memory, whose highest field is it.
SHADOW_EPOCH, SHADOW_BLOCK, _SHADOW_END = 31, 47, 64
SHADOW_WORD = 8  # bytes of the shadow of a unit
SHADOW_READ, SHADOW_WRITE, SHADOW_ATOMIC = 1, 2, 4  # the kinds of accesses
READ_GROUPS = 4  # of asynchronous reads, of which a warp has the parts of shared memory
COPY_BYTES, COPY_GROUPS = 16, 32 * 4  # bytes of a copy in a list, and of what precedes them
MOST_BLOCKS = (1 << _SHADOW_END - SHADOW_BLOCK) - 2  # others stand for no block, and for many

# A tensor entry, of words of 8 bytes. Boxes that are not in the tensor as a whole are no concern
# of compiled code.
TENSOR_MAP = 0  # a copy of the tensor map
TENSOR_MAP_ADDRESS = 128
TENSOR_MAP_HOST = 136
TENSOR_HOST = 144  # the host address of the first element
TENSOR_UNWRITTEN = 152  # the host address of its mark, or null
TENSOR_CHUNKS = 160  # the number of chunks of 16 bytes in a box
TENSOR_OFFSETS = 168  # the host address of their offsets: all in the tensor, all in shared memory
TENSOR_SPAN = 176  # bytes of shared memory from the first chunk to the end of the last one
TENSOR_SWIZZLE = 184  # the bits of an address, from bit 7 on, that are added to those from bit 4 on
TENSOR_LIMITS = 192  # of each dimension, the largest coordinate
TENSOR_STEPS = 232  # and the bytes from one element to the next
TENSOR_SHADOW = 272  # the host address of the shadow of the first element
TENSOR_BYTES = 280
TENSOR_RANK = 5  # the most dimensions
TENSOR_MAP_BYTES = 128
NO_ADDRESS = (1 << 64) - 1  # of a map: none was used

# Columns of the scratch.
COLUMN_BYTES = 32 * 16
COLUMNS = 288  # wgmma has the most operands

_LANE_WORDS = 32 * 4
_CACHE_LINE = 64

BARRIER_ROUNDS = 4  # how often a lane can arrive at a barrier, until it is only counted
_BARRIERS = 16

# The answers of the callback.
RETRY, DONE, FAULT, PREEMPT = 0, 1, 2, 3

# The answers of ``step``: all lanes have exited or wait, a fault, others have to run.
WAITS, FAILS, YIELDS = 0, 1, 2

# The answers of a round of a block, or of a cluster: combined by a bitwise or.
ENDED, BLOCKED = 0, 4

# The answers of ``advance``: lanes wait, or continue with the first or the second block.
DISPATCHED, FIRST, SECOND = 0, 1, 2

OBJECT_SIZE = 8  # bytes of an mbarrier object

DEADLOCK_SITE = -1
MEETING_SITE = -2
STALL_SITE = -3  # of no warp: blocks wait, and there is no slot for another one
ENDED_SITE = -4  # of no warp: a block, or a cluster, that follows a schedule has ended
TICK_SITE = -5  # after the basic block 0; one less after each next one


class WarpState:
    """The layout of a warp's state.

    Args:
        blocks: The number of basic blocks, and of other places where lanes continue.
        barriers: The number of barriers in the code.
        warp_barriers: The number of barriers of warps.
        cluster_barriers: The number of waits for the cluster.
        has_clusters: Whether lanes arrive at the barrier of the cluster.
        counted: Whether arrivals at barriers are counted by their numbers.
        kept: The bytes of each register that is kept while lanes wait, by slot.
    """

    ALIVE = 0
    RESUMED = 4  # not 0 if the registers have been saved
    YIELDED = 8  # the lanes that can run, of a warp that has let others run
    TURN = 12  # the block that lanes ran last out of order
    POLLED = 16  # the block that they have just jumped back to
    SYNCS = 20  # the synchronizations of the whole warp since the last barrier
    PASSED = 24  # the lanes that have executed code after one that others may wait at
    MEETING = 28  # not 0 if lanes have begun to wait for others that may be at another place
    HIDDEN = 32  # the lanes that wait while others take their turn
    SAVED = 36  # the lanes whose registers are to be saved,
    LEAVES = 40  # and whether ``step`` is left then
    RESTORED = 44  # the lanes whose registers are to be restored,
    RESUMES = 48  # and whether it is their turn then
    COPYING = 52  # the number of copies in the list of the warp
    UNSEEN = 56  # not 0 if the async proxy may not see what the warp knows,
    WAITED = 60  # how many of these phases, in this order, the warp has waited for
    UNSEEN_OWN, UNSEEN_OTHERS = 1, 2  # its own writes, or those of other warps

    def __init__(
        self,
        blocks: int,
        barriers: int = 0,
        warp_barriers: int = 0,
        cluster_barriers: int = 0,
        *,
        has_clusters: bool = False,
        counted: bool = False,
        kept: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.blocks = blocks
        self.counted = counted
        words = _LANE_WORDS * counted
        end = _CACHE_LINE
        # Of the parts with masks of lanes, and with words of all lanes, by name.
        self.offsets: dict[str, int] = {}
        for name, size in (
            ("read_parts", 16 * (READ_GROUPS + 1)),  # of shared memory, by queue and group
            ("pending", 4 * blocks),  # the lanes that can run each block
            ("parked", 4 * blocks),  # those that wait there for others of their member mask
            ("waiting", 4 * barriers),  # those that wait at each barrier,
            ("warp_waiting", 4 * warp_barriers),  # at each barrier of their warp,
            ("cluster_waiting", 4 * cluster_barriers),  # and for their cluster
            ("warp_members", _LANE_WORDS * bool(warp_barriers)),  # member masks of waiting lanes
            ("cluster_arrived", _LANE_WORDS * has_clusters),  # how often lanes have arrived,
            ("cluster_waited", _LANE_WORDS * has_clusters),  # and waited
            ("barrier_arrived", 4 * BARRIER_ROUNDS * _BARRIERS * counted),  # lanes, by turn
            ("barrier_extra", 4 * _BARRIERS * counted),  # the number of more arrivals
            ("barrier_number", words),  # of the barrier at which each lane waits
            ("barrier_expected", words),  # the threads that each lane waits for; 0 for all
            ("barrier_held", words),  # the number of true predicates that each lane gets,
            ("barrier_total", words),  # and of all predicates
            ("barrier_given", 4 * counted),  # the lanes with a true predicate
            ("barrier_done", 4 * counted),  # those that a complete barrier releases,
            ("barrier_rest", 4 * counted),  # and that wait for more threads than have arrived
        ):
            self.offsets[name] = end
            end += size
        self.mask_bytes = end
        self.registers: dict[int, int] = {}  # the offset of each register that is kept, by slot
        for slot, size in kept.items():
            self.registers[slot] = end = _aligned(end)
            end += size
        self.size = _aligned(end)  # bytes

    def mask(self, name: str, place: int = 0) -> int:
        """Return the offset of a mask in a part."""
        return self.offsets[name] + 4 * place

    def pending(self, block: int) -> int:
        """Return the offset of the mask of the lanes that can run a basic block."""
        return self.mask("pending", block)

    def parked(self, block: int) -> int:
        """Return the offset of that of lanes that wait for others of their member mask there."""
        return self.mask("parked", block)


def _aligned(offset: int) -> int:
    return -(-offset // _CACHE_LINE) * _CACHE_LINE


def aligned_bytes(count: int) -> Array:
    """Return zeros that begin at a cache line."""
    memory = np.zeros(count + _CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + count]


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """The layout of the frames of calls, which follow one another; the first one is of no call."""

    first: int  # the first basic block of the functions that are called
    blocks: int  # the number of basic blocks
    stack_bytes: int  # the least bytes of the stack that a call takes
    saved_bytes: int  # the most bytes of the registers that a call saves

    TOP = 0  # in the first frame: the address of the current one
    CALL = 8  # the basic block of the call
    PENDING = 12  # the other lanes of the warp that could run,
    HIDDEN = 16  # and those that other lanes have taken turns with
    RETURNED = 20  # the lanes that have returned
    _MASKS = 64

    def pending(self, block: int) -> int:
        """Return the offset of the mask of the lanes that can run a basic block."""
        return self._MASKS + 4 * block

    @property
    def saved(self) -> int:
        """The offset of the saved registers."""
        return _aligned(self.pending(self.blocks))

    @property
    def size(self) -> int:
        """Bytes of a frame."""
        return self.saved + self.saved_bytes

    def count(self, stack_bytes: int) -> int:
        """Return the most frames of a warp whose threads have a stack of so many bytes."""
        return stack_bytes // self.stack_bytes + 2
