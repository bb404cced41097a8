"""``cudarun completion``, and completion of kernels, cases, devices and labels.

Completion runs at every press of Tab: nothing here calls a driver or imports the tables and numpy,
and nothing that is unreadable or damaged is an error, it completes nothing. ``cli.main`` keeps
failures off the terminal.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

from cudarun.base.errors import CudarunError
from cudarun.commands.help import COMPLETION_VARIABLE, Command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from cudarun.session.compile.declarations import Declaration

Completer: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"
"""Returns the completions of an incomplete word, as `click.Parameter` takes it."""

_LARGEST = 16 << 20  # bytes of a file that is read
_LABEL = re.compile(r"([A-Za-z_]\w*)=(?!=)")


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script of shell completion.

    Save it where the shell looks for it: as cudarun in
    ~/.local/share/bash-completion/completions for bash, as _cudarun in a folder of fpath for zsh,
    and as cudarun.fish in ~/.config/fish/completions for fish.

    \b
    cudarun completion zsh > _cudarun
    """
    click.echo(script(shell))


def script(shell: str) -> str:
    """Return the completion script of a shell: ``bash``, ``zsh`` or ``fish``."""
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    # Bash's own method starts bash to check the version of a shell that may be on another machine.
    complete = kind(click.Group("cudarun"), {}, "cudarun", COMPLETION_VARIABLE)
    text = ShellComplete.source(complete).strip()
    # click's script for fish cuts values and descriptions at their first comma
    return text.replace('string split ","', 'string split --max 1 ","')


def item(value: str, **attributes: str) -> CompletionItem:
    """Return a completion; click's module is imported only when a shell asks for one."""
    from click.shell_completion import CompletionItem

    return CompletionItem(value, **attributes)


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a path; the shell does."""
    return [item(incomplete, type="file")]


def words(*known: str) -> Completer:
    """Return a completion of comma-separated words."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return _listed(known, incomplete)

    return complete


