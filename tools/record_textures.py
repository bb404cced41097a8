"""What hardware fetches from textures, as golden data; or whether the emulator does the same.

::

    python -m tools.record_textures --driver cuda --write tests/golden/textures-h200.xz
    python -m tools.record_textures --driver cpu --against tests/golden/textures-h200.xz
    python -m tools.record_textures --sampling --driver cuda --write tests/golden/sampling-h200.xz
    python -m tools.record_textures --sampling --driver cpu --against tests/golden/sampling-h200.xz
    python -m tools.record_textures --missing footprints --driver cuda --write footprints.xz

The cases are made by ``tests/golden/fetches.py``, and with ``--sampling`` by
``tests/golden/sampling``: textures of all geometries, and surfaces. ``--missing`` records the cases
of a subject that are not part of the golden data. Exit status 1 where something differs.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.golden import fetches
from tests.golden.sampling import store
from tests.golden.sampling.runner import Runner

DRIVERS = {"cpu": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}


def main() -> int:
    """Run all cases, write or compare, and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=DRIVERS, required=True)
    parser.add_argument("--write", type=Path, help="file to write golden data to (cuda only)")
    parser.add_argument("--against", type=Path, help="file of golden data to compare with")
    parser.add_argument("--sampling", action="store_true", help="all geometries, and surfaces")
    parser.add_argument("--missing", choices=store.SUBJECTS, help="cases without golden data")
    options = parser.parse_args()
    if options.sampling or options.missing:
        return sampling(options)
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


def sampling(options: argparse.Namespace) -> int:
    """Write the cases that a driver takes, or compare the recorded ones."""
    runner = Runner(importlib.import_module(DRIVERS[options.driver]))
    different = 0
    if options.write:
        made, results = [], {}
        subjects = [options.missing] if options.missing else store.SUBJECTS
        recorded = store.read() if options.missing else {}
        for case in (case for subject in subjects for case in store.cases(subject)):
            if case.name in recorded:
                continue
            try:
                results[case.name] = runner.run(case)
            except AssertionError as refusal:
                print(f"{case.name}: left out, {str(refusal).splitlines()[0]}")
                continue
            made.append(case)
        print(f"{store.write(options.write, runner.name(), made, results) / 1024:.0f} KiB")
    if options.against:
        recorded = store.read(options.against)
        for subject in store.SUBJECTS:
            for case in store.chosen(subject, recorded):
                count = store.differing(recorded[case.name][1], runner.run(case))
                different += count
                if count:
                    print(f"{case.name}: {count} of {len(recorded[case.name][1])} differ")
        fetches_ = sum(len(words) for _, words in recorded.values())
        print(f"{different} of {fetches_} results differ")
    runner.close()
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
