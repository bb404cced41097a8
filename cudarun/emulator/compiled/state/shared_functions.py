"""Functions that several places of a module call: equal code is defined once.

What differs from place to place, numbers and registers, the code gets from its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, NumberParameter
from cudarun.emulator.compiled.state.registers import WarpRegisters

PARAMETERS = "ptr %ctx, i32 %warp, ptr %state, i32 %mask"  # the parameters that all of them have


class SharedFunctions:
    """The functions of a module by their code. Each returns whether there was a fault.

    Args:
        code: The code that calls them.
        enter: Adds the code that defines the values that all code of a warp can use.
    """

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, enter: Callable[[], None]
    ) -> None:
        self._code = code
        self._registers = registers
        with code.separately():
            enter()
            self._entry, self._entry_names = code.lines, code.names

    def compiled(
        self, compile_: Callable[[str], None], registers: dict[int, str]
    ) -> tuple[str, list[NumberParameter]]:
        """Return the code of a function, and the numbers that it gets.

        Args:
            compile_: ``compile_(mask)`` adds the code.
            registers: The memory of the registers that it uses, by slot.
        """
        code, outer = self._code, self._registers.mask
        with code.separately(self._entry_names), self._registers.named(registers):
            self._registers.mask = code.from_mask("%mask")
            compile_("%mask")
            body, numbers = "\n".join(code.lines), code.numbers or []
        self._registers.mask = outer
        return body, numbers

    def define(
        self, parameters: str, before: Iterable[str], body: str, after: Iterable[str]
    ) -> str:
        """Define a function, maybe again; return its name.

        Args:
            parameters: Its parameters after those that all have.
            before: The code before its body.
            after: The code after it.
        """
        lines = [
            f"define hidden i1 @({PARAMETERS}, {parameters}) noinline #0 {{",
            *("entry:", *self._entry, *before, body, *after),
        ]
        if "label %fault" in body:
            lines += ["fault:", "  ret i1 true"]
        return self._code.module.define_once("shared", "\n".join([*lines, "}"]))
