"""Write ``cudarun/api/keywords.py``: the keywords of the Python API, with types.

A program's process checks its keywords with them, without an import of the commands.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cudarun.base.options import CaseForm
from cudarun.commands.declaration import Option
from cudarun.commands.keywords import keyword_of
from tests.support.command_tree import find

TARGET = Path(__file__).resolve().parent.parent / "cudarun" / "api" / "keywords.py"

_HEAD = '''\
"""The options of the Python API: those of the command line, as keywords.

Written by `python -m tools.generate_api_keywords` from the declarations: change those.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

from cudarun.api.values import ArgumentValue

Path: TypeAlias = str | os.PathLike[str]
Extent: TypeAlias = int | str | Sequence[int | str]
"""A size along up to three axes: ``1000``, ``(64, 64)``, or an expression: ``"n"``."""
'''
_PARAMETERS = {"launch": {"device", "timeout", "kernel"}, "load": {"device", "timeout"}}
"""Options that are parameters of a function by themselves."""
_SYNONYMS = {"smem": "shared"}
_OTHER_NAMES = {"assert": "asserts"}
"""Names of options that Python reserves."""
_BY_NAME = {
    "seed": 'int | Literal["random"]',
    "schedule": 'int | Literal["late"]',
    "reference": "str | int",
}
_SEVERAL_TEXTS = "str | Sequence[str]"
_BY_FORM = {
    CaseForm.EXTENT: "Extent",
    CaseForm.COUNT: "int | str",
    CaseForm.WORDS: _SEVERAL_TEXTS,
    CaseForm.TEXTS: _SEVERAL_TEXTS,
    CaseForm.EXPRESSIONS: _SEVERAL_TEXTS,
    CaseForm.PATHS: "Path | Sequence[Path]",
    CaseForm.PAIRS: "tuple[str, str] | Sequence[tuple[str, str]]",
    CaseForm.NAMED_EXPRESSIONS: "Mapping[str, str]",
    CaseForm.NAMED_SIZES: "Mapping[str, int | str]",
    CaseForm.SETTINGS: "Mapping[str, ArgumentValue]",
    CaseForm.EXPECTATIONS: "Mapping[str, ArgumentValue]",
}
_BY_METAVAR = {
    **dict.fromkeys(("N", "PERCENT", "LEVEL"), "int"),
    **dict.fromkeys(("X", "SECONDS"), "float"),
    "BYTES": "int | str",
    "EXE": "Path",
    "X[,Y[,Z]]": "Extent",
}


def annotation(option: Option) -> str:
    """Return the type of an option's keyword."""
    if option.is_flag:
        return "bool"
    if isinstance(option.type, click.Choice):
        return f"Literal[{', '.join(map(_quoted, option.type.choices))}]"
    name, metavar = keyword_of(option), str(option.metavar)
    return _BY_NAME.get(name) or _BY_FORM.get(option.form) or _BY_METAVAR.get(metavar, "str")


def _quoted(text: object) -> str:
    return f'"{text}"'


def module() -> str:
    """Return the text of the module."""
    text = _HEAD
    for command, parameters in _PARAMETERS.items():
        context, _ = find([command])
        text += f"\n\nclass {command.title()}Keywords(TypedDict, total=False):\n"
        text += f'    """Options of `cudarun.{command}`."""\n\n'
        for option in context.command.params:
            name = keyword_of(option)
            if isinstance(option, Option) and option.is_keyword and name not in parameters:
                own = _OTHER_NAMES.get(name, name)
                names = (own, _SYNONYMS[name]) if name in _SYNONYMS else (own,)
                text += "".join(f"    {each}: {annotation(option)}\n" for each in names)
    return text


def main() -> int:
    """Write the module."""
    TARGET.write_text(module())
    return 0


if __name__ == "__main__":
    sys.exit(main())
