"""Write ``tests/golden/modifier-orders.xz``: the orders of modifiers that ptxas takes.

::

    python -m tools.record_modifier_orders              # with ptxas of CUDA 13.0 on the path
    python -m tools.record_modifier_orders --compare    # every form: the emulated device and ptxas

The record has some of the forms that differ in their types only, and
`tests/golden/test_modifier_orders.py` compares the emulated device with it. ``--compare`` writes
nothing: it asks both about every form, and lists where they differ.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.golden.isa.orders import TARGET, Variant, forms, module, refusals, variants, write

_AT_ONCE = 400  # variants in a module
_THREADS = 2
_LINE = re.compile(r"line (\d+); (?:error|fatal)")


def taken(chosen: Sequence[Variant]) -> list[bool]:
    """Whether ptxas takes each variant: those that it complains of are left out, until none is."""
    left = dict(enumerate(chosen))
    while left:
        text, first = module(list(left.values()))
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(text)
            file.flush()
            command = ["ptxas", f"-arch={TARGET}", "-O0", "-o", "/dev/null", file.name]
            told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            break
        numbers = list(left)
        blamed = {int(line) - first for line in _LINE.findall(told.stderr)}
        refused = [numbers[place] for place in blamed if 0 <= place < len(numbers)]
        if not refused:
            raise RuntimeError(f"ptxas names no line of a variant: {told.stderr}")
        for number in refused:
            del left[number]
    return [number in left for number in range(len(chosen))]


def verdicts(*, every: bool = False) -> Iterator[tuple[list[Variant], list[bool]]]:
    """Variants of all chapters, in parts, and whether ptxas takes them."""
    chosen = [variant for chapter in forms() for variant in variants(chapter, every=every)]
    parts = [chosen[start : start + _AT_ONCE] for start in range(0, len(chosen), _AT_ONCE)]
    with ThreadPoolExecutor(_THREADS) as threads:
        yield from zip(parts, threads.map(taken, parts), strict=True)


def record() -> int:
    """Write the record."""
    found: defaultdict[str, str] = defaultdict(str)
    for part, answers in verdicts():
        for variant, answer in zip(part, answers, strict=True):
            found[variant.form] += "y" if answer else "n"
    write(found)
    orders = "".join(found.values())
    print(f"{len(found)} forms, {len(orders)} orders, of which ptxas takes {orders.count('y')}")
    return 0


def compare() -> int:
    """List the variants for which the emulated device and ptxas differ."""
    asked = differing = 0
    for part, answers in verdicts(every=True):
        asked += len(part)
        refused = refusals(part)
        for number, (variant, answer) in enumerate(zip(part, answers, strict=True)):
            if (number in refused) == answer:
                differing += 1
                told = refused.get(number, "taken")
                print(f"{variant.name}: ptxas {'takes' if answer else 'refuses'} it; {told}")
    print(f"{asked} orders, {differing} different")
    return int(bool(differing))


def main() -> int:
    """Record, or compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--compare", action="store_true", help="compare all forms with ptxas")
    return compare() if options.parse_args().compare else record()


if __name__ == "__main__":
    sys.exit(main())
