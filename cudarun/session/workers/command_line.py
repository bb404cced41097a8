"""The command line as the early start reads it, before click is imported.

It is read by the same rules as click reads it, with the options that are declared there
(`early_options`); only their values are left as they are written.
"""

from __future__ import annotations

from cudarun.session.workers.early_options import (
    COMMAND,
    DEFAULT_DEVICE,
    DEVICE_VARIABLE,
    OPTIONS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Iterator, Mapping, Sequence


class EarlyStart:
    """What the workers of a launch can begin with.

    Attributes:
        devices: As they are written, joined by commas.
        together: One worker is to have all of them.
    """

    __slots__ = ("devices", "together")

    def __init__(self, devices: str, *, together: bool) -> None:
        self.devices = devices
        self.together = together


def read(arguments: Sequence[str], environ: Mapping[str, str]) -> EarlyStart | None:
    """Read for which devices a launch needs workers.

    Args:
        arguments: Those of the process, without its name.
        environ: Its environment.

    Returns:
        ``None`` where none is needed, or another kind of worker, or click will refuse the
        options.
    """
    if not arguments or arguments[0] != COMMAND:
        return None
    start = EarlyStart(environ.get(DEVICE_VARIABLE) or DEFAULT_DEVICE, together=False)
    try:
        for effect, value in _options([*arguments[1:]]):
            if effect == "devices":
                start.devices = value
            elif effect == "together":
                start.together = True
            elif effect == "no worker":
                return None
    except LookupError:
        return None
    return start


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """The effect and the value of each option, in order; the value of a flag is empty.

    Raises:
        LookupError: There is no such option, or it lacks its value, or is a flag and has one.
    """
    words.reverse()
    while words:
        word = words.pop()
        if word == "--":
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
