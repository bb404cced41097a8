"""``cudarun devices`` in the parent: one worker per driver describes its chosen devices."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from cudarun.model.devices import DeviceInfo, DevicesReport
from cudarun.session.driver.contexts import Target
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.job import CallJob
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:
    from cudarun.session.driver.devices import Device
    from cudarun.session.workers.progress import ProgressDisplay
    from cudarun.session.workers.session import Session


def list_devices(
    target: Target, display: ProgressDisplay | None = None, *, attributes: bool = False
) -> DevicesReport:
    """Describe the chosen devices, in order; `NoDevice` if there are none."""
    groups = [tuple(group) for _, group in groupby(target.devices, lambda s: s.process)]
    with WorkerPool() as pool:
        workers = [
            DeviceWorkers(
                pool, replace(target, devices=group, together=True, narrow=False), display=display
            )
            for group in groups
        ]
        job = CallJob(partial(_described, attributes))
        found = [answer.unwrap() for each in workers for answer in each.run(job)]
    return DevicesReport(
        tuple(device for device, _ in found),
        {device.label: values for device, values in found} if attributes else {},
    )


def _described(
    attributes: bool, session: Session, device: Device
) -> tuple[DeviceInfo, dict[str, int | None]]:
    from cudarun.session.driver.devices import attributes_of, describe, peers_of

    driver = session.driver
    session.enter(device)  # the free memory is known only within a context
    about = replace(describe(driver, device), peers=peers_of(driver, device))
    return about, attributes_of(driver, device) if attributes else {}
