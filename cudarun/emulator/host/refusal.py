"""How the state says no: an exception that carries the result a driver call returns."""

from __future__ import annotations

from cuda.bindings.driver import CUresult


class Refusal(Exception):
    """A driver call cannot be carried out.

    Args:
        result: The name of the ``CUresult``, without its prefix: ``"INVALID_VALUE"``.
        words: What is wrong, for the driver's log; empty where the result says it all.
    """

    def __init__(self, result: str, words: str = "") -> None:
        super().__init__(words or result)
        self.result: CUresult = getattr(CUresult, f"CUDA_ERROR_{result}")
        self.words = words
