"""What hardware makes of tensor maps and copies by tensor memory access, as golden data.

::

    python -m tools.record_tensors --driver cuda --write tests/golden
    python -m tools.record_tensors --driver cpu --against tests/golden

The cases are made by ``tests/golden/tensor_maps.py``, ``map_fields.py``, ``tensor_cases.py`` and
``bulk_sizes.py``.
Cases that fault are listed and are not recorded: each begins a new process. Exit status 1 where
something faulted or differs.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.golden import bulk_sizes, map_fields, tensor_copies, tensor_maps
from tests.golden.tensor_cases import Case, cases

DRIVERS = {"cpu": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}
MAPS, FIELDS, COPIES = (f"tensor-{name}-h200.xz" for name in ("maps", "fields", "copies"))
SIZES = "bulk-sizes-h200.xz"


def some_copies(driver: str, wanted: list[Case]) -> tuple[str, dict[str, Any], str]:
    """Return the device, the results of cases up to the first fault, and that fault."""
    runner, found = tensor_copies.Runner(importlib.import_module(DRIVERS[driver])), {}
    for case in wanted:
        try:
            found[case.name] = runner.run(case)
        except RuntimeError as error:
            return runner.name(), found, str(error)
    return runner.name(), found, ""


def maps_and_fields(driver: str) -> tuple[list[tuple[int, bytes]], dict[str, Any]]:
    """Return the results of all cases of maps, and of their fields."""
    module = importlib.import_module(DRIVERS[driver])
    fields = map_fields.run(module)
    return [tensor_maps.encoded(module, case) for case in tensor_maps.cases()], fields


def copies(driver: str, wanted: list[Case]) -> tuple[str, dict[str, Any], list[str]]:
    """Return the device, the results of cases that do not fault, and the faults."""
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit the context that faulted
    left, found, faults, device = wanted, {}, [], ""
    while left:
        with ProcessPoolExecutor(1, mp_context=fresh) as pool:
            device, results, fault = pool.submit(some_copies, driver, left).result()
        found |= results
        left = left[len(results) :]
        if left:
            case, *left = left
            faults.append(f"{case.name}: {fault}")
    return device, found, faults


def main() -> int:
    """Run all cases, write or compare, and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=DRIVERS, required=True)
    parser.add_argument("--write", type=Path, help="folder to write golden data to (cuda only)")
    parser.add_argument("--against", type=Path, help="folder of golden data to compare with")
    options = parser.parse_args()
    if options.write and options.driver != "cuda":
        parser.error("--write: golden data is what hardware gives; use --driver cuda")
    device, found, faults = copies(options.driver, [*cases(), *bulk_sizes.cases()])
    maps, fields = maps_and_fields(options.driver)
    print(f"{len(maps)} maps, {len(fields)} fields, {len(found)} copies on {device}")
    print("\n".join(f"FAULTED: {fault}" for fault in faults))
    if options.write:
        size = tensor_maps.write(options.write / MAPS, device, maps)
        size += map_fields.write(options.write / FIELDS, device, fields)
        size += tensor_copies.write(options.write / COPIES, device, found)
        size += bulk_sizes.write(options.write / SIZES, device, found)
        print(f"wrote {size / 1024:.0f} KiB to {options.write}")
    differing: list[str] = []
    if options.against:
        differing += tensor_maps.differences(tensor_maps.read(options.against / MAPS), maps)
        differing += map_fields.differences(map_fields.read(options.against / FIELDS), fields)
        recorded = tensor_copies.read(options.against / COPIES)
        for case in cases():
            if case.name in recorded and case.name in found:
                differing += tensor_copies.differences(case, recorded[case.name], found[case.name])
        differing += bulk_sizes.differences(bulk_sizes.read(options.against / SIZES), found)
        print("\n".join(differing[:30]) or "as recorded")
    return 1 if differing or faults else 0


if __name__ == "__main__":
    sys.exit(main())
