"""The facts of ``cudarun ctx verify``: sentences about contexts with scripts that check them.

A script is in the language of ``ctx run``. A step without an expectation must succeed; a step with
one must have the given result or value. The facts were observed on an NVIDIA H200 with driver 580
(CUDA 13.0), or are documented in the driver API's manual, sections 6.7 to 6.14.
"""

from __future__ import annotations

import textwrap

from cudarun.records import dataclass
from cudarun.session.contexts.parser import parse_script
from cudarun.session.contexts.script import Script


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about contexts.

    Attributes:
        name: The fact's name.
        sentence: The documented behavior.
        text: The script that checks it.
        note: Differences between drivers or bindings.
        may_crash: The script uses a destroyed handle. The manual does not define the result: an
            error, or the end of the process (an H200's driver has done both).
    """

    name: str
    sentence: str
    text: str
    note: str | None = None
    may_crash: bool = False

    @property
    def lines(self) -> str:
        """Return the script as it is displayed, without its indentation here."""
        return textwrap.dedent(self.text).strip()

    def script(self) -> Script:
        """Parse the script."""
        return parse_script(self.lines, f"fact {self.name}")


FACTS = (
    # --- the stack ---
    Fact(
        "creation-pushes",
        "cuCtxCreate pushes the new context onto the calling thread's stack and makes it current.",
        """
        current == none
        create A == A; current == A
        create B == B; current == B
        pop == B; current == A
        """,
        note="cuCtxCreate takes (params, flags, device) in bindings 13 and (flags, device) in 12; "
        "the behavior is the same.",
    ),
    Fact(
        "one-current-per-thread",
        "Each thread has its own stack of contexts, which is empty at first.",
        """
        create A
        @t1 current == none
        @t1 create B; @t1 current == B
        current == A
        """,
    ),
    Fact(
        "pop-floats",
        "cuCtxPopCurrent makes a context floating; the context below becomes current.",
        """
        create A; create B
        pop == B; current == A
        pop == A; current == none
        push B; current == B
        """,
    ),
    Fact(
        "floating-migrates",
        "Another thread can push a floating context and use its memory.",
        """
        create A; alloc M 4; write M u32:99
        pop == A
        @t1 push A; @t1 read M == 99; @t1 pop == A
        current == none
        """,
    ),
    Fact(
        "shared-by-threads",
        "A context can be current in two threads; each can use the other's allocations.",
        """
        create A
        @t1 set A; @t1 current == A; current == A
        @t1 alloc M 64; free M
        """,
    ),
    Fact(
        "pushed-twice",
        "A context can be on a stack more than once: push and pop nest.",
        """
        create A
        push A; pop == A; current == A
        """,
    ),
    Fact(
        "set-replaces",
        "cuCtxSetCurrent replaces the top of the stack; with none it pops it.",
        """
        create A; create B; create C
        set A; current == A
        pop == A; current == B
        set none; current == A
        """,
    ),
    Fact(
        "none-current",
        "Without a current context, calls that require one return INVALID_CONTEXT.",
        """
        current == none
        alloc M 64 -> INVALID_CONTEXT
        module L builtin -> INVALID_CONTEXT
        stream S -> INVALID_CONTEXT; event E -> INVALID_CONTEXT
        sync -> INVALID_CONTEXT; device -> INVALID_CONTEXT; pop -> INVALID_CONTEXT
        """,
    ),
    Fact(
        "devices-of-contexts",
        "Calls act on the device of the current context.",
        """
        create A dev=0; device == 0
        create B dev=1; device == 1
        pop == B; device == 0
        """,
    ),
    # --- the end of a context ---
    Fact(
        "destroy-pops-its-own",
        "Destroying the current context pops it from the calling thread's stack; destroying "
        "another context does not.",
        """
        create A; create B; create C
        destroy C; current == B
        destroy A; current == B
        """,
    ),
    Fact(
        "destroyed-elsewhere",
        "A context destroyed by another thread stays on the stack, invalid, until it is popped.",
        """
        create A
        @t1 destroy A
        current == A
        alloc M 64 -> CONTEXT_IS_DESTROYED
        pop == A; current == none
        """,
    ),
    Fact(
        "memory-dies",
        "Destroying a context frees its memory.",
        """
        create A; create B; alloc M 1Mi
        destroy B
        read M u32 -> INVALID_VALUE; free M -> INVALID_VALUE
        """,
    ),
    Fact(
        "modules-die",
        "Destroying a context unloads its modules.",
        """
        create A; create B; module M builtin
        destroy B
        unload M -> failure
        """,
        note="The manual does not specify which error an invalid handle gives.",
    ),
    Fact(
        "streams-die",
        "Destroying a context destroys its streams.",
        """
        create A; create B; stream S
        destroy B
        destroy S -> failure
        """,
        note="The manual does not specify the effect of an invalid handle; a driver may crash.",
        may_crash=True,
    ),
    Fact(
        "events-die",
        "Destroying a context destroys its events.",
        """
        create A; create B; event E
        destroy B
        destroy E -> failure
        """,
        note="The manual does not specify the effect of an invalid handle; a driver may crash.",
        may_crash=True,
    ),
    # --- what belongs to a context ---
    Fact(
        "memory-of-another",
        "Memory of one context can be copied while another context of the device is current.",
        """
        create A; alloc M 4; write M u32:5
        create B; current == B
        read M == 5
        """,
    ),
    Fact(
        "streams-of-another",
        "A stream and an event belong to the context that created them; recording requires the "
        "same context.",
        """
        create A; event E
        create B; stream S
        record E S -> INVALID_HANDLE
        """,
    ),
    Fact(
        "modules-of-another",
        "A module belongs to the context that loaded it and to no other.",
        """
        create A; module M builtin; function F M.bump
        create B
        launch F 1 -> INVALID_HANDLE|INVALID_CONTEXT
        pop == B
        launch F 1; sync
        """,
    ),
    Fact(
        "same-symbol-twice",
        "Two modules in one context can define the same variable name; each has its own variable.",
        """
        create A; module M builtin; module N builtin
        global G M.counter; global H N.counter != G
        function F N.bump; launch F 10; sync
        read G u32 == 5; read H u32 == 15
        """,
    ),
    Fact(
        "addresses-unique",
        "Under unified addressing, allocations of different contexts have different addresses.",
        """
        create A; alloc M 64
        create B; alloc N 64 != M
        """,
    ),
    Fact(
        "addresses-unique-across-devices",
        "Under unified addressing, allocations of different devices have different addresses.",
        """
        create A dev=0; alloc M 4; write M u32:1
        create B dev=1; alloc N 4 != M; write N u32:2
        read M == 1; read N == 2
        """,
    ),
    # --- flags, limits and preferences ---
    Fact(
        "flags-read-back",
        "cuCtxGetFlags returns the creation flags; cuCtxSetFlags can change the scheduling flags.",
        """
        create A flags=blocking-sync; flags >= blocking-sync
        create B flags=yield; flags >= yield
        flags spin >= spin
        pop == B; flags >= blocking-sync
        """,
        note="cuCtxSetFlags was added in CUDA 12.1; drivers may add map-host, which is always set.",
    ),
    Fact(
        "lmem-resize-to-max",
        "The flag lmem-resize-to-max is returned by cuCtxGetFlags.",
        "create A flags=yield,lmem-resize-to-max; flags >= yield,lmem-resize-to-max",
    ),
    Fact(
        "limits-per-context",
        "Limits belong to a context: setting one does not change another context.",
        """
        create A; limit stack as before
        create B; limit stack == before
        limit stack=8192 >= 8192
        pop == B; limit stack == before
        """,
    ),
    Fact(
        "limits-rounded",
        "The driver may round a limit up; cuCtxGetLimit returns the actual value.",
        """
        create A
        limit stack=5001 >= 5001
        limit malloc-heap=50000001 >= 50000001
        """,
    ),
    Fact(
        "cache-config-per-context",
        "The cache preference (shared memory or L1) belongs to a context.",
        """
        create A; cache == none
        cache l1 == l1
        create B; cache == none
        pop == B; cache == l1
        """,
    ),
    Fact(
        "attach-detach",
        "cuCtxAttach and cuCtxDetach maintain a usage count, initially 1.",
        """
        create A
        attach == A
        detach A; current == A
        detach A; current == none
        """,
        note="Deprecated since CUDA 4.0.",
    ),
    Fact(
        "creation-cost",
        "Creating another context never increases the free device memory.",
        """
        create A; memory as alone
        create B; memory <= alone
        """,
        note="'cudarun ctx show' reports the milliseconds and MiB.",
    ),
    # --- primary contexts ---
    Fact(
        "primary-counted",
        "The primary context is active while its reference count is positive; retaining it does "
        "not make it current.",
        """
        state == inactive
        retain P; state == active; current == none
        retain P
        release P; state == active
        release P; state == inactive
        release P -> INVALID_CONTEXT
        """,
    ),
    Fact(
        "primary-is-one",
        "A device has one primary context; cuCtxCreate creates contexts beside it.",
        """
        retain P; retain Q == P
        create A != P; current == A; current != P
        """,
    ),
    Fact(
        "primary-of-each-device",
        "Each device has its own primary context.",
        """
        retain P dev=0; retain Q dev=1 != P
        push Q; device == 1; pop == Q
        push P; device == 0
        """,
    ),
    Fact(
        "primary-not-destroyed",
        "cuCtxDestroy refuses a primary context; it can only be released.",
        "retain P; destroy P -> INVALID_CONTEXT; state == active",
    ),
    Fact(
        "primary-released-while-current",
        "A primary context whose last reference is released while it is current stays on the "
        "stack, invalid.",
        """
        retain P; push P
        release P; current == P
        alloc M 64 -> CONTEXT_IS_DESTROYED
        pop == P; current == none
        """,
    ),
    Fact(
        "primary-comes-back",
        "A primary context that is retained again has the same handle and none of its former "
        "contents.",
        """
        retain P; push P; alloc M 64
        release P
        retain Q == P
        free M -> INVALID_VALUE
        """,
    ),
    Fact(
        "primary-reset",
        "cuDevicePrimaryCtxReset frees a primary context's contents even while it is retained.",
        """
        retain P; push P; alloc M 64
        reset
        free M -> failure
        """,
    ),
    Fact(
        "primary-flags",
        "The flags of a primary context can be set before and while it is active.",
        """
        primary-flags blocking-sync == blocking-sync; state == inactive
        retain P; primary-flags == blocking-sync
        primary-flags spin == spin; state == active
        """,
        note="Before CUDA 11, setting the flags of an active one returned PRIMARY_CONTEXT_ACTIVE.",
    ),
    # --- libraries ---
    Fact(
        "library-before-contexts",
        "A library loaded before any context is available in contexts created later; each has its "
        "own variables.",
        """
        current == none
        library L builtin; function F L.bump
        create A; launch F 10; sync
        global G L.counter; read G u32 == 15
        create B
        global H L.counter != G; read H u32 == 5
        launch F 100; sync; read H u32 == 105
        """,
        note="Libraries were added in CUDA 12.0.",
    ),
    Fact(
        "managed-has-one-address",
        "A managed variable of a library has one address and one value in all contexts.",
        """
        library L builtin; function F L.bump
        create A; managed V L.shared_counter; launch F 10; sync
        create B; managed W L.shared_counter == V; global X L.shared_counter == V
        launch F 10; sync; read W u32 == 27
        managed N L.counter -> NOT_FOUND
        """,
        note="Libraries were added in CUDA 12.0.",
    ),
    Fact(
        "managed-across-devices",
        "A managed variable of a library has one address and one value on all devices.",
        """
        library L builtin; function F L.bump
        create A dev=0; managed V L.shared_counter; launch F 10; sync
        create B dev=1; managed W L.shared_counter == V; launch F 10; sync
        read W u32 == 27
        """,
        note="Libraries were added in CUDA 12.0.",
    ),
    # --- the runtime API ---
    Fact(
        "runtime-shares-primary",
        "The runtime API uses the primary context and makes it current on its first call.",
        """
        state == inactive
        runtime-init
        state == active
        retain P; current == P
        runtime-current == P
        """,
        note="Without a current context the runtime API uses the first GPU; runtime-init calls "
        "cudaSetDevice for another.",
    ),
    Fact(
        "runtime-takes-what-is-current",
        "If a context from cuCtxCreate is current, the runtime API uses that context.",
        """
        create A
        runtime-init; current == A
        runtime-current == A
        """,
    ),
    Fact(
        "runtime-pointers",
        "The runtime API accepts pointers from cuMemAlloc.",
        """
        retain P; push P; alloc M 64
        runtime-pointer M == device
        """,
    ),
    # --- faults ---
    Fact(
        "fault-poisons-the-process",
        "After a kernel fault every context of the process fails, including new ones.",
        """
        create A; module M builtin; function F M.store
        @t1 create B; @t1 alloc N 64
        launch F null 1; sync -> ILLEGAL_ADDRESS
        alloc X 64 -> ILLEGAL_ADDRESS
        @t1 alloc Y 64 -> ILLEGAL_ADDRESS
        @t1 create C -> ILLEGAL_ADDRESS
        """,
    ),
    Fact(
        "fault-reaches-other-devices",
        "After a kernel fault the contexts of other devices fail, too.",
        """
        @t1 create B dev=1; @t1 alloc N 64
        create A dev=0; module M builtin; function F M.store
        launch F null 1; sync -> ILLEGAL_ADDRESS
        @t1 alloc Y 64 -> ILLEGAL_ADDRESS
        """,
    ),
    Fact(
        "new-process-recovers",
        "Only a new process recovers from a fault; resetting the primary context does not.",
        """
        create A; module M builtin; function F M.store
        launch F null 1; sync -> ILLEGAL_ADDRESS
        reset -> any
        create B -> failure
        new-process
        create C; alloc N 4; write N u32:5; read N == 5
        module O builtin; function G O.bump; launch G 1; sync
        """,
    ),
)
