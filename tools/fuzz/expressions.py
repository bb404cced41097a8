"""Hostile checks and printed expressions, evaluated over arrays of every type."""

from __future__ import annotations

import random

import numpy as np

from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.statements import parse_check
from cudarun.arguments.expressions.syntax import CASTS, CONSTANTS, FUNCTIONS
from cudarun.arguments.expressions.tolerance import Tolerance
from tools.fuzz import text
from tools.fuzz.fuzzer import Fuzzer

_RANDOM = np.random.default_rng(1)
VALUES = {
    "x": np.arange(8, dtype=np.float32),
    "y": np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38], np.float32),
    "m": np.arange(12, dtype=np.float64).reshape(3, 4),
    "i": np.array([0, -1, 2**31 - 1, -(2**31)], np.int32),
    "u": np.array([0, 1, 2**64 - 1], np.uint64),
    "h": np.arange(4, dtype=np.float16),
    "b": np.array([True, False]),
    "e": np.zeros(0, np.float32),
    "n": np.int32(8),
    "a": np.float32(2),
    "big": _RANDOM.random((4, 300)),
    "s": np.zeros(3, [("left", "i4"), ("right", "f4")]),
}
"""The arguments that expressions refer to."""

_NAMES = (*VALUES, *CONSTANTS)
_OPERATORS = (
    *("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<="),
    *(">", ">=", " and ", " or "),
)
_CALLS = (*FUNCTIONS, *CASTS, "old")
_WORDS = (
    *_NAMES, *_OPERATORS, *_CALLS, *text.NUMBERS, "not", "~", ".T", "axis=", "keepdims=", "rtol=",
    "atol=", "ddof=", ":", "...", "(", ")", "[", "]", ",", '["left"]', '"ij,jk->ik"', 'load("x")',
)  # fmt: skip
_NUMBERS = ("0", "1", "2", "-1", "3", "0.5", "1e30", "nan", "inf", "300", "70000")


def expression(chance: random.Random, depth: int) -> str:
    """Return an expression that mostly parses."""

    def part() -> str:
        return expression(chance, depth - 1)

    kind = chance.randrange(12) if depth else chance.randrange(3)
    match kind:
        case 0 | 1:
            return chance.choice(_NAMES)
        case 2:
            return chance.choice(_NUMBERS)
        case 3 | 4 | 5:
            return f"({part()}{chance.choice(_OPERATORS)}{part()})"
        case 6:
            return f"{part()}[{_index(chance, depth)}]"
        case 7:
            return f"{chance.choice(('-', '~', 'not ', '+'))}{part()}"
        case 8:
            return f"[{part()}, {part()}]"
        case _:
            name = chance.choice(_CALLS)
            signature = FUNCTIONS.get(name)
            least, most = (signature.minimum, signature.maximum) if signature else (1, 1)
            parts = [part() for _ in range(min(chance.randint(least, most), 4))]
            if signature and signature.keywords and chance.randrange(2):
                parts.append(f"{chance.choice(sorted(signature.keywords))}={part()}")
            if name == "einsum":
                parts.insert(0, chance.choice(('"i,i"', '"ij->ji"', '"ii"', '"i,j->ij"', '"ij"')))
            return f"{name}({', '.join(parts)})"


def _index(chance: random.Random, depth: int) -> str:
    match chance.randrange(4):
        case 0:
            return f"{chance.choice(('', '-1', '1', 'n'))}:{chance.choice(('', '3', '-9'))}"
        case 1:
            return "..., 0"
        case 2:
            return expression(chance, depth - 1)
        case _:
            return chance.choice(("0", "-1", "x > 2", "99", "i", "1, 2"))


class Expressions(Fuzzer[str]):
    """Expressions of ``--check`` and ``--print``."""

    name = "expressions"

    def case(self, chance: random.Random) -> str:
        """Return an expression, perhaps a damaged one."""
        made = expression(chance, chance.randint(1, 4))
        if chance.randrange(2):
            made = f"{made} {chance.choice(('==', '<', '>='))} {expression(chance, 2)}"
        if chance.randrange(3) == 0:
            made = text.damaged(made, chance, _WORDS)
        return made

    def exit_code(self, case: str) -> int:
        """Evaluate it as a check, then as a printed value."""
        check = parse_check(case)
        tolerance = Tolerance(rtol=check.rtol, atol=check.atol)
        run_check(check.expression, VALUES, VALUES, tolerance, self.folder)
        Evaluator(parse_expression(case), VALUES, VALUES, self.folder).result()
        return 0
