"""The contents of files without a driver: ``cudarun load --offline``, and linked images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.base.records import derived
from cudarun.diagnostics.entries import Diagnosed, notes
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.images.facts import ImageFacts, KernelFacts, Part
from cudarun.images.fatbin import Entry
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.ptx_usage import KernelUsages
from cudarun.images.reader import (
    check_sizes,
    combined,
    file_parts,
    no_device_code,
    read_entry,
    read_image,
    unread_part,
)
from cudarun.images.versions import parse_target
from cudarun.model.images import (
    FileReport,
    KernelReport,
    OfflineReport,
    PartReport,
    TargetReport,
    VariableReport,
)
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.diagnosis import diagnose
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import require_kernels, select_kernel
from cudarun.session.image.suggestion import GivenWords, Suggestions
from cudarun.session.load.part_reader import Answers, FileParts
from cudarun.session.load.request import OfflineScope
from cudarun.session.workers.progress import ProgressDisplay

T = TypeVar("T")


def load_offline(
    images: tuple[Image, ...],
    scope: OfflineScope | None = None,
    display: ProgressDisplay | None = None,
) -> OfflineReport:
    """Read the contents of each file."""
    return OfflineReport(tuple(read_file(image, scope, display) for image in images))


def read_file(
    image: Image, scope: OfflineScope | None = None, display: ProgressDisplay | None = None
) -> FileReport:
    """Return one file's contents, or the reason that it cannot be read."""
    scope = scope or OfflineScope()
    kind = identify(image.data)
    try:
        if kind in CONTAINERS:
            found = _container(image, kind, scope, display)
        elif kind is ImageKind.CUDA_SOURCE and scope.gpus:  # which compile it differently
            found = FileReport(image.origin, kind.value, len(image.data))
        else:
            found = _single(image, kind, scope)
        if scope.gpus:
            # Imported here: only for `--for`.
            from cudarun.session.compile.parent import compile_for_facts
            from cudarun.session.load.parent import ptx_refusals
            from cudarun.session.load.prediction import predict

            predictions = predict(image, scope, compile_for_facts, ptx_refusals)
            found = replace(found, predictions=predictions)
        return found
    except RequestError as error:
        refused: CudarunError = error
    except ImageRefused as error:
        refused = _diagnosed(error, image)
    return FileReport(image.origin, kind.value, len(image.data), error=refused)


def _single(image: Image, kind: ImageKind, scope: OfflineScope) -> FileReport:
    size, wanted = len(image.data), scope.target
    if kind is ImageKind.CUDA_SOURCE:
        from cudarun.session.compile.parent import compile_for_facts  # few files are source

        target = parse_target(wanted or "")
        image = compile_for_facts(image, scope.timeout, target)
        if target is not None:
            wanted = str(replace(target, is_virtual=False))  # the .target of PTX
    usages = KernelUsages(image.data)
    usages.collect()  # while the text is read
    facts = read_image(image.data, image.origin, image.limit)
    if image.facts is not None:  # with the parameters as the source declares them
        declared = {kernel.name: kernel.parameters for kernel in image.facts.kernels}
        kernels = (replace(each, parameters=declared[each.name]) for each in facts.kernels)
        facts = replace(facts, kernels=tuple(kernels))
    if wanted is not None and wanted not in facts.targets:
        raise _no_code(image.origin, wanted, facts.targets)
    if scope.kernel is not None:
        names = [kernel.name for kernel in facts.kernels]
        facts = _only(facts, require_kernels(names, scope.kernel, image.origin))
    return replace(_report(image, kind, facts, usages), size=size)


def _container(
    image: Image, kind: ImageKind, scope: OfflineScope, display: ProgressDisplay | None
) -> FileReport:
    parts = _parts(image, scope.target)
    if scope.kernel is None and not scope.details:  # kernels are only counted
        answers = parts.kernels(display)
        _readable(answers)
        read = [_part(part, answers[index]) for index, part in enumerate(parts.parts)]
        found = (each for _, each in sorted(answers.items()))
        return FileReport(
            image=image.origin,
            kind=kind.value,
            size=len(image.data),
            targets=tuple(dict.fromkeys(part.target for part in read)),
            fatbins=parts.fatbins,
            summary=_summary(read, [len(each) if isinstance(each, tuple) else 0 for each in found]),
            parts=tuple(_part_report(part) for part in read if part.unread),
            is_summary=True,
        )
    indices: Sequence[int] = range(len(parts.parts))
    names: list[str] = []
    if scope.kernel is not None:
        listed = _readable(parts.kernels(display))
        every = sorted({name for own in listed.values() for name in own})
        names = require_kernels(every, scope.kernel, parts.origin)
        indices = [index for index in sorted(listed) if {*names} & {*listed[index]}]
    contents = parts.contents(indices, display)
    _readable(contents)
    chosen_parts = [_part(parts.parts[index], contents[index]) for index in indices]
    if names:
        chosen_parts = [
            part if part.facts is None else replace(part, facts=_only(part.facts, names))
            for part in chosen_parts
        ]
    facts = combined(kind, tuple(chosen_parts))
    report = _report(image, kind, facts)
    counts = [len(part.facts.kernels) if part.facts else 0 for part in facts.parts]
    summary = _summary(facts.parts, counts)
    return replace(report, fatbins=parts.fatbins, summary=summary)


