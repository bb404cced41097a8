"""The commands of ``samples/README.md``, with what each is expected to do."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.console_blocks import Command, commands

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "samples" / "README.md"

_EXIT_CODE = re.compile(r"^Exit code (?P<cpu>\d+)(?: on `cpu`, (?P<gpu>\d+) on a GPU)?\.$")


@dataclass(frozen=True, slots=True)
class Sample:
    """One command of the document.

    Attributes:
        name: The kernel, or the image where there is only one kernel; unique.
        line: Where the command stands in the document, from 1.
        arguments: The command line after ``cudarun``.
        output: Lines shown under the command, for the device that it names.
        exit_on_cpu: The exit code on the emulated device.
        exit_on_gpu: The exit code on a GPU.
    """

    name: str
    line: int
    arguments: tuple[str, ...]
    output: tuple[str, ...]
    exit_on_cpu: int
    exit_on_gpu: int

    @property
    def image(self) -> str:
        """The ``.ptx`` that the command is about, as written."""
        return next(word for word in self.arguments if word.endswith(".ptx"))

    @property
    def emulated(self) -> bool:
        """Whether the command as it stands runs on the emulated device."""
        return _option(self.arguments, "-d").startswith("cpu")

    @property
    def exit_code(self) -> int:
        """What the command, on the device it names, ends with."""
        return self.exit_on_cpu if self.emulated else self.exit_on_gpu

    @property
    def checks(self) -> tuple[str, ...]:
        """The expressions that must hold."""
        words = self.arguments
        return tuple(words[i + 1] for i, word in enumerate(words) if word == "--check")

    def on_device(self, device: str) -> Sample:
        """The same command on another device; nobody can watch a GPU."""
        words = [*self.arguments]
        words[words.index("-d") + 1] = device
        for option, length in {"--detect": 2, "--stats": 1}.items():
            if not device.startswith("cpu") and option in words:
                index = words.index(option)
                del words[index : index + length]
        return replace(self, arguments=tuple(words))

    def with_image(self, path: str) -> Sample:
        """The same command on another image."""
        return replace(
            self, arguments=tuple(path if w == self.image else w for w in self.arguments)
        )


def samples() -> list[Sample]:
    """All commands of the document, in order.

    Raises:
        ValueError: A command is not one of ours, or two have the same name.
    """
    found = [_sample(command) for command in commands(README.read_text())]
    names = [sample.name for sample in found]
    if len(set(names)) < len(names):
        raise ValueError(f"samples/README.md: two commands are about the same kernel: {names}")
    return found


def _sample(command: Command) -> Sample:
    words = shlex.split(command.text)
    if words[0] != "cudarun":
        raise ValueError(f"samples/README.md:{command.line}: not a cudarun command")
    arguments = tuple(words[1:])
    expected = _EXIT_CODE.match(command.after)
    on_cpu = int(expected["cpu"]) if expected else 0
    on_gpu = int(expected["gpu"] or on_cpu) if expected else 0
    image = next(word for word in arguments if word.endswith(".ptx"))
    return Sample(
        name=_option(arguments, "-k") or Path(image).stem,
        line=command.line,
        arguments=arguments,
        output=command.output,
        exit_on_cpu=on_cpu,
        exit_on_gpu=on_gpu,
    )


def _option(arguments: tuple[str, ...], name: str) -> str:
    """The word after option ``name``; empty where it is not given."""
    return arguments[arguments.index(name) + 1] if name in arguments else ""
