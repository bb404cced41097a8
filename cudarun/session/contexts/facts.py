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
        "A context is current as soon as it is created, above the one that was current before.",
        """
        current == none
        create A == A; current == A
        create B == B; current == B
        pop == B; current == A
        """,
        note="cuCtxCreate takes (params, flags, device) in bindings 13 and (flags, device) in 12; "
        "what it does is the same.",
    ),
    Fact(
        "one-current-per-thread",
        "Every thread has a current context of its own, and begins without one.",
        """
        create A
        @t1 current == none
        @t1 create B; @t1 current == B
        current == A
        """,
    ),
    Fact(
        "pop-floats",
        "pop leaves a context floating, on no stack, and restores the one below it.",
        """
        create A; create B
        pop == B; current == A
        pop == A; current == none
        push B; current == B
        """,
    ),
    Fact(
        "floating-migrates",
        "A floating context can be pushed by another thread, and its memory comes with it.",
        """
        create A; alloc M 4; write M u32:99
        pop == A
        @t1 push A; @t1 read M == 99; @t1 pop == A
        current == none
        """,
    ),
    Fact(
        "shared-by-threads",
        "Two threads can have the same context current, and what one makes the other can use.",
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
        "set replaces the current context, and set none takes it off.",
        """
        create A; create B; create C
        set A; current == A
        pop == A; current == B
        set none; current == A
        """,
    ),
    Fact(
        "none-current",
        "With no current context, what needs one is refused with INVALID_CONTEXT.",
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
        "The device that calls work on is that of the current context.",
        """
        create A dev=0; device == 0
        create B dev=1; device == 1
        pop == B; device == 0
        """,
    ),
    # --- the end of a context ---
    Fact(
        "destroy-pops-its-own",
        "Destroying the current context takes it off this thread's stack; another leaves it.",
        """
        create A; create B; create C
        destroy C; current == B
        destroy A; current == B
        """,
    ),
    Fact(
        "destroyed-elsewhere",
        "Destroyed by another thread, a context stays on the stack, dead, until it is popped.",
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
        "Memory is gone with its context.",
        """
        create A; create B; alloc M 1Mi
        destroy B
        read M u32 -> INVALID_VALUE; free M -> INVALID_VALUE
        """,
    ),
    Fact(
        "modules-die",
        "A module is gone with its context.",
        """
        create A; create B; module M builtin
        destroy B
        unload M -> failure
        """,
        note="The manual leaves open which error a dead handle gives.",
    ),
    Fact(
        "streams-die",
        "A stream is gone with its context.",
        """
        create A; create B; stream S
        destroy B
        destroy S -> failure
        """,
        note="The manual leaves open what a dead handle does; a driver may crash.",
        may_crash=True,
    ),
    Fact(
        "events-die",
        "An event is gone with its context.",
        """
        create A; create B; event E
        destroy B
        destroy E -> failure
        """,
        note="The manual leaves open what a dead handle does; a driver may crash.",
        may_crash=True,
    ),
    # --- what belongs to a context ---
    Fact(
        "memory-of-another",
        "Memory of one context can be copied while another of the device is current: the address "
        "says whose it is.",
        """
        create A; alloc M 4; write M u32:5
        create B; current == B
        read M == 5
        """,
    ),
    Fact(
        "streams-of-another",
        "A stream and an event must be of one context: each belongs to the one it was made in.",
        """
        create A; event E
        create B; stream S
        record E S -> INVALID_HANDLE
        """,
    ),
    Fact(
        "modules-of-another",
        "A module is in the context it was loaded into and in no other.",
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
        "Two modules with a variable of the same name live in one context, each with its own.",
        """
        create A; module M builtin; module N builtin
        global G M.counter; global H N.counter != G
        function F N.bump; launch F 10; sync
        read G u32 == 5; read H u32 == 15
        """,
    ),
    Fact(
        "addresses-unique",
        "Under unified addressing an address is in use once, whatever the context.",
        """
        create A; alloc M 64
        create B; alloc N 64 != M
        """,
    ),
    Fact(
        "addresses-unique-across-devices",
        "Under unified addressing an address is in use once, whatever the device.",
        """
        create A dev=0; alloc M 4; write M u32:1
        create B dev=1; alloc N 4 != M; write N u32:2
        read M == 1; read N == 2
        """,
    ),
    # --- flags, limits and preferences ---
    Fact(
        "flags-read-back",
        "The flags that a context was created with are told, and how it waits can be changed.",
        """
        create A flags=blocking-sync; flags >= blocking-sync
        create B flags=yield; flags >= yield
        flags spin >= spin
        pop == B; flags >= blocking-sync
        """,
        note="cuCtxSetFlags is of CUDA 12.1; drivers may add map-host, which is always in force.",
    ),
    Fact(
        "lmem-resize-to-max",
        "The flag that keeps local memory at its largest size is kept with the context.",
        "create A flags=yield,lmem-resize-to-max; flags >= yield,lmem-resize-to-max",
    ),
    Fact(
        "limits-per-context",
        "Limits are a context's own, and so is what was set.",
        """
        create A; limit stack as before
        create B; limit stack == before
        limit stack=8192 >= 8192
        pop == B; limit stack == before
        """,
    ),
    Fact(
        "limits-rounded",
        "The driver may round a limit up; what it made of it can be read.",
        """
        create A
        limit stack=5001 >= 5001
        limit malloc-heap=50000001 >= 50000001
        """,
    ),
    Fact(
        "cache-config-per-context",
        "The preference for shared memory or L1 is a context's own.",
        """
        create A; cache == none
        cache l1 == l1
        create B; cache == none
        pop == B; cache == l1
        """,
    ),
    Fact(
        "attach-detach",
        "attach and detach are accepted for compatibility: a count of uses, from 1 on.",
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
        "One more context costs device memory or none: never is more free than before it.",
        """
        create A; memory as alone
        create B; memory <= alone
        """,
        note="'cudarun ctx show' says how many milliseconds and MiB.",
    ),
    # --- primary contexts ---
    Fact(
        "primary-counted",
        "The primary context is active while someone holds it, and not current for being retained.",
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
        "A device has one primary context, and created ones are none of it.",
        """
        retain P; retain Q == P
        create A != P; current == A; current != P
        """,
    ),
    Fact(
        "primary-of-each-device",
        "Every device has a primary context of its own.",
        """
        retain P dev=0; retain Q dev=1 != P
        push Q; device == 1; pop == Q
        push P; device == 0
        """,
    ),
    Fact(
        "primary-not-destroyed",
        "A primary context is released, never destroyed.",
        "retain P; destroy P -> INVALID_CONTEXT; state == active",
    ),
    Fact(
        "primary-released-while-current",
        "Released by its last holder while it is current, it stays on the stack, dead.",
        """
        retain P; push P
        release P; current == P
        alloc M 64 -> CONTEXT_IS_DESTROYED
        pop == P; current == none
        """,
    ),
    Fact(
        "primary-comes-back",
        "Retained again it has the same handle, and nothing of what was in it.",
        """
        retain P; push P; alloc M 64
        release P
        retain Q == P
        free M -> INVALID_VALUE
        """,
    ),
    Fact(
        "primary-reset",
        "reset gives back what is in the primary context, whoever holds it.",
        """
        retain P; push P; alloc M 64
        reset
        free M -> failure
        """,
    ),
    Fact(
        "primary-flags",
        "The flags of a primary context can be set before it is active, and while it is.",
        """
        primary-flags blocking-sync == blocking-sync; state == inactive
        retain P; primary-flags == blocking-sync
        primary-flags spin == spin; state == active
        """,
        note="Before CUDA 11 those of an active one were refused: PRIMARY_CONTEXT_ACTIVE.",
    ),
    # --- libraries ---
    Fact(
        "library-before-contexts",
        "A library loaded before any context is in those made later, with variables for each.",
        """
        current == none
        library L builtin; function F L.bump
        create A; launch F 10; sync
        global G L.counter; read G u32 == 15
        create B
        global H L.counter != G; read H u32 == 5
        launch F 100; sync; read H u32 == 105
        """,
        note="Libraries are of CUDA 12.0.",
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
        note="Libraries are of CUDA 12.0.",
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
        note="Libraries are of CUDA 12.0.",
    ),
    # --- the runtime API ---
    Fact(
        "runtime-shares-primary",
        "The runtime API works in the primary context, and makes it current on its first call.",
        """
        state == inactive
        runtime-init
        state == active
        retain P; current == P
        runtime-current == P
        """,
        note="Where nothing is current the runtime API takes the first GPU; runtime-init calls "
        "cudaSetDevice for another.",
    ),
    Fact(
        "runtime-takes-what-is-current",
        "Where a created context is current, the runtime API works in that one.",
        """
        create A
        runtime-init; current == A
        runtime-current == A
        """,
    ),
    Fact(
        "runtime-pointers",
        "A pointer from cuMemAlloc is one for the runtime API.",
        """
        retain P; push P; alloc M 64
        runtime-pointer M == device
        """,
    ),
    # --- faults ---
    Fact(
        "fault-poisons-the-process",
        "After a kernel's fault every context of the process fails, also new ones.",
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
        "After a kernel's fault the contexts of other devices fail too.",
        """
        @t1 create B dev=1; @t1 alloc N 64
        create A dev=0; module M builtin; function F M.store
        launch F null 1; sync -> ILLEGAL_ADDRESS
        @t1 alloc Y 64 -> ILLEGAL_ADDRESS
        """,
    ),
    Fact(
        "new-process-recovers",
        "Only a new process recovers from a fault; resetting the primary context does not help.",
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
