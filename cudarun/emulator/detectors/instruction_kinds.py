"""The kinds of instructions in statistics, by the PTX manual's chapter 9.7."""

from __future__ import annotations

_KINDS = {
    "load": "ld ldu tex tld4 suld cp ldmatrix",
    "store": "st sust stmatrix",
    "atomic": "atom red",
    "fence": "membar fence",
    "barrier": "bar barrier mbarrier",
    "warp": "shfl vote match redux activemask elect",
    "matrix": "mma wmma movmatrix wgmma tcgen05",
    "control": "bra brx call ret exit trap brkpt",
    "compare": "setp set selp slct testp",
    "convert": "cvt cvta cvt.pack",
    "move": "mov mapa getctarank isspacep prmt alloca stacksave stackrestore",
    "logic": "and or xor not cnot lop3 shl shr shf popc clz bfind fns brev bfe bfi szext bmsk",
    "hint": "prefetch prefetchu discard applypriority nanosleep pmevent griddepcontrol setmaxnreg",
}
_KIND_OF = {opcode: kind for kind, opcodes in _KINDS.items() for opcode in opcodes.split()}
_FLOATING = ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2")


def kind_of(name: str) -> str:
    """Return the kind of an instruction by its name with modifiers: ``add.rn.f32``, ``"floating"``.

    Arithmetic is ``"floating"`` or ``"integer"`` by its type.
    """
    opcode, *modifiers = name.split(".")
    if opcode == "wmma" and modifiers[:1] in (["load"], ["store"]):
        return modifiers[0]
    kind = _KIND_OF.get(opcode)
    if kind is not None:
        return kind
    return "floating" if any(word in _FLOATING for word in modifiers) else "integer"
