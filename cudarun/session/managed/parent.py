"""``cudarun managed`` in the parent: one worker for all devices.

A managed variable has one address per process, which the command demonstrates.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cudarun.model.managed import ManagedReport
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import require_one_process
from cudarun.session.managed.request import ManagedRequest
from cudarun.session.workers.devices import session_spec
from cudarun.session.workers.parent import WorkerProcess
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:  # only a worker needs it
    from cudarun.session.workers.progress import ProgressDisplay
    from cudarun.session.workers.session import Session


def start_worker(pool: WorkerPool, target: Target) -> WorkerProcess[Session]:
    """Return the worker for all devices, which initializes the driver immediately."""
    require_one_process(target.devices)
    return pool.acquire(session_spec(target.devices, target, _prefetch))


def managed(
    request: ManagedRequest,
    pool: WorkerPool,
    worker: WorkerProcess[Session],
    timeout: float | None,
    display: ProgressDisplay | None = None,
) -> ManagedReport:
    """Inspect the variables of an image from every context, before and after launches.

    Args:
        worker: The result of `start_worker`.
        timeout: Seconds for loading, and for the work on the devices.
    """
    worker.submit(partial(_observe, request), timeout)
    [answer] = pool.gather([worker], display)
    report: ManagedReport = answer.unwrap()
    return replace(report, output=answer.output)


def _prefetch() -> None:
    import cudarun.session.managed.worker  # noqa: F401


def _observe(request: ManagedRequest, session: Session) -> ManagedReport:
    """Load the image, before most of the contexts exist, and inspect its variables."""
    from cudarun.session.load.library import load_image

    library = load_image(session, request.image)
    session.progress.start_phase()
    from cudarun.session.managed.worker import inspect_variables

    return inspect_variables(request, session, library)
