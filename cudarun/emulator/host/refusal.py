"""The exception by which the host side refuses a call, with the result that the call returns."""

from __future__ import annotations

from cuda.bindings.driver import CUresult


class Refusal(Exception):
    """A driver call cannot be carried out.

    Args:
        result: The name of the ``CUresult``, without its prefix: ``"INVALID_VALUE"``.
        words: The message for the driver's log; may be empty.
    """

    def __init__(self, result: str, words: str = "") -> None:
        super().__init__(words or result)
        self.result: CUresult = getattr(CUresult, f"CUDA_ERROR_{result}")
        self.words = words
