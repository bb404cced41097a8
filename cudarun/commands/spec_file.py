"""Spec files: TOML with a ``[[launch]]`` table per case, with the command line's options as keys.

The values of a case are converted by the command line's own options, so that both accept and refuse
the same. Everything is read before anything runs; errors name the line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.base.files import OutputFile, check_outputs
from cudarun.base.options import CaseForm
from cudarun.base.toml_text import escaped_references
from cudarun.commands import spec_keys
from cudarun.commands.declaration import Values, filled
from cudarun.commands.files import (
    image_files,
    input_files,
    output_files,
    relocated_path,
    with_paths,
)
from cudarun.commands.inputs import is_recording, read_input, read_text
from cudarun.commands.keywords import keyword_context
from cudarun.commands.launch_request import baseline_values, code_of, program_request
from cudarun.commands.options import reading
from cudarun.commands.recorded_request import with_candidate
from cudarun.commands.spec_matrix import MATRIX, Instance, Matrix, instance_name, substituted, typed
from cudarun.commands.spec_options import SpecOptions
from cudarun.commands.spec_text import (
    DEFAULTS,
    SpecEntry,
    SpecText,
    TomlTable,
    is_stream,
    spec_folder,
)
from cudarun.session.driver.contexts import ContextOptions, Target
from cudarun.session.image.image import CompileOptions, Image
from cudarun.session.launch.detection import check_detection
from cudarun.session.launch.request import Program
from cudarun.session.spec.case import Case, parse_expected, parse_requirement
from cudarun.session.spec.filter import named

MAX_CASES = 10_000  # the most cases of a spec, with all instances of their matrices

_TEXTS = frozenset({"name", "image", "candidate"})
"""Keys whose values remain texts if a number of the matrix replaces them."""


_NO_OPTIONS = SpecOptions()


def read_spec(
    path: str,
    names: Sequence[str],
    where: Target,
    options: SpecOptions = _NO_OPTIONS,
    filter_text: str | None = None,
) -> list[Case]:
    """Read the cases of a spec: those selected, or all.

    Args:
        path: The file, or ``-`` for stdin; its folder is the base of relative paths in it, for
            stdin the working directory.
        names: The names of the cases; ``*`` and ``?`` match.
        where: The devices, the context and the time limit of cases without their own.
        filter_text: The expression of ``--filter``.
    """
    with reading(where):
        text = SpecText(path, read_text(path, "--spec"))
    selected: list[Case] = []
    for candidate in options.candidates or (None,):
        cases = _CaseReader(text, where, options, candidate).cases()
        chosen = named(cases, names, path)
        if filter_text is not None:
            from cudarun.session.spec.filter import parse_filter

            passes = parse_filter(filter_text, cases)
            chosen = [case for case in chosen if passes(case)]
            if not chosen:
                what = f"no case matches {filter_text!r}"
                raise RequestError(what, hint="list the cases with --list", option="--filter")
        selected += chosen
    _refuse_too_many(len(selected))
    return selected


def _refuse_too_many(count: int) -> None:
    if count > MAX_CASES:
        raise RequestError(f"{count} cases exceed the limit of {MAX_CASES} cases per spec")


class _CaseReader:
    """A converter of TOML tables to cases."""

    def __init__(
        self, text: SpecText, where: Target, options: SpecOptions, candidate: str | None = None
    ) -> None:
        self.options = options
        self.candidate = candidate
        self.text = text
        self.where = where
        self.directory = spec_folder(text.path)
        self.rerun: tuple[str, ...] | None = None  # the command, unless it is read only once
        if not is_stream(text.path) and os.path.isfile(text.path):
            self.rerun = "cudarun", "launch", "--spec", text.path, *options.words
        self._images: dict[tuple[str, CompileOptions, int | None], Image] = {}
        for normal, entry in text.defaults.entries.items():
            if normal == DEFAULTS or not spec_keys.is_key(normal):
                raise spec_keys.unknown_key(entry.key).of(place=entry.place)

    def cases(self) -> list[Case]:
        """Return all cases of the spec; `RequestError` if one is invalid, or there is none."""
        cases: list[Case] = []
        for index, own in enumerate(self.text.tables):
            with reading(self.where):
                table = self.complete(own)
            for instance in self.instances(table, len(cases)):
                with reading(self.where):  # of which each case has the limit
                    cases.append(self.case(index, table, instance))
        if not cases:
            raise RequestError(
                f"{self.text.path}: the spec has no cases",
                hint="add a [[launch]] table for each case",
            )
        seen: dict[str, Case] = {}
        for case in cases:
            if case.name in seen:
                raise RequestError(
                    f"{self.text.path}:{case.line}: duplicate case '{case.name}', first defined "
                    f"in line {seen[case.name].line}"
                )
            seen[case.name] = case
        return cases

    def complete(self, table: TomlTable) -> TomlTable:
        """Return a table with the entries of the defaults that it does not replace."""
        own = dict(table.entries)
        switch = own.pop(DEFAULTS, SpecEntry(DEFAULTS, True, table.place))
        if not isinstance(switch.value, bool):
            raise RequestError(f"{switch.key} must be true or false").of(place=switch.place)
        if self.candidate is not None:
            move = partial(relocated_path, folder=self.directory)
            text = escaped_references(with_paths(CaseForm.KERNEL, self.candidate, move))
            own["candidate"] = SpecEntry("candidate", text, table.place_of("image"))
        defaults = self.text.defaults.entries if switch.value else {}
        return TomlTable(table.place, defaults | own)

    def instances(self, table: TomlTable, count: int) -> Iterator[Instance]:
        """Yield the values of each instance of a table.

        Args:
            count: The number of cases before it.
        """
        try:
            matrix = Matrix(table.entries[MATRIX].value if MATRIX in table.entries else {})
            _refuse_too_many(count + matrix.count)
        except RequestError as error:
            raise error.of(place=table.place_of(MATRIX)) from error.__cause__
        yield from matrix

    def case(self, index: int, table: TomlTable, instance: Instance) -> Case:
        """Convert one table, with values of its matrix, to a case."""
        name = table.entries["name"].value if "name" in table.entries else None
        own: dict[str, Any] = {}
        steps: list[Values] = []
        for step in spec_keys.step_tables(table):
            entries: dict[str, SpecEntry] = {}
            normal: str | None = None
            try:
                for normal, entry in step.entries.items():
                    if normal != MATRIX:
                        value = entry.value
                        if normal in _TEXTS and isinstance(value, str):
                            value = substituted(value, instance)
                        else:
                            value = typed(value, instance)
                        if any(
                            isinstance(each, str) and "\0" in each
                            for each in spec_keys.texts(value)
                        ):
                            raise RequestError(f"{normal} contains a NUL character")
                        entries[normal] = entry._replace(value=value)
                    if normal in spec_keys.OWN_KEYS:
                        own[normal] = entries[normal].value
                        spec_keys.check_own(normal, own[normal])
                keywords: Values = {}
                for normal, entry in entries.items():
                    if normal not in spec_keys.OWN_KEYS:
                        keywords[normal] = spec_keys.checked_value(entry.key, entry.value)
                normal = None
                if not own.keys() & {"image", "candidate"}:
                    raise RequestError("the case has no image")
                image = own.get("image", "")
                keywords |= {"image": image, "arguments": tuple(own.pop("args", ()))}
                steps.append(
                    with_candidate(
                        self.parsed(keywords),
                        own.pop("candidate", None),
                        is_recording=is_recording(os.fspath(self.directory / image)),
                    )
                )
            except RequestError as error:
                raise spec_keys.located(error, name, step, normal, entries) from error.__cause__
        try:
            return self.build(index, own, steps, None if name is None else str(name), instance)
        except RequestError as error:
            raise spec_keys.located(error, name, step, None, entries) from error.__cause__

    def parsed(self, keywords: Values) -> Values:
        """Convert the keys of a launch as the command line would."""
        try:
            context = keyword_context(spec_keys.case_command, keywords)
        except click.UsageError as error:
            message = error.format_message()
            refused = RequestError(message[:1].lower() + message[1:].rstrip("."))
            parameter = error.param if isinstance(error, click.BadParameter) else None
            raise refused.naming(*(parameter.opts[-1:] if parameter else ())) from error
        if context.get_parameter_source("devices") is not ParameterSource.COMMANDLINE:
            context.params["devices"] = self.where.devices
        return context.params | self.options.overrides

    def build(
        self,
        index: int,
        own: Mapping[str, object],
        steps: Sequence[Values],
        name: str | None,
        instance: Instance,
    ) -> Case:
        """Build a case from values that are individually valid.

        Args:
            own: The values of keys that are not options.
            steps: For each step the values of the options; those of the whole case are equal.
        """
        whole = steps[0]
        devices = whole["devices"]
        skip = own.get("skip")
        reason = skip if isinstance(skip, str) else "skipped by the spec" if skip else None
        outputs: list[OutputFile] = []
        inputs: list[str] = []
        images: dict[tuple[str, str | None], Image] = {}
        refused: CudarunError | None = None
        for step in steps:
            if self.options.confinement is not None:
                self.options.confinement.check_case(
                    spec_keys.case_command.params, step, self.directory, devices
                )
                step["compiler"] = "nvrtc"
            outputs += output_files(spec_keys.case_command.params, step, self.directory, devices)
            inputs += input_files(spec_keys.case_command.params, step, self.directory)
            for values in filter(None, (step, baseline_values(step))):
                image, refusal = self.image(values, reason)
                refused = refused or refusal
                if image is not None:
                    inputs += image_files(image)
                    images[code_of(values)] = image
        requires = spec_keys.texts(own.get("requires", []))
        request: Program | None = None
        if reason is None and refused is None:
            check_outputs(outputs, inputs)
            request = self.request(steps, images, requires)
        expected = own.get("expect_error")
        timeout = whole["timeout"]
        title = name or f"{Path(whole['image']).stem}-{index + 1}"
        kernel: str | None = whole["kernel"]
        if request is not None:  # the given one, Triton's, or the only one of an image
            facts = request.last.image.facts
            kernels = facts.kernels if facts is not None else ()
            kernel = request.last.kernel or (kernels[0].name if len(kernels) == 1 else None)
        is_given = whole["seed"] == "random" or "seed" in self.options.overrides
        is_drawn = request is not None and is_given and request.is_random
        return Case(
            name=instance_name(title, instance),
            line=self.text.line_of_case(index),
            image=whole["image"],
            request=request,
            devices=devices,
            inputs=tuple(inputs),
            outputs=() if request is None else tuple(outputs),
            context=filled(ContextOptions, whole),
            timeout=self.where.timeout if timeout is None else timeout or None,
            requires=tuple(map(parse_requirement, requires)),
            expected=None if expected is None else parse_expected(str(expected)),
            skip=reason,
            refused=refused,
            base=substituted(title, instance),
            kernel=kernel,
            arguments=tuple(whole["arguments"]),
            matrix=instance,
            rerun=self.rerun,
            # The seed that the command line must repeat: one that the spec does not give.
            drawn_seed=request.options.seed if is_drawn and request is not None else None,
            candidate=self.candidate,
        )

    def request(
        self,
        steps: Sequence[Values],
        images: Mapping[tuple[str, str | None], Image],
        requires: Sequence[str],
    ) -> Program:
        """Build the launch of a case; its detectors must be available on the devices."""
        where = replace(self.where, devices=steps[0]["devices"])
        request = program_request(
            steps,
            where,
            lambda values: images[code_of(values)],
            self.directory,
        )
        if not self.options.allows_python:
            for each in (each for step in request.steps for each in step.expectations):
                if each.function is not None:
                    raise RequestError(
                        f"{each.source} requires running Python code",
                        hint="allow the functions of a spec with --allow-python",
                        option="expect",
                    )
        if "cpu" not in requires:
            check_detection(request, where.devices)
        return request

    def image(self, values: Values, skip: str | None) -> tuple[Image | None, CudarunError | None]:
        """Return the image, or the reason that there is none, which the case may expect."""
        names, sources = [*filter(None, code_of(values))], filled(CompileOptions, values)
        folders = tuple(str(self.directory / folder) for folder in sources.include)
        if "-" in names:
            raise RequestError(
                "a case cannot read its image from stdin; pass a file", option="image"
            )
        if skip is not None:  # it may not have been built
            return None, None
        confined = self.options.confinement
        root = None if confined is None else confined.root
        options = replace(sources, include=folders, confined_to=root)
        found: list[Image] = []
        try:
            for name in names:
                what = str(self.directory / name), options, values["max_image"]
                if what not in self._images:  # most cases launch the same few images
                    self._images[what] = read_input(*what)
                found.append(self._images[what])
            return found[-1].replaying(found[0]), None
        except ImageRefused as error:
            return None, error
