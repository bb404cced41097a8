"""What hardware fetches from textures, as golden data; or whether the emulator does the same.

::

    python -m tools.record_textures --driver cuda --write tests/golden/textures-h200.xz
    python -m tools.record_textures --driver cpu --against tests/golden/textures-h200.xz

The cases are made by ``tests/golden/fetches.py``. Exit status 1 where something differs.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.golden import fetches

DRIVERS = {"cpu": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}


def main() -> int:
    """Run all cases, write or compare, and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=DRIVERS, required=True)
    parser.add_argument("--write", type=Path, help="file to write golden data to (cuda only)")
    parser.add_argument("--against", type=Path, help="file of golden data to compare with")
    options = parser.parse_args()
    if options.write and options.driver != "cuda":
        parser.error("--write: golden data is what hardware gives; use --driver cuda")
    runner = fetches.Runner(importlib.import_module(DRIVERS[options.driver]))
    device, cases = runner.name(), fetches.cases()
    results = {case.name: runner.run(case) for case in cases}
    runner.close()
    print(f"{len(cases)} cases, {sum(map(len, results.values()))} fetches on {device}")
    if options.write:
        size = fetches.write(options.write, device, cases, results)
        print(f"wrote {options.write}: {size / 1024:.0f} KiB")
    differing: list[str] = []
    if options.against:
        recorded = fetches.read(options.against)
        for case in cases:
            differing += fetches.differences(case, recorded[case.name], results[case.name])
        print("\n".join(differing) or "as recorded")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
