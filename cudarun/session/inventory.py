"""What ``cudarun devices`` asks: one worker looks at every chosen device of a driver."""

from __future__ import annotations

from functools import partial
from itertools import groupby

from cudarun.report.types import DeviceInfo, DevicesReport
from cudarun.session.contexts import enter_context
from cudarun.session.devices import describe
from cudarun.session.requests import ContextOptions, Target
from cudarun.session.selection import Selector
from cudarun.session.session import Session
from cudarun.session.worker import supervise


def list_devices(target: Target) -> DevicesReport:
    """Describe the chosen devices, in order.

    Raises:
        NoDevice: No driver, no device, or not the one asked for.
    """
    groups = [list(group) for _, group in groupby(target.devices, lambda s: s.driver)]
    outcomes = supervise(
        [partial(_describe_all, selectors, target.trace) for selectors in groups],
        timeout=target.timeout,
        capture=target.capture,
    )
    return DevicesReport(tuple(info for outcome in outcomes for info in outcome.unwrap()))


def _describe_all(selectors: list[Selector], trace: bool) -> list[DeviceInfo]:
    session = Session(selectors, trace=trace)
    described = []
    for device in session.devices:
        enter_context(session.driver, device, ContextOptions())  # free memory is a context's answer
        described.append(describe(session.driver, device, session.device_count))
    return described
