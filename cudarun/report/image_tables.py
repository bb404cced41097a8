"""The reports of ``load`` and ``link`` as people read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from cudarun.errors import CudarunError
from cudarun.parameters import Parameter
from cudarun.report.errors import show_diagnostic, show_error
from cudarun.report.image_types import (
    FileReport,
    KernelReport,
    LinkReport,
    LoadOutcome,
    LoadReport,
    LoadResult,
    OfflineReport,
    VariableReport,
    WayReport,
)
from cudarun.report.tables import extent_text, table

_GOOD, _BAD = "green", "red bold"


def show_load(report: LoadReport, out: Console, *, quiet: bool) -> None:
    """A verdict for each file and device, with what is in the file; errors go to stderr."""
    for outcome in report.outcomes:
        _show_outcome(outcome, out, quiet=quiet)


def show_offline(report: OfflineReport, out: Console, *, quiet: bool) -> None:
    """What each file holds."""
    for file in report.files:
        if file.error is not None:
            _show_failure(file.error, out)
            continue
        out.print(Text.assemble((file.image, "bold"), f"  {_describe(file)}"), soft_wrap=True)
        if not quiet:
            _show_contents(file, out)


def show_link(report: LinkReport, out: Console, *, quiet: bool) -> None:
    """What was linked into what, by whom and in which time."""
    for diagnostic in report.diagnostics:
        show_diagnostic(diagnostic)
    facts = (
        f"  {report.kind} for {report.target}, {report.size} bytes, "
        f"by {report.linker} in {report.milliseconds:.1f} ms"
    )
    line = Text.assemble(("linked ", "green"), (report.output, "bold"), facts)
    out.print(line, soft_wrap=True)
    if not quiet:
        for given in report.inputs:
            out.print(
                Text(f"  from {given.name}  {given.kind}, {given.size} bytes"), soft_wrap=True
            )
        _show_kernels(report.kernels, out)
        _show_variables(report.variables, out)
    if report.info_log and not quiet:
        _show_log(report.info_log, out)
    for outcome in report.loads:
        _show_outcome(outcome, out, quiet=quiet)


# --- loads ---------------------------------------------------------------------------------------


def _show_outcome(outcome: LoadOutcome, out: Console, *, quiet: bool) -> None:
    if outcome.output:
        out.print(Text(outcome.output), end="", soft_wrap=True)
    name = f" ({outcome.device.name})" if outcome.device else ""
    style = _GOOD if outcome.verdict == "loaded" else _BAD
    verdict = Text.assemble(
        (f"{outcome.verdict} ", style), (outcome.image, "bold"), f"  on {outcome.label}{name}"
    )
    out.print(verdict, soft_wrap=True)
    for result in outcome.results:
        if result.image != outcome.image and not quiet:
            out.print(Text(f"{result.image}", style="bold"), soft_wrap=True)
        _show_result(result, out, quiet=quiet)
    if outcome.error is not None:
        _show_failure(outcome.error, out)


def _show_result(result: LoadResult, out: Console, *, quiet: bool) -> None:
    if result.diagnostics:
        out.file.flush()
        for diagnostic in result.diagnostics:
            show_diagnostic(diagnostic)
    if quiet:
        return
    _show_ways(result.ways, out)
    _show_kernels(result.kernels, out)
    if result.variables is None and result.error is None:
        out.print("which variables it has cannot be read from the file")
    _show_variables(result.variables or (), out)
    for difference in result.differences:
        out.print(Text.assemble(("differs ", "yellow"), difference), soft_wrap=True)
    for log in dict.fromkeys(way.info_log for way in result.ways if way.info_log):
        _show_log(log, out)


def _show_ways(ways: Sequence[WayReport], out: Console) -> None:
    """How it was loaded; side by side where that was two ways."""
    rows = table("via", "loaded", "calls", "ms", "here: calls", "ms", "kernels", "memory", "result")
    for way in ways:
        rows.add_row(
            way.via,
            "before any context" if way.before_contexts else "in a context",
            str(way.load_calls),
            f"{way.load_milliseconds:.2f}",
            str(way.context_calls),
            f"{way.context_milliseconds:.2f}",
            str(len(way.handles)),
            "?" if way.memory_bytes is None else size_text(way.memory_bytes),
            _result_of(way),
        )
    out.print(rows)


def _result_of(way: WayReport) -> str:
    if way.error is None:
        return "ok"
    return f"{way.error.cuda[0]} {way.error.cuda[1]}" if way.error.cuda else "failed"


def _show_failure(error: CudarunError, out: Console) -> None:
    out.file.flush()
    show_error(error)


# --- what is inside ------------------------------------------------------------------------------


def _describe(file: FileReport) -> str:
    version = f" {file.ptx_version[0]}.{file.ptx_version[1]}" if file.ptx_version else ""
    facts = [
        f"{file.kind}{version if file.kind == 'PTX' else ''} for {', '.join(file.targets)}",
        f"{file.size} bytes",
    ]
    if file.is_relocatable:
        facts.append("relocatable: to be linked first")
    if file.toolkit:
        facts.append(f"by {file.toolkit}")
    if file.relocations:
        facts.append(f"{file.relocations} relocations")
    return ", ".join(facts)


def _show_contents(file: FileReport, out: Console) -> None:
    if file.parts:
        rows = table("part", "target", "size", "")
        for part in file.parts:
            rows.add_row(part.kind, part.target, str(part.size), Text(part.unread or ""))
        out.print(rows)
    _show_kernels(file.kernels, out)
    _show_variables(file.variables, out)
    if file.externs:
        out.print(Text(f"to be defined elsewhere: {', '.join(file.externs)}"), soft_wrap=True)


def _show_kernels(kernels: Sequence[KernelReport], out: Console) -> None:
    if not kernels:
        out.print("no kernels")
        return
    shown = [column for column in _COLUMNS if any(column[1](k) for k in kernels)]
    rows = table("kernel", "parameters", *(name for name, _ in shown))
    for kernel in kernels:
        rows.add_row(
            Text(_names(kernel.name, kernel.demangled)),
            Text("\n".join(map(_parameter, kernel.parameters)) or "none"),
            *(value(kernel) for _, value in shown),
        )
    out.print(rows)


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _occupancy(kernel: KernelReport) -> str:
    found = kernel.occupancy
    if found is None:
        return ""
    return f"{found.share:.0%}: {found.blocks} × {extent_text(found.block)}"


def _required(kernel: KernelReport) -> str:
    block = f"block {extent_text(kernel.required_block)}" if kernel.required_block else ""
    cluster = f"cluster {extent_text(kernel.required_cluster)}" if kernel.required_cluster else ""
    return " ".join(filter(None, (block, cluster)))


# A column is shown where at least one kernel has something in it.
_COLUMNS: tuple[tuple[str, Callable[[KernelReport], str]], ...] = (
    ("registers", lambda kernel: _number(kernel.registers)),
    ("shared", lambda kernel: _number(kernel.shared_bytes)),
    ("const", lambda kernel: _number(kernel.const_bytes)),
    ("local", lambda kernel: _number(kernel.local_bytes)),
    ("max threads", lambda kernel: _number(kernel.max_threads)),
    ("needs", _required),
    ("code", lambda kernel: f"sm_{kernel.binary_version}" if kernel.binary_version else ""),
    ("PTX", lambda kernel: f"compute_{kernel.ptx_version}" if kernel.ptx_version else ""),
    ("loaded", lambda kernel: {None: "", True: "yes", False: "lazily"}[kernel.is_loaded]),
    ("occupancy", _occupancy),
)


def _show_variables(variables: Sequence[VariableReport], out: Console) -> None:
    rows = table("variable", "space", "size", "type", "address")
    of_headers = [v for v in variables if v.demangled.startswith(_OF_HEADERS)]
    for variable in variables:
        if variable in of_headers:
            continue
        space = "managed" if variable.managed else variable.space
        address = "" if variable.address is None else hex(variable.address)
        rows.add_row(
            Text(_names(variable.name, variable.demangled)), space, str(variable.size),
            Text(variable.type or ""), address,
        )  # fmt: skip
    if rows.row_count:
        out.print(rows)
    if of_headers:
        out.print(f"and {len(of_headers)} variables of CUDA's own headers")


# Constants that cooperative_groups.h and the C++ standard library of CUDA leave in every image.
_OF_HEADERS = ("cuda::", "_INTERNAL_", "cooperative_groups::")


def _names(name: str, demangled: str) -> str:
    return name if name == demangled else f"{demangled}\n{name}"


def _parameter(parameter: Parameter) -> str:
    kind = f"  {parameter.type}" if parameter.type else ""
    name = f" {parameter.name}" if parameter.name else ""
    return f"{parameter.offset:4d}:{parameter.size}{kind}{name}"


def _show_log(log: str, out: Console) -> None:
    for line in log.splitlines():
        out.print(Text(f"  | {line}", style="dim"), soft_wrap=True)


def size_text(count: int) -> str:
    """Bytes as people read them: ``2.0 MiB``."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
