"""The processor cores that this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def available_cores(groups: Path = _GROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Return the number of cores, by the affinity and the quotas of the control groups.

    ``docker run --cpus 1.5`` is a quota: two cores.

    Args:
        groups: The folder of the control groups (cgroups(7)), of version 1 or 2.
        membership: The file that names those of this process.
    """
    quotas = [max(math.ceil(quota), 1) for quota in _quotas(groups, membership)]
    return min([len(os.sched_getaffinity(0)), *quotas])


def _quotas(groups: Path, membership: Path) -> Iterator[float]:
    """Yield the quotas of the groups of this process, and of those that contain them."""
    lines = []
    with suppress(OSError):
        lines = membership.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root = groups
        elif "cpu" in controllers.split(","):
            root = groups / "cpu"
        else:
            continue
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):  # a container may see its own group as the root
            with suppress(OSError, ValueError):  # no file, or no limit
                yield _quota(root / folder)


def _quota(folder: Path) -> float:
    """Return the quota of a control group, in cores.

    Raises:
        OSError: It has no quota.
        ValueError: It has no limit.
    """
    try:
        quota, period = (folder / "cpu.max").read_text().split()
    except FileNotFoundError:
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        quota, period = ((folder / name).read_text() for name in names)
    if int(quota) <= 0:
        raise ValueError(quota)
    return int(quota) / int(period)
