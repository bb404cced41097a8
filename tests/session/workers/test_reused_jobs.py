"""A worker that goes on to another job keeps no garbage of the last one."""

from __future__ import annotations

import gc

import pytest

from cudarun.base.process import without_collection
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.devices import Device
from cudarun.session.driver.selection import parse_devices
from cudarun.session.workers.job import Job, JobTask
from cudarun.session.workers.session import Session


class _Decoding(Job[int]):
    """A job that decodes, and returns how many objects are never collected after it."""

    def on(self, device: Device) -> int:
        """Decode."""
        with without_collection(freeze=True):
            pass
        return gc.get_freeze_count()


@pytest.mark.parametrize("reuse", [True, False])
def test_objects_are_kept_for_long_only_by_the_last_job(reuse: bool) -> None:
    target = Target(parse_devices("cpu"))
    session = Session(target, target.devices)
    before = gc.get_freeze_count()
    try:
        [answer] = JobTask(_Decoding(), reuse=reuse)(session)
    finally:
        gc.unfreeze()
    assert (answer.unwrap() <= before) is reuse  # some of other tests are no longer used
