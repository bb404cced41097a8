"""Parser of the command line for the early start, which runs before click is imported.

It follows click's rules, with a table generated from the options' declarations (`early_options`).
Values stay text.
"""

from __future__ import annotations

from cudarun.session.workers.early_options import COMMAND, DEFAULT_DEVICE, DEVICE_VARIABLE, OPTIONS

THEN = "--then"
TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Iterator, Mapping, Sequence


def read(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, bool] | None:
    """Return the devices of a launch as they are written, and whether one worker serves them all.

    Returns:
        ``None`` for other commands, where no worker or another kind of worker is needed, and for
        options that click refuses.
    """
    if not arguments or arguments[0] != COMMAND:
        return None
    devices, together = environ.get(DEVICE_VARIABLE) or DEFAULT_DEVICE, False
    try:
        for effect, value in _options_of_steps(arguments[1:]):
            if effect == "no worker":
                return None
            devices = value if effect == "devices" else devices
            together = together or effect == "together"
    except LookupError:
        return None
    return devices, together


def _options_of_steps(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of each step, which `cudarun.commands.steps` reads by itself."""
    step: list[str] = []
    for word in words:
        if word == THEN:
            yield from _options(step)
            step = []
        else:
            step.append(word)
    yield from _options(step)


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the effect and the value of each option, in order; the value of a flag is empty.

    Raises:
        LookupError: Unknown option, a missing value, or a flag with a value.
    """
    words.reverse()
    while words:
        word = words.pop()
        if word == "--":  # arguments follow
            return
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            takes_value, effect = OPTIONS[name]
            if equals and not takes_value:
                raise LookupError(name)
            yield effect, value if equals else words.pop() if takes_value else ""
        elif word.startswith("-"):
            for place, letter in enumerate(word[1:], start=2):
                takes_value, effect = OPTIONS["-" + letter]
                if takes_value:
                    yield effect, word[place:] or words.pop()
                    break
                yield effect, ""
