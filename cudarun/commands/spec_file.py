"""Spec files: TOML with a ``[[launch]]`` table per case, with the command line's options as keys.

A case is converted to command-line words and parsed by the command line's own options, so that both
accept and refuse the same. Everything is read before anything runs; errors name the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from cudarun.commands.compile_options import compilation, compile_options
from cudarun.commands.confinement import Confinement
from cudarun.commands.declaration import JOINED, Option, Values
from cudarun.commands.files import image_files, input_files, output_files
from cudarun.commands.inputs import read_input
from cudarun.commands.launch_options import launch_options
from cudarun.commands.launch_request import launch_request
from cudarun.commands.options import context_options, context_values, device_options, reading
from cudarun.errors import ArgumentSyntaxError, CudarunError, ImageRefused, RequestError
from cudarun.records import dataclass
from cudarun.session.driver.target import ContextOptions, Target
from cudarun.session.image.compilation import CompileOptions
from cudarun.session.image.image import Image
from cudarun.session.launch.detection import check_detection
from cudarun.session.launch.request import LaunchRequest
from cudarun.session.spec.case import Case, parse_expected, parse_requirement
from cudarun.writing import check_outputs

_TABLE = "launch"
_Entries: TypeAlias = Mapping[str, Any]

_OWN = ("name", "image", "args", "expect_error", "requires", "skip")
"""The keys that are not options. ``-`` and ``_`` are equivalent in all keys."""


@click.command(_TABLE)
@click.argument("image")
@click.argument("arguments", nargs=-1)
@launch_options
@compile_options
@device_options(default="0")
@context_options
def words(**values: Any) -> None:
    """Parse the words of a case; the command is never called."""


words.params = [
    each for each in words.params if not isinstance(each, Option) or each.form is not None
]

OPTIONS = {
    option.opts[-1].removeprefix("--"): option
    for option in words.params
    if isinstance(option, Option)
}
"""The options of a case, by name."""


@dataclass(frozen=True, slots=True)
class SpecOptions:
    """Options of the command line that apply to every case.

    Attributes:
        python: The Python for functions of ``expect``.
        allows_python: The permission to run them: ``--allow-python``.
        check_strength: The default of ``check_strength``.
        force: Let the outputs of all cases replace existing files.
        confinement: The folder that no case leaves: ``--confine``.
    """

    python: str | None = None
    allows_python: bool = False
    check_strength: str | None = None
    force: bool = False
    confinement: Confinement | None = None


_NO_OPTIONS = SpecOptions()


def read_spec(
    path: str,
    names: Sequence[str],
    where: Target,
    options: SpecOptions = _NO_OPTIONS,
    *,
    override: bool = False,
) -> list[Case]:
    """Read the cases of a spec: those named, or all.

    Args:
        path: The file; its folder is the base of relative paths in it.
        names: The names of the cases.
        where: The devices, the context and the time limit of cases without their own.
        options: The options that apply to every case.
        override: Run cases with devices of their own on those of ``where``, too.

    Raises:
        RequestError: The file cannot be read, a case in it is invalid, or no case has one of the
            names.
    """
    try:
        with reading(where):
            text = Path(path).read_text()
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}", option="--spec") from error
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is not a text in UTF-8", option="--spec") from error
    with reading(where):
        tables = _tables(path, text)
    found = _CaseReader(path, text, where, options, override=override)
    cases = []
    for index, table in enumerate(tables):
        with reading(where):  # of which each case has the limit
            cases.append(found.case(index, table))
    found.refuse_same_names(cases)
    return _chosen(path, cases, names)


def _tables(path: str, text: str) -> list[Values]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path}: {error}", hint="a spec is a TOML file") from error
    tables = document.pop(_TABLE, [])
    if document:
        key = next(iter(document))
        raise RequestError(f"{path}:{_line_of_key(text, key)}: unknown key '{key}': {_FORM}")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RequestError(f"{path}:{_line_of_key(text, _TABLE)}: {_FORM}")
    if not tables:
        raise RequestError(f"{path}: no case: {_FORM}")
    return tables


_FORM = "a spec is made of [[launch]] tables"


def _chosen(path: str, cases: list[Case], names: Sequence[str]) -> list[Case]:
    known = {case.name: case for case in cases}
    for name in names:
        if name not in known:
            raise RequestError(f"{path} has no case '{name}'", hint=_near(name, known))
    return [case for case in cases if case.name in names] if names else cases


class _CaseReader:
    """A converter of TOML tables to cases."""

    def __init__(
        self, path: str, text: str, where: Target, options: SpecOptions, *, override: bool
    ) -> None:
        self.options = options
        self.path = path
        self.text = text
        self.where = where
        self.override = override
        self.directory = Path(path).parent
        self._images: dict[tuple[str, CompileOptions], Image] = {}
        self.headers = list(_lines_like(text, rf"\[\[\s*{_TABLE}\s*\]\]", 0, None))

    def case(self, index: int, table: _Entries) -> Case:
        """Convert one table to a case.

        Raises:
            RequestError: The table is invalid.
        """
        entries = {key.replace("-", "_"): (key, value) for key, value in table.items()}
        own = {key: entries.pop(key)[1] for key in _OWN if key in entries}
        key: str | None = None
        try:
            for key in _OWN:
                _check_own(key, own.get(key))
            key = None
            argv = []
            for key, value in entries.values():
                argv += _option_words(key, value)
            key = None
            if "image" not in own:
                raise RequestError("a case needs an image")
            return self.build(index, own, self.parsed(argv, own))
        except RequestError as error:
            line = self.line_of(index, key or _key_of_error(error, table))
            if isinstance(name := own.get("name"), str):
                error.of(case=name, shown=f"case '{name}'")
            raise error.of(place=f"{self.path}:{line}") from error.__cause__

    def parsed(self, argv: list[str], own: _Entries) -> Values:
        """Parse the options as the command line would."""
        arguments = [own["image"], *own.get("args", [])]
        context = click.Context(words, info_name=_TABLE)
        try:
            words.parse_args(context, [*argv, "--", *arguments])
        except click.UsageError as error:
            message = error.format_message()
            refused = RequestError(message[:1].lower() + message[1:].rstrip("."))
            parameter = error.param if isinstance(error, click.BadParameter) else None
            raise refused.naming(*(parameter.opts[-1:] if parameter else ())) from error
        is_given = context.get_parameter_source("devices") is ParameterSource.COMMANDLINE
        if self.override or not is_given:
            context.params["devices"] = self.where.devices
        return context.params

    def build(self, index: int, own: _Entries, values: Values) -> Case:
        """Build a case from values that are individually valid."""
        values["force"] = values["force"] or self.options.force
        devices = values["devices"]
        if self.options.confinement is not None:
            self.options.confinement.check_case(words.params, values, self.directory, devices)
            values["compiler"] = "nvrtc"
        outputs = output_files(words.params, values, self.directory, devices)
        inputs = input_files(words.params, values, self.directory)
        skip = own.get("skip")
        reason = skip if isinstance(skip, str) else "skipped by the spec" if skip else None
        image, refused = self.image(values, reason)
        if image is None:
            outputs = []
        else:
            if self.options.confinement is not None:
                self.options.confinement.check_source(image)
            inputs += image_files(image)
            check_outputs(outputs, inputs)
        options = context_values(values)
        wanted = _texts(own.get("requires", []))
        expected = own.get("expect_error")
        timeout = values["timeout"]
        return Case(
            name=own.get("name") or f"{Path(values['image']).stem}-{index + 1}",
            line=self.line_of(index, None),
            request=None if image is None else self.request(values, image, wanted),
            devices=devices,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            context=self.where.context if options == ContextOptions() else options,
            timeout=self.where.timeout if timeout is None else timeout or None,
            requires=tuple(map(parse_requirement, wanted)),
            expected=None if expected is None else parse_expected(str(expected)),
            skip=reason,
            refused=refused,
        )

    def request(self, values: Values, image: Image, requires: Sequence[str]) -> LaunchRequest:
        """Build the launch of a case; its detectors must be available on the devices."""
        strength = values["check_strength"] or self.options.check_strength or "warn"
        values = {**values, "python": self.options.python, "check_strength": strength}
        where = replace(self.where, devices=values["devices"])
        request = launch_request(values, where, image, self.directory)
        if not self.options.allows_python:
            for each in request.expectations:
                if each.function is not None:
                    raise RequestError(
                        f"{each.source} is Python code to run",
                        hint="--allow-python lets the functions of a spec run",
                        option="expect",
                    )
        if "cpu" not in requires:
            check_detection(request.detection, where.devices)
        return request

    def image(self, values: Values, skip: str | None) -> tuple[Image | None, CudarunError | None]:
        """Return the image, or the reason that there is none, which the case may expect."""
        name, sources = values["image"], compilation(values)
        folders = tuple(str(self.directory / folder) for folder in sources.include)
        if name == "-":
            raise RequestError("stdin can be read only once, a case needs a file", option="image")
        if skip is not None:  # it may not have been built
            return None, None
        what = str(self.directory / name), replace(sources, include=folders)
        try:
            if what not in self._images:  # most cases launch the same few images
                self._images[what] = read_input(*what)
            return self._images[what], None
        except ImageRefused as error:
            return None, error

    def line_of(self, index: int, key: str | None) -> int:
        """Return the line of the ``index``-th case, or of a key in it, from 1."""
        start, end = [*self.headers, None][index : index + 2]
        assert start is not None, "every case has a header"
        if key is None:
            return start + 1
        names = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
        return next(_lines_like(self.text, rf"{names}\s*=", start, end), start) + 1

    def refuse_same_names(self, cases: Sequence[Case]) -> None:
        """Refuse duplicate names.

        Raises:
            RequestError: Two cases have the same name.
        """
        seen: dict[str, Case] = {}
        for case in cases:
            if case.name in seen:
                raise RequestError(
                    f"{self.path}:{case.line}: a case '{case.name}' is there already, in line "
                    f"{seen[case.name].line}"
                )
            seen[case.name] = case


def _check_own(key: str, value: object) -> None:
    """Check the type of a key that is not an option, if the key is present."""
    match key, value:
        case _, None:
            return
        case "name" | "image", str() if value:
            return
        case "args", list() if all(isinstance(each, str) for each in value):
            return
        case "requires", str() | list() if all(isinstance(each, str) for each in _texts(value)):
            return
        case "expect_error", str() | int() if not isinstance(value, bool):
            return
        case "skip", str() | bool():
            return
    kinds = {
        "args": "a list of texts",
        "requires": "a text or a list of texts",
        "expect_error": "the name or number of an error",
        "skip": "true, or the reason as a text",
    }
    raise RequestError(f"{key} is {kinds.get(key, 'a text')}")


def _option_words(key: str, value: object) -> list[str]:
    """Return one entry as command-line words.

    Raises:
        RequestError: There is no such option, or it does not accept such values.
    """
    name = _dashed(key)
    option = OPTIONS.get(name)
    if option is None:
        known = [*OPTIONS, *_OWN]
        raise RequestError(f"unknown key '{key}'", hint=_near(name, known))
    if option.is_flag:
        if not isinstance(value, bool):
            raise RequestError(f"{key} is true or false")
        return [f"--{name}"] if value else []
    several = value if isinstance(value, list) else [value]
    if not all(
        isinstance(each, str | int | float) and not isinstance(each, bool) for each in several
    ):
        raise RequestError(f"{key} is a text or a number")
    if option.multiple:
        return [f"--{name}={each}" for each in several]
    if isinstance(value, list) and option.form not in JOINED:
        raise RequestError(f"{key} has one value, not a list")
    return [f"--{name}={','.join(map(str, several))}"]


def _texts(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _near(word: str, known: Sequence[str] | Mapping[str, object]) -> str | None:
    import difflib

    near = difflib.get_close_matches(word, [*known], n=1)
    return f"did you mean {near[0]}?" if near else None


# --- line numbers ---------------------------------------------------------------------------------


def _key_of_error(error: RequestError, table: _Entries) -> str | None:
    """Return the key that an error is about: by its text, its option or its file."""
    text = error.text if isinstance(error, ArgumentSyntaxError) else None
    options = {_dashed(option).removeprefix("--") for option in error.subject("option")}
    for key, value in table.items():
        if text is not None and text in map(str, _texts(value)):
            return key
        if _dashed(key) in options:
            return key
    return "image" if "image" in table and error.subject("origin") else None


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _line_of_key(text: str, key: str) -> int:
    pattern = rf"(?:\[+\s*)?[\"']?{re.escape(key)}\b"
    return next(_lines_like(text, pattern, 0, None), 0) + 1


def _lines_like(text: str, pattern: str, start: int, end: int | None) -> Iterator[int]:
    """Yield the lines, from 0, that start with a pattern and are not inside a string or a list.

    The text between two such lines is valid TOML by itself; up to a line inside a value it is not.
    """
    lines = text.split("\n")
    begun = start
    for number in range(start, len(lines) if end is None else end):
        if re.match(rf"\s*{pattern}", lines[number]) and _is_toml("\n".join(lines[begun:number])):
            begun = number
            yield number


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
