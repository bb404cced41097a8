"""Cases of calls whose arguments and results are registers, where the function has parameters."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case


def calls() -> Iterator[Case]:
    """As people write them; compilers put ``.param`` variables around each call."""
    both = ("u32",), ("u32",)
    yield Case("call of registers", "call.uni (%d0), twice, (%a0);", *both, lanes=64)
    some = "setp.gt.s32 %p0, %a0, 0; mov.u32 %d0, 0; @!%p0 bra over; {} over:"
    call = "call (%d0), twice, (%a0);"
    yield Case("call of registers of some", some.format(call), *both, lanes=64)
    single = "mov.u32 %t0, 11; call (%d0), twice, (%t0);"
    yield Case("call of one value", single, (), ("u32",), lanes=32)
    yield Case("call of one value by some", some.format(single), *both, lanes=64)
    indirect = (
        "mov.u64 %w0, twice; setp.gt.s32 %p0, %a0, 0; @%p0 mov.u64 %w0, thrice; "
        "kind: .callprototype (.param .b32 _) _ (.param .b32 _); call (%d0), %w0, (%a0), kind;"
    )
    yield Case("call indirect of registers", indirect, *both, lanes=64)
    to_register = "{ .param .b32 x; st.param.b32 [x], %a0; call (%d0), thrice, (x); }"
    yield Case("call to a register", to_register, *both, lanes=64)
    of_register = "{ .param .b32 y; call (y), thrice, (%a0); ld.param.b32 %d0, [y]; }"
    yield Case("call of a register", of_register, *both, lanes=64)
