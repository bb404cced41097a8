"""The answer of a worker, which parents and reports take as it is."""

from __future__ import annotations

from typing import Generic, TypeVar

from cudarun.base.errors import CudarunError
from cudarun.base.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The result of a task, or of a job on one device: a value, or the reason that there is none.

    Attributes:
        value: The value; ``None`` when ``error`` is set.
        error: The reason that there is no value.
        output: The worker's stdout during the task, when it was captured; with ``--together`` the
            first device of the worker has it.
        device: The device of a job, as for ``--device``.
        is_reusable: Whether the worker of a job can take another one.
    """

    value: T | None = None
    error: CudarunError | None = None
    output: str = ""
    device: str = ""
    is_reusable: bool = False

    def unwrap(self) -> T:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]
