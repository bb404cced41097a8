"""Record what ptxas's code for random products and sums computes, or compare with it.

::

    python -m tools.record_contraction --write                 # tests/golden/contraction-ptxas.xz
    python -m tools.record_contraction --compare --count 2400  # the emulated device and ptxas

Needs ptxas of CUDA 13.0 and nvdisasm on the path, and no GPU: `tools.sass` evaluates the code.
``--compare`` lists the functions with other results on ``cpu``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from tests.golden.contraction import (
    BITS,
    LANES,
    RESULTS,
    SHAPES,
    STRIDE,
    Function,
    emulated,
    module,
    operands,
    random_function,
    shown,
    write,
)
from tools.sass import Code, NotFinite, disassembled, evaluate

_AT_ONCE = 48  # functions in a module
_FROM, _TO = 0x210, 0x218  # where the parameters are in the constant bank


def compiled(functions: Sequence[Function]) -> list[Function]:
    """Return the functions with the results of ptxas's code."""
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = Path(folder, "test.ptx"), Path(folder, "test.cubin")
        text.write_text(module(functions))
        subprocess.run(["ptxas", "-arch=sm_90", text, "-o", cubin], check=True)
        kernels = disassembled(cubin)
    return [
        replace(each, results=tuple(_results(kernels[f"test{number}"], each.kind)))
        for number, each in enumerate(functions)
    ]


def _results(code: Code, kind: str) -> Iterator[str | None]:
    given = operands(kind)
    for lane in range(LANES):
        memory = bytearray(given) + bytearray(len(given))
        try:
            evaluate(code, memory, lane, {_FROM: 0, _TO: len(given)})
        except NotFinite:
            yield None
        else:
            yield shown(kind, bytes(memory[len(given) + STRIDE * lane :][: 8 * RESULTS]))


def functions(count: int, first: int) -> Iterator[list[Function]]:
    """Yield about this many functions of all types and shapes, some at once."""
    chosen = [
        random_function(kind, shape, first + seed)
        for seed in range(-(-count // (len(BITS) * len(SHAPES))))
        for kind, shape in product(BITS, SHAPES)
    ]
    for start in range(0, len(chosen), _AT_ONCE):
        yield compiled(chosen[start : start + _AT_ONCE])


def compare(count: int, first: int) -> int:
    """Print the functions with other results on the emulated device; return how many there are."""
    total = different = 0
    for some in functions(count, first):
        total += len(some)
        for function, lanes in zip(some, emulated(some), strict=True):
            if any(a not in (None, b) for a, b in zip(function.results, lanes, strict=True)):
                different += 1
                print(function.text, "\n")
    print(f"{different} of {total} functions have other results")
    return different


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--write", action="store_true", help="write the recording")
    task.add_argument("--compare", action="store_true", help="compare the emulated device")
    parser.add_argument("--count", type=int, default=96, help="the number of functions")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed")
    options = parser.parse_args()
    if options.compare:
        return int(compare(options.count, options.first) > 0)
    write([each for some in functions(options.count, options.first) for each in some])
    return 0


if __name__ == "__main__":
    sys.exit(main())
