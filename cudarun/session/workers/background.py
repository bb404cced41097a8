"""A function in a separate thread, whose result is fetched when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A function that starts immediately; `result` waits for it and raises its exceptions."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._error: BaseException | None = None
        # Daemonic: when the driver fails first, the preparation is abandoned.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Return what the function returned."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._function()
        except BaseException as error:  # for the thread that calls `result`
            self._error = error
