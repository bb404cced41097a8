"""Write ``data/*.npy``: what the programs are given, and what they should make of it.

::

    python tests/programs/make_data.py             # or --check: 1 when a file would be another

The results come from ``host_*.py``, never from a run of a program.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import host_arrays
import host_exact
import host_numbers
import numpy as np
import numpy.typing as npt

DATA = Path(__file__).resolve().parent / "data"
MODULES = (host_arrays, host_exact, host_numbers)


def arrays() -> dict[str, npt.NDArray[Any]]:
    """All of them, by the name of the file."""
    found: dict[str, npt.NDArray[Any]] = {}
    for module in MODULES:
        for name, function in vars(module).items():
            public = not name.startswith("_") and name not in ("signed", "root", "rounded")
            if public and callable(function) and function.__module__ == module.__name__:
                found |= function()
    return found


def main() -> int:
    """Write or compare."""
    differ = []
    for name, array in arrays().items():
        path = DATA / f"{name}.npy"
        if "--check" not in sys.argv:
            np.save(path, array)
        elif np.load(path).tobytes() != array.tobytes():
            differ.append(name)
    print("\n".join(differ) or "done")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
