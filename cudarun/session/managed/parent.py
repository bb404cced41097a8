"""``cudarun managed``, seen from the parent: the request, and the one worker that answers it.

One process for all devices: a managed variable has one address within a process, and it is that
which is to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.types import Type
from cudarun.arguments.values import Null, SymbolAddress, Value
from cudarun.errors import ArgumentSyntaxError, RequestError
from cudarun.records import dataclass
from cudarun.report.managed_types import ManagedReport
from cudarun.session.driver.target import Target
from cudarun.session.image.image import Image
from cudarun.session.launch.request import LaunchRequest
from cudarun.session.workers.fleet import make_session
from cudarun.session.workers.parent import Worker, gather
from cudarun.session.workers.progress import Progress

if TYPE_CHECKING:  # only a worker has one
    from cudarun.session.workers.session import Session

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*")


@dataclass(frozen=True, slots=True)
class View:
    """``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``: a variable, how to read it, what to write to it.

    Attributes:
        name: Mangled or in C++ spelling.
        type: What it is read as; ``None`` leaves it to the value or the image.
        value: What the host writes before anything is launched.
        text: As written.
    """

    name: str
    type: Type | None
    value: Value | None
    text: str


@dataclass(frozen=True, slots=True)
class ManagedLaunch:
    """``--launch 'KERNEL ARGS…'``: the text, and the launch that it means."""

    text: str
    request: LaunchRequest


@dataclass(frozen=True, slots=True)
class ManagedRequest:
    """Everything ``cudarun managed`` was told.

    Attributes:
        image: The image.
        views: Which variables; all where none is named.
        launches: What to run on each device in turn.
        with_globals: Whether ``__device__`` and ``__constant__`` variables are shown too.
        contexts: How many contexts to look from on each device; ``None``: so many that there are
            two at least.
        context: What the first one of each device is, as in `ContextOptions`; others are new.
    """

    image: Image
    views: tuple[View, ...] = ()
    launches: tuple[ManagedLaunch, ...] = ()
    with_globals: bool = False
    contexts: int | None = None
    context: Literal["primary", "new"] = "primary"


def parse_view(text: str) -> View:
    """Parse ``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``.

    Raises:
        ArgumentSyntaxError: With the column where it goes wrong.
    """
    found = _NAME.match(text)
    if found is None:
        raise ArgumentSyntaxError("expected the name of a variable", text, 0)
    name, rest = found.group(), text[found.end() :]
    start = found.end() + 1
    if not rest:
        return View(name, None, None, text)
    if rest.startswith("="):
        value = _based(text, start, lambda: parse_argument(text[start:])).value
        if isinstance(value, Null | SymbolAddress):
            raise ArgumentSyntaxError("an address cannot be written to a variable", text, start)
        return View(name, None, value, text)
    if rest.startswith(":"):
        return View(name, _based(text, start, lambda: parse_type(text[start:])), None, text)
    raise ArgumentSyntaxError(
        "expected NAME, NAME:TYPE or NAME=VALUE", text, found.end(), hint="as in: counter=i32:5"
    )


def _based(text: str, start: int, parse: Callable[[], Any]) -> Any:
    """Parse what begins at ``start``, an error's column being turned into that of the whole."""
    try:
        return parse()
    except ArgumentSyntaxError as error:
        raise ArgumentSyntaxError(
            error.message, text, start + error.column, hint=error.hint
        ) from None


def start_worker(target: Target, progress: Progress) -> Worker[Session]:
    """The worker for all devices, initialising the driver from now on.

    Args:
        target: The devices.
        progress: Where it says what it does.

    Raises:
        RequestError: They are of two drivers, which no one process can serve.
    """
    if len({selector.driver for selector in target.devices}) > 1:
        raise RequestError("one process serves all devices: GPUs and cpu have no common driver")
    make = partial(make_session, target.devices, target, _prefetch, progress)
    return Worker(make, capture=target.capture)


def managed(
    request: ManagedRequest,
    worker: Worker[Session],
    timeout: float | None,
    meanwhile: Callable[[], object] | None = None,
) -> ManagedReport:
    """Look at the variables of an image from every context, before and after launches.

    Args:
        request: What to look at.
        worker: From `start_worker`.
        timeout: Seconds after which to give up.
        meanwhile: Called again and again while the worker works.

    Raises:
        CudarunError: Nothing could be seen.
    """
    worker.send(partial(_observe, request))
    [outcome] = gather([worker], timeout=timeout, meanwhile=meanwhile)
    report: ManagedReport = outcome.unwrap()
    return replace(report, output=outcome.output)


# --- in the worker -------------------------------------------------------------------------------


def _prefetch() -> None:
    import cudarun.session.managed.worker  # noqa: F401


def _observe(request: ManagedRequest, session: Session) -> ManagedReport:
    library = session.load(request.image)  # before most of the contexts exist
    session.prefetched()
    from cudarun.session.managed.worker import observe

    return observe(request, session, library)