def _parts(image: Image, target: str | None = None) -> FileParts:
    """Return the parts of a container, or those for an architecture."""
    every = file_parts(image.data, image.origin)
    if not every:
        raise no_device_code(identify(image.data), image.origin)
    chosen = [part for part in every if target in (None, part.target)]
    if target is not None and not chosen:
        targets = tuple(dict.fromkeys(part.target for part in every))
        raise _no_code(image.origin, target, targets)
    check_sizes(chosen, len(image.data), image.origin, image.limit)
    return FileParts(image.data, image.origin, chosen)


def _part(part: Entry, answer: object) -> Part:
    """Return a part with its contents, or with the reason that they cannot be read."""
    if isinstance(answer, Part):
        return answer
    return unread_part(part, answer if isinstance(answer, CudarunError) else None)


def _readable(answers: Answers[T]) -> dict[int, T]:
    """Return what was read; raise the first refusal if nothing in a file can be read."""
    refusals = {i: each for i, each in answers.items() if isinstance(each, CudarunError)}
    if refusals and len(refusals) == len(answers):
        raise min(refusals.items())[1]
    return {i: each for i, each in answers.items() if not isinstance(each, CudarunError)}


def _summary(parts: Sequence[Part], kernels: Sequence[int]) -> tuple[TargetReport, ...]:
    """Return a line for each target and kind, from parts and their numbers of kernels."""
    groups: dict[tuple[str, str], list[tuple[Part, int]]] = {}
    for part, count in zip(parts, kernels, strict=True):
        groups.setdefault((part.target, part.kind.value), []).append((part, count))
    return tuple(
        TargetReport(
            target=target,
            kind=kind,
            parts=len(group),
            kernels=sum(count for _, count in group),
            size=sum(part.size for part, _ in group),
            stored=sum(part.stored for part, _ in group),
            unread=sum(part.unread is not None for part, _ in group),
        )
        for (target, kind), group in groups.items()
    )


def _only(facts: ImageFacts, names: Sequence[str]) -> ImageFacts:
    return replace(facts, kernels=tuple(k for k in facts.kernels if k.name in names))


def _no_code(origin: str, target: str, targets: Sequence[str]) -> RequestError:
    return RequestError(
        f"{origin} contains no code for {target}", hint=f"targets: {', '.join(targets)}"
    ).of(option="--arch", shown="")


def _report(
    image: Image, kind: ImageKind, facts: ImageFacts, usages: KernelUsages | None = None
) -> FileReport:
    reader = _KernelReader(image)
    suggestions = Suggestions(replace(image, facts=facts), image.origin, usages)
    kernels = tuple(map(reader.report, facts.kernels))
    if not (facts.is_relocatable or facts.externs):  # else it has to be linked first
        names, given = [each.name for each in kernels], GivenWords()
        kernels = tuple(
            replace(each, launch=suggestions.command(each.name, each.parameters, names, given))
            for each in kernels
        )
    return derived(
        FileReport,
        facts,
        image=image.origin,
        kind=kind.value,
        size=len(image.data),
        kernels=kernels,
        variables=tuple(derived(VariableReport, each) for each in facts.variables),
        parts=tuple(_part_report(part, reader) for part in facts.parts),
        diagnostics=(*image.warnings, *notes(reader.notes)),
    )


def read_kernel(image: Image, wanted: str | None) -> ImageFacts:
    """Return the facts of one kernel of a container, for no particular device."""
    parts = _parts(image)
    listed = _readable(parts.kernels())
    every = {each for names in listed.values() for each in names}
    name = select_kernel(every, wanted, image.origin)
    first = min(index for index, names in listed.items() if name in names)
    entry = parts.parts[first]
    facts = read_entry(entry, image.origin, whole=False)
    if entry.kind is ImageKind.PTX and not facts.has_unread_code:
        read_entry(entry, image.origin)  # its code, for the errors
    return _only(facts, [name])


class _KernelReader:
    """A reader of the kernels of a file."""

    def __init__(self, image: Image) -> None:
        self._debug = DebugReader(image)
        self.notes: dict[str, None] = {}  # the notes on debug information, each once

    def report(self, kernel: KernelFacts) -> KernelReport:
        """Return the report of a kernel with the file's facts."""
        parameters, notes = self._debug.read(kernel.name, kernel.parameters)
        self.notes |= dict.fromkeys(notes)
        return derived(KernelReport, kernel, parameters=parameters)


def _part_report(part: Part, reader: _KernelReader | None = None) -> PartReport:
    kernels = tuple(map(reader.report, part.facts.kernels)) if part.facts and reader else ()
    return derived(PartReport, part, kind=part.kind.value, kernels=kernels)


def _diagnosed(error: ImageRefused, image: Image) -> CudarunError:
    """Return the error with the diagnostics of cudarun's own parser, with their positions."""
    if isinstance(error, Diagnosed):  # by the compiler
        return error
    refused = diagnose(error, [image], LoadTarget("the offline reader", is_driver=False))
    if error.log:
        refused.what = "the text is not valid"
        refused.context.pop("file", None)  # the message begins with it
    return refused.of(origin=image.origin if error.log else None)
