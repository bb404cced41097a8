"""The contents of files without a driver: ``cudarun load --offline``, and linked images."""

from __future__ import annotations

from dataclasses import replace

from cudarun.diagnostics.entries import Diagnostic, notes
from cudarun.diagnostics.errors import Diagnosed
from cudarun.diagnostics.explanations import explain
from cudarun.diagnostics.refusals import LoadTarget, RefusalFacts
from cudarun.errors import CudarunError, ImageRefused
from cudarun.images.facts import ImageFacts, KernelFacts, Part, VariableFacts
from cudarun.images.kinds import identify
from cudarun.images.reader import read_image
from cudarun.images.summary import summarize
from cudarun.report.image_types import (
    FileReport,
    KernelReport,
    OfflineReport,
    PartReport,
    VariableReport,
)
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.diagnosis import diagnostics_of
from cudarun.session.image.image import Image
from cudarun.session.image.suggestion import GivenWords, Suggestions


def load_offline(images: tuple[Image, ...]) -> OfflineReport:
    """Read the contents of each file."""
    return OfflineReport(tuple(read_file(image) for image in images))


def read_file(image: Image) -> FileReport:
    """Return one file's contents, or the reason that it cannot be read."""
    kind = identify(image.data).value
    try:
        facts = read_image(image.data, image.origin, image.limit)
    except ImageRefused as error:
        refused = _diagnosed(error, image)
        return FileReport(image.origin, kind, len(image.data), error=refused)
    reader = _KernelReader(image)
    return FileReport(
        image=image.origin,
        kind=kind,
        size=len(image.data),
        targets=facts.targets,
        ptx_version=facts.ptx_version,
        toolkit=facts.toolkit,
        is_relocatable=facts.is_relocatable,
        kernels=_with_commands(image, facts, reader),
        variables=tuple(map(variable_report, facts.variables)),
        externs=facts.externs,
        relocations=facts.relocations,
        parts=tuple(_part_report(part, reader) for part in facts.parts),
        diagnostics=notes(reader.notes),
    )


class _KernelReader:
    """A reader of the kernels of a file.

    Attributes:
        notes: The notes on debug information, each once.
    """

    def __init__(self, image: Image) -> None:
        self._debug = DebugReader(image)
        self.notes: dict[str, None] = {}

    def report(self, kernel: KernelFacts) -> KernelReport:
        """Return the report of a kernel with the file's facts."""
        debug = self._debug.read(kernel.name, kernel.parameters)
        self.notes |= dict.fromkeys(debug.notes)
        return KernelReport(
            name=kernel.name,
            demangled=kernel.demangled,
            parameters=debug.parameters,
            registers=kernel.registers,
            shared_bytes=kernel.shared_bytes,
            const_bytes=kernel.const_bytes,
            local_bytes=kernel.local_bytes,
            max_threads=kernel.max_threads,
            required_block=kernel.required_block,
            required_cluster=kernel.required_cluster,
        )


def _with_commands(
    image: Image, facts: ImageFacts, reader: _KernelReader
) -> tuple[KernelReport, ...]:
    """Return the reports of the kernels, with the commands that launch them."""
    reports = tuple(map(reader.report, facts.kernels))
    if facts.is_relocatable or facts.externs:  # it has to be linked first
        return reports
    suggestions = Suggestions(replace(image, facts=facts), image.origin)
    names = [kernel.name for kernel in facts.kernels]
    return tuple(
        replace(
            report, launch=suggestions.command(report.name, report.parameters, names, GivenWords())
        )
        for report in reports
    )


def _part_report(part: Part, reader: _KernelReader) -> PartReport:
    kernels = part.facts.kernels if part.facts else ()
    return PartReport(
        part.kind.value, part.target, part.size, part.unread, tuple(map(reader.report, kernels))
    )


def variable_report(variable: VariableFacts) -> VariableReport:
    """Return the report of a variable with the file's facts."""
    return VariableReport(
        name=variable.name,
        demangled=variable.demangled,
        space=variable.space,
        size=variable.size,
        managed=variable.managed,
        type=variable.type,
    )


def _diagnosed(error: ImageRefused, image: Image) -> CudarunError:
    """Return the error with the diagnostics of cudarun's own parser, with their positions."""
    diagnostics: tuple[Diagnostic, ...] = diagnostics_of(error.log or "", [image])
    case = RefusalFacts(
        LoadTarget("the offline reader", is_driver=False),
        summarize(image.data, image.origin),
        diagnostics=diagnostics,
        log=error.log or "",
    )
    explanation = explain(case)
    refused = Diagnosed(
        "the text is not valid" if error.log else error.what,
        diagnostics=diagnostics,
        explanation=explanation.reason if explanation else None,
        hint=explanation.remedy if explanation else error.hint,
        log=error.log,
    )
    return refused.like(error).of(origin=image.origin if error.log else None)
