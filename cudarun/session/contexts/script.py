"""What a script of ``cudarun ctx run`` is: steps with operands and expectations.

::

    create A; create B flags=spin      # steps, separated by ; or line ends; # begins a comment
    pop == B                           # a step that must succeed and give this value
    @t1 pop -> INVALID_CONTEXT         # on the thread t1, and it must have this result
    limit stack as before              # its value, named for a later step

`cudarun.session.contexts.verbs` has the verbs, `cudarun.session.contexts.parser` reads the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cudarun.records import dataclass
from cudarun.session.contexts.verbs import BUILTIN

MAIN = "main"
"""The thread of steps that name none."""

ANY, FAILURE = "any", "failure"
"""What can stand for a result: whatever it is, and anything but success."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name where a value stands; the step that runs knows what it is then."""

    text: str


@dataclass(frozen=True, slots=True)
class Limit:
    """``NAME[=SIZE]``; without a size it is only asked for."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Symbol:
    """``L.name``: a kernel or a variable of a module or library."""

    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a step must come to.

    Attributes:
        text: As written: ``-> INVALID_CONTEXT``, ``== A``.
        results: Names of results without their prefix; `ANY` or `FAILURE` may be among them.
        operator: How the value must compare with ``operand``; empty where no value is asked for.
        operand: A `Name`, or a value of the kind that the step gives; ``None`` is no context.
    """

    text: str
    results: tuple[str, ...] = ("SUCCESS",)
    operator: str = ""
    operand: Any = None

    def admits(self, result: str) -> bool:
        """Whether a result, by its name without prefix, is one that was expected."""
        if result in self.results or ANY in self.results:
            return True
        return FAILURE in self.results and result != "SUCCESS"

    @property
    def admits_anything(self) -> bool:
        """Whether even a step that cannot be carried out is fine."""
        return ANY in self.results


def short_name(result: str) -> str:
    """``INVALID_CONTEXT`` for ``CUDA_ERROR_INVALID_CONTEXT``, ``SUCCESS`` for the runtime's too."""
    if result == "cudaSuccess":
        return "SUCCESS"
    return result.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        number: Its place in the script, from 1.
        line: Its line, from 1.
        thread: The thread it runs on.
        verb: What it does, a key of `VERBS`.
        text: As written.
        operands: By the name that `_OPERANDS` gives each.
        label: The name that its value is given, ``as NAME``.
        expected: What it must come to; ``None`` where the user did not say.
    """

    number: int
    line: int
    thread: str
    verb: str
    text: str
    operands: Mapping[str, Any]
    label: str | None = None
    expected: Expectation | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A script, parsed.

    Attributes:
        text: As given.
        origin: The file it is from; ``None`` where it stood on the command line.
    """

    text: str
    origin: str | None
    steps: tuple[Step, ...]

    @property
    def devices(self) -> int:
        """How many devices it needs: the highest ``dev=`` and one."""
        return 1 + max((step.operands.get("dev", 0) for step in self.steps), default=0)

    @property
    def images(self) -> tuple[str, ...]:
        """The files that it loads, each once."""
        named = (step.operands["image"] for step in self.steps if "image" in step.operands)
        return tuple(dict.fromkeys(image for image in named if image != BUILTIN))
