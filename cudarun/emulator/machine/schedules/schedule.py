"""The choices in a launch that a GPU makes differently from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction

_INCREMENT = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_WORD = (1 << 64) - 1
_LONGEST_DELAY = 10  # as a power of two, of accesses to memory


class IssuedOperations(Protocol):
    """The asynchronous operations of a batch that are not complete."""

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute instead of one that issues, awaits or meets operations."""

    def complete_all(self) -> None:
        """Complete all operations."""


class Schedule:
    """The schedule of the launches of a program: who runs next, and when operations complete.

    Its choices depend on its seed and on what the kernel does, so that a seed repeats a launch on
    every machine.

    Args:
        seed: Its seed; ``None`` to complete asynchronous operations at the last permitted time, and
            to run threads in the usual order.
    """

    def __init__(self, seed: int | None) -> None:
        self.interleaves = seed is not None  # whether it draws the order of threads
        self._state = _mixed((seed or 0) & _WORD)

    def draw(self, count: int) -> int:
        """Return a number below ``count`` (splitmix64)."""
        self._state = self._state + _INCREMENT & _WORD
        return (_mixed(self._state) >> 32) % count

    def delay(self) -> int | None:
        """Return after how many accesses to memory an asynchronous operation goes on.

        ``None`` if it does so at the last permitted time.
        """
        power = self.draw(_LONGEST_DELAY + 1) if self.interleaves else _LONGEST_DELAY
        return None if power == _LONGEST_DELAY else (1 << power) - 1

    def is_late(self) -> bool:
        """Return whether an operation completes at the last permitted time, or at the first."""
        return not self.interleaves or self.draw(2) == 1

    def clusters(self, most: int) -> int:
        """Return how many of at most ``most`` clusters begin together."""
        return 1 + self.draw(most) if self.interleaves and self.draw(2) else most


def _mixed(word: int) -> int:
    """Return the output of splitmix64 for a state."""
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        word = (word ^ word >> shift) * factor & _WORD
    return word ^ word >> 31
