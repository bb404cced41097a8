"""The PTX ISA beyond the instruction tables, to name what is not implemented.

The tables define what the emulated device implements; this module lists the other instructions of
the manual and their modifiers. An error can thus distinguish invalid PTX from PTX that is not
implemented.
"""

from __future__ import annotations

from functools import cache

from cudarun.emulator.isa import table
from cudarun.emulator.isa.modifiers import misplaced
from cudarun.emulator.isa.requirements import is_newer

VERSION = (9, 0)  # the version of the manual


def _words(text: str) -> list[str]:
    return text.split()


# Instructions without rows, by opcode and the words that tell them apart: control flow, which is
# decoded to blocks and edges, and those that are not implemented.
_OTHER_INSTRUCTIONS = _words("""
    bra brx.idx call ret exit trap brkpt bar barrier bar.warp.sync barrier.cluster
    multimem.ld_reduce multimem.st multimem.red
""")

# Opcodes with every form that ptxas of CUDA 13.0 accepts for sm_90.
WHOLE = (
    frozenset(
        _words("""
    add sub mul mad div rem abs neg min max sad popc clz brev cnot not and or xor sqrt rsqrt
    sin cos lg2 ex2 tanh copysign testp selp slct setp mul24 mad24 bfind fns bfe bfi szext
    bmsk dp4a dp2a addc subc madc lop3 shf shl shr prmt mov cvta isspacep prefetchu
    createpolicy discard applypriority nanosleep pmevent vote shfl match activemask elect redux
""")
    )
    | table.opcodes("scalar_video")
    | table.opcodes("video")
)

# Modifiers that only instructions and forms have that are not implemented.
_OTHER_WORDS = frozenset(
    _words("""
    2dms a2dms acc::f16 acc::f32 addr_mode_0 addr_mode_1 addr_mode_2 array_size channel_data_type
    channel_order filter_mode force_unnormalized_coords im2col::w im2col::w::128 memory_layout
    normalized_coords num_mipmap_levels num_samples ue4m3x2
""")
    + [f"m64n{n}k256" for n in range(8, 257, 8)]
)
# Words that ptxas knows only as parts of the names of certain instructions.
_NAME_WORDS = frozenset(
    _words("""
    after_thread_sync arrive arrive_drop base before_thread_sync bulk commit commit_group
    complete_tx cp_fenceproxy expect_tx fence fractional full grad group hi init inval
    ld_reduce level lo load mask mma_async parity pending_count prefetch proxy query_cancel
    red reduce relinquish_alloc_permit replace store tensor test_wait to try_cancel try_wait
    wait_all wait_group warp wide ws
""")
)


@cache
def opcodes() -> frozenset[str]:
    """Return every opcode of PTX."""
    return table.opcodes().union(name.split(".")[0] for name in _OTHER_INSTRUCTIONS)


@cache
def modifiers() -> frozenset[str]:
    """Return every word that modifies an instruction of PTX, or is part of its name."""
    found = set(_OTHER_WORDS | _NAME_WORDS)
    for opcode in opcodes():
        found |= _own_words(opcode)
    return frozenset(found)


def is_known(opcode: str, words: tuple[str, ...]) -> bool:
    """Return whether the opcode and all words of an instruction are in PTX of `VERSION`."""
    return opcode in opcodes() and modifiers().issuperset(words)


@cache
def _own_words(opcode: str) -> frozenset[str]:
    """Return the words of an opcode's rows and names."""
    found: set[str] = set()
    for row in table.forms(opcode):
        for word, _ in row.words:
            found.update(row.classes.get(word) or word.split("."))
    for name in _OTHER_INSTRUCTIONS:
        first, *rest = name.split(".")
        if first == opcode:
            found.update(rest)
    return frozenset(found)


def is_instruction(name: str) -> bool:
    """Return whether a name is an opcode of PTX, perhaps with modifiers of it: ``ld.global.v4``."""
    opcode, *words = name.split(".")
    known = _own_words(opcode) if opcode in table.opcodes() else modifiers()
    return opcode in opcodes() and known.issuperset(words)


def missing(opcode: str, words: tuple[str, ...]) -> tuple[str, str]:
    """Return the name of an instruction that no form matches, and the details of a form of one."""
    name = ".".join((opcode, *words))
    if opcode not in table.opcodes():
        return f"instruction '{name}'", ""
    return f"this form of '{opcode}'", f": '{name}'"


def illegal(opcode: str, words: tuple[str, ...]) -> str | None:
    """Return ptxas's error for an instruction that no form matches, unless PTX defines it."""
    if is_newer(opcode, words):
        return None
    if opcode not in opcodes():
        return f"Not a name of any known instruction: '{opcode}'"
    for word in words:
        elsewhere = opcode in table.opcodes() and word in _NAME_WORDS - _own_words(opcode)
        if elsewhere or word not in modifiers():
            return f"Unknown modifier '.{word}'"
    displaced = misplaced(opcode, words)
    if displaced is not None:
        return f"Unknown modifier '.{displaced}'"
    wrong = None
    if opcode in ("atom", "red"):
        from cudarun.emulator.isa.atomics import illegal_atomic  # see `table`

        wrong = illegal_atomic(opcode, words)
    elif opcode in table.opcodes("scalar_video"):
        from cudarun.emulator.isa.scalar_video import illegal_video

        wrong = illegal_video(opcode, words)
    if wrong is not None:
        return wrong
    if opcode == "isspacep" and words == ("param::func",):
        return "Illegal modifier '::func' for instruction 'isspacep'"
    if opcode in WHOLE:
        return f"'{'.'.join((opcode, *words))}' is not a form of instruction '{opcode}' for sm_90"
    return None
