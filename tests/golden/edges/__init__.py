"""Edge cases of runtime calls and of virtual memory management, the same on a GPU and emulated.

The recorded results of an H200 are in ``runtime-edges-h200.json``, which
``tools/record_edges.py`` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.golden.edges import copies, memory_calls, streams, virtual_memory
from tests.golden.edges.probe import Scenario, Step

Recording = Mapping[str, Sequence[Step]]

SCENARIOS: tuple[Scenario, ...] = (
    *memory_calls.SCENARIOS,
    *copies.SCENARIOS,
    *streams.SCENARIOS,
    *virtual_memory.SCENARIOS,
)

_UNSUPPORTED = "the emulated device does not support it"
_USE_AFTER_DESTROY = "the manual leaves the use of a destroyed event undefined"

INTENDED: dict[str, dict[int, str]] = {
    "arrays": dict.fromkeys((16, 17), _UNSUPPORTED),  # sparse arrays and deferred mappings
    "events": dict.fromkeys((30, 31, 32), _USE_AFTER_DESTROY),
    "reservations": {16: "the process has addresses with this alignment"},
    "creation": dict.fromkeys((19, 21), _UNSUPPORTED),  # memory of the host
    "maps": {2: "the GPU's driver reserves more addresses than were requested"},
    "permissions": dict.fromkeys((15, 16, 23), _UNSUPPORTED),  # read-only access, the host's
    "driver_allocation": {
        43: _USE_AFTER_DESTROY,
        44: "a GPU's driver calls the null function later, which ends the process",
    },
}
"""The steps by scenario that differ from the hardware, with the reason."""


def differences(found: Sequence[Step], expected: Sequence[Step]) -> list[tuple[int, Step, Step]]:
    """Return the steps that differ from recorded ones, except for those without a result."""
    return [
        (index, here, there)
        for index, (here, there) in enumerate(zip(found, expected, strict=True))
        if here != there and "died" not in there
    ]