def devices(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the devices of a list, without asking a driver."""
    from cudarun.base.profiles import profiles
    from cudarun.session.driver.visibility import count

    gpus = [str(index) for index in range(count() or 0)]
    emulated = ["cpu", "cpu:all"]
    if incomplete.rpartition(",")[2].startswith("cpu@"):
        emulated = [f"cpu@{name}" for name in profiles()]
    return _listed([*gpus, *(["all"] if gpus else []), *emulated], incomplete)


def gpus(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the GPUs of a list by the names of their profiles."""
    from cudarun.base.profiles import profiles

    return _listed(profiles(), incomplete)


def or_case(complete: Completer) -> Completer:
    """Return a completion of an argument of ``launch``, with ``--spec`` that of a case."""
    return lambda ctx, *word: (cases if ctx.params.get("spec") else complete)(ctx, *word)


def argument(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete an argument by the name of a parameter."""
    given = set(_labels(ctx))
    names = [name for name in _parameter_names(ctx) if name not in given]
    return [item(f"{name}=") for name in names if f"{name}=".startswith(incomplete)]


def cases(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the cases of the spec on the line."""
    import tomllib

    given = _positional(ctx)
    try:
        tables = tomllib.loads(_read(ctx.params["spec"]).decode()).get("launch", [])
    except (OSError, ValueError):
        return []
    names = [table.get("name") for table in tables if isinstance(table, dict)]
    return [
        item(_quoted(name))
        for name in names
        if isinstance(name, str) and name.startswith(incomplete) and name not in given
    ]


def kernels(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the kernels of the image on the line."""
    from cudarun.images.demangler import demangle, spellings

    names = _kernel_names(ctx)
    items = []
    for name in names:
        others = {spelling for other in names if other != name for spelling in spellings(other)}
        own = [each for each in spellings(name) if each not in others]
        fitting = [each for each in own if each.startswith(incomplete)]
        if fitting:
            shortest, described = min(fitting, key=len), demangle(name)
            attributes = {} if described == shortest else {"help": described}
            items.append(item(_quoted(shortest), **attributes))
    return items


def labels(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of arguments, in an expression."""
    start = incomplete[: len(incomplete) - len(re.split(r"\W", incomplete)[-1])]
    known = dict.fromkeys([*_labels(ctx), *_parameter_names(ctx)])
    return [item(start + name) for name in known if (start + name).startswith(incomplete)]


def label_of_value(*values: str) -> Completer:
    """Return a completion of ``NAME=VALUE``, where VALUE is one of some words or a path."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        known = dict.fromkeys([*_labels(ctx), *_parameter_names(ctx)])
        texts = [f"{name}={value}" for name in known for value in values or ("",)]
        return [item(text) for text in texts if text.startswith(incomplete)]

    return complete


def _quoted(text: str) -> str:
    """Return a word as it is typed; bash inserts it unchanged, other shells quote it."""
    return shlex.quote(text) if os.environ.get(COMPLETION_VARIABLE, "").startswith("bash") else text


def _listed(known: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Complete the last of comma-separated words with those that are not in the list yet."""
    start, comma, last = incomplete.rpartition(",")
    given = start.split(",")
    return [
        item(f"{start}{comma}{word}")
        for word in known
        if word.startswith(last) and word not in given
    ]


# --- the image on the line -----------------------------------------------------------------------


def _positional(ctx: click.Context) -> list[str]:
    """Return the image and the arguments, or the cases.

    Click leaves them in ``ctx.args`` where the last option has no value yet.
    """
    image = ctx.params.get("image")
    return [*([image] if image else ()), *(ctx.params.get("arguments") or ()), *ctx.args]


def _labels(ctx: click.Context) -> Iterator[str]:
    """Yield the names of the arguments on the line."""
    for text in _positional(ctx)[1:]:
        if match := _LABEL.match(text):
            yield match[1]


def _kernel_names(ctx: click.Context) -> list[str]:
    data = _image(ctx)
    if data is None:
        return []
    from cudarun.images.kinds import ImageKind, identify
    from cudarun.images.ptx_search import kernel_names
    from cudarun.images.reader import read_image

    kind = identify(data)
    if kind is ImageKind.PTX:  # much quicker than to parse it
        return [*kernel_names(data)]
    if kind is ImageKind.CUDA_SOURCE:
        return list(dict.fromkeys(each.kernel for each in _declarations(data)))
    try:
        return [kernel.name for kernel in read_image(data, "", whole=False).kernels]
    except CudarunError:
        return []


def _parameter_names(ctx: click.Context) -> list[str]:
    """Return the names of the parameters of the kernel on the line.

    CUDA source declares them, and an image has them in its debug information.
    """
    data = _image(ctx)
    if data is None:
        return []
    from cudarun.images.kinds import ImageKind, identify

    name = ctx.params.get("kernel")
    if identify(data) is not ImageKind.CUDA_SOURCE:
        return _debug_names(data, name)
    found = _declarations(data)
    chosen = [each for each in found if each.kernel == name] or found
    if len({each.kernel for each in chosen}) != 1:
        return []
    return [each.name for each in chosen[0].parameters if each.name]


def _debug_names(data: bytes, kernel: str | None) -> list[str]:
    """Return the names of a kernel's parameters in the debug information of an image."""
    from cudarun.images.reader import read_image
    from cudarun.session.image.debug_parameters import DebugReader
    from cudarun.session.image.image import Image
    from cudarun.session.image.kernels import select_kernel

    reader = DebugReader(Image("", data))
    if not reader.is_needed:
        return []
    try:
        kernels = {each.name: each for each in read_image(data, "", whole=False).kernels}
        chosen = kernels[select_kernel(kernels, kernel, "")]
    except CudarunError:
        return []
    found, _ = reader.read(chosen.name, chosen.parameters)
    return [each.name for each in found if each.name]


def _declarations(source: bytes) -> Sequence[Declaration]:
    from cudarun.session.compile.declarations import declarations

    return declarations([source.decode(errors="replace")])


def _image(ctx: click.Context) -> bytes | None:
    names = _positional(ctx)
    if not names:
        return None
    try:
        return _read(names[0])
    except OSError:
        return None


def _read(path: str) -> bytes:
    """Return a file's bytes; `OSError` if it is no file, or too large for a press of Tab."""
    name = os.path.expanduser(path)
    if not os.path.isfile(name) or os.path.getsize(name) > _LARGEST:
        raise OSError(path)
    with open(name, "rb") as file:
        return file.read()
