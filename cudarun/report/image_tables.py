"""The tables of ``load`` and ``link``."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.base.errors import CudarunError
from cudarun.model import images
from cudarun.report.console import FittingTable, print_line, print_unfolded
from cudarun.report.errors import show_diagnostic, show_error
from cudarun.report.image_contents import show_file, show_kernels, show_variables, size_text
from cudarun.report.renderer import TableStyle
from cudarun.report.terminal import ranges

_SILENCE = "(no linker messages)"
_GOOD, _BAD = "green", "red bold"
_API = {"library": "cuLibrary", "module": "cuModule"}


def show_load(report: images.LoadReport, out: Console, style: TableStyle) -> None:
    """Print a verdict for each file and device, and the contents of the file; errors on stderr.

    Of a file with several fatbins the kernels are shown if ``verbose``, or if one was requested.
    """
    for outcome in report.outcomes:
        details = style.verbose or report.kernel is not None
        _show_outcome(outcome, out, quiet=style.quiet, details=details)


def show_offline(report: images.OfflineReport, out: Console, style: TableStyle) -> None:
    """Print the contents of each file."""
    for file in report.files:
        out.file.flush()
        if file.error is not None:
            show_error(file.error)
            continue
        for diagnostic in file.diagnostics:
            show_diagnostic(diagnostic)
        print_line(out, (file.image, "bold"), f"  {_describe(file)}")
        if file.predictions:
            # A row for each kernel on each GPU; the reasons of refusals below the table.
            rows = FittingTable("GPU", "arch", "code", "kernel", "result", "blocks/SM")
            for each in file.predictions:
                rows.add_row(
                    each.gpu,
                    f"sm_{each.architecture}",
                    each.code or "none",
                    each.demangled or "",
                    Text(each.verdict.replace("-", " "), _GOOD if each.error is None else _BAD),
                    "" if each.occupancy is None else str(each.occupancy.blocks),
                )
            out.print(rows)
            out.file.flush()
            shown: set[tuple[str, str]] = set()  # a refusal of a file concerns all its kernels
            for each in file.predictions:
                if each.error is not None and (each.gpu, each.error.what) not in shown:
                    shown.add((each.gpu, each.error.what))
                    show_error(each.error)
        elif not style.quiet:
            show_file(file, out)
            if file.is_summary:
                out.print("kernels: -v, or -k KERNEL")


def show_link(report: images.LinkReport, out: Console, style: TableStyle) -> None:
    """Print the output of a link, its inputs, the linker and its time."""
    for diagnostic in report.diagnostics:
        show_diagnostic(diagnostic)
    facts = (
        f"  {report.kind} for {report.target}, {report.size} bytes, "
        f"by {report.linker} in {report.milliseconds:.1f} ms"
    )
    print_line(out, ("linked ", "green"), (report.output, "bold"), facts)
    if report.output.endswith(".cubin") and report.kind != "cubin":
        print_line(out, f"  note: the file is {report.kind}: the emulated device links to no cubin")
    if not style.quiet:
        for given in report.inputs:
            print_line(out, f"  from {given.name}  {given.kind}, {given.size} bytes")
        show_kernels(report.kernels, out)
        show_variables(report.variables, out)
        _show_log(report.info_log or (_SILENCE if style.verbose else ""), out)
    for outcome in report.loads:
        _show_outcome(outcome, out, quiet=style.quiet)


# --- loads ---------------------------------------------------------------------------------------


def _show_outcome(
    outcome: images.LoadOutcome, out: Console, *, quiet: bool, details: bool = True
) -> None:
    if outcome.output:
        print_unfolded(out, Text(outcome.output), end="")
    name = f" ({outcome.device.name})" if outcome.device else ""
    verdict = f"{outcome.verdict} ", _GOOD if outcome.verdict == "loaded" else _BAD
    print_line(out, verdict, (outcome.image, "bold"), f"  on {outcome.label}{name}")
    is_summary = len(outcome.results) > 1 and not details
    if len(outcome.results) > 1 and not quiet:
        # A line for each fatbin of the file, and why some were not loaded.
        rows = FittingTable("fatbin", "target", "verdict", "kernels", "ms", "memory")
        for result in outcome.results:
            times = [each.load_milliseconds + each.context_milliseconds for each in result.loaders]
            memory = [each.memory_bytes for each in result.loaders if each.memory_bytes is not None]
            loaded = Text(result.verdict or "", _GOOD if result.verdict == "loaded" else _BAD)
            cost = f"{sum(times):.1f}" if times else "", size_text(sum(memory)) if memory else ""
            rows.add_row(result.fatbin, result.target or "", loaded, len(result.kernels), *cost)
        out.print(rows)
        failed: dict[tuple[str, str], list[int]] = {}
        for result in outcome.results:
            if result.error is not None:
                key = str(result.verdict), _reason(result.error)
                failed.setdefault(key, []).append(result.fatbin or 0)
        for (word, reason), fatbins in failed.items():
            noun = "fatbin" if len(fatbins) == 1 else "fatbins"
            print_line(out, (f"{word} ", _BAD), f"{noun} {ranges(fatbins, ', ')}: {reason}")
    for result in outcome.results:
        if result.image != outcome.image and not (quiet or is_summary):
            print_line(out, (result.image, "bold"))
        _show_result(result, out, quiet=quiet or is_summary)
    if outcome.error is not None:
        out.file.flush()
        show_error(outcome.error)


def _reason(error: CudarunError) -> str:
    """Return an error without the file that it is about."""
    words = ": ".join(filter(None, (*error.subject("operation"), error.what, error.cause)))
    return f"{words} ({error.cuda[0]}, {error.cuda[1]})" if error.cuda else words


def _show_result(result: images.LoadResult, out: Console, *, quiet: bool) -> None:
    if result.diagnostics:
        out.file.flush()
        for diagnostic in result.diagnostics:
            show_diagnostic(diagnostic)
    if quiet:
        return
    if len(result.loaders) > 1:
        # Two loaders side by side, and the error of the second if it differs.
        rows = FittingTable("API", "loaded", "calls", "ms", "kernels", "calls", "ms", "memory")
        for loader in result.loaders:
            when = "before any context" if loader.before_contexts else "in a context"
            when = when if loader.error is None else "refused"
            load = loader.load_calls, f"{loader.load_milliseconds:.2f}"
            kernels = (
                len(loader.handles),
                loader.context_calls,
                f"{loader.context_milliseconds:.2f}",
            )
            memory = "?" if loader.memory_bytes is None else size_text(loader.memory_bytes)
            rows.add_row(_API[loader.via], when, *load, *kernels, memory)
        out.print(rows)
        errors = {loader.via: loader.error for loader in result.loaders if loader.error is not None}
        shown = next(iter(errors.values()), None)
        for via, error in errors.items():
            if shown is not None and error.cuda != shown.cuda:
                print_line(out, f"{_API[via]}: {error}")
    elif result.error is None:
        for loader in result.loaders:
            before = " before any context" if loader.before_contexts else ""
            text = (
                f"{_API[loader.via]}{before}: {_calls(loader.load_calls, loader.load_milliseconds)}"
            )
            text += f"; kernels: {_calls(loader.context_calls, loader.context_milliseconds)}"
            if loader.memory_bytes is not None:
                text += f"; device memory: {size_text(loader.memory_bytes)}"
            print_line(out, (f"  {text}", "dim"))
    if result.error is None or result.kernels:
        show_kernels(result.kernels, out, result.loaders)
    if result.kernels:
        for refused in result.refusals:
            print_line(out, ("cannot run ", _BAD), refused.demangled)
            for reason in refused.reasons:
                print_line(out, f"  {reason}")
    if result.variables is None and result.error is None:
        out.print("its variables cannot be determined from the file")
    show_variables(result.variables or (), out)
    for difference in result.differences:
        print_line(out, ("differs ", "yellow"), difference)
    for log in dict.fromkeys(loader.info_log for loader in result.loaders if loader.info_log):
        _show_log(log, out)
    silences: dict[str, list[str]] = {}  # the reasons for empty logs, each with its loaders
    for loader in result.loaders:
        if loader.silence is not None:
            silences.setdefault(loader.silence, []).append(_API[loader.via])
    for silence, names in silences.items():
        whose = f"{', '.join(names)}: " if len(names) < len(result.loaders) else ""
        _show_log(f"({whose}{silence})", out)


def _calls(count: int, milliseconds: float) -> str:
    return f"{count} call{'s' * (count != 1)}, {milliseconds:.1f} ms"


def _describe(file: images.FileReport) -> str:
    version = f" {file.ptx_version[0]}.{file.ptx_version[1]}" if file.ptx_version else ""
    targets = f" for {', '.join(file.targets)}" if file.targets else ""
    kind = f"{file.kind}{version if file.kind == 'PTX' else ''}"
    facts = [f"{kind}{targets}", f"{file.size} bytes"]
    if file.fatbins > 1:
        facts.append(f"{file.fatbins} fatbins")
    if file.is_relocatable:
        facts.append("relocatable: link it first")
    if file.toolkit:
        facts.append(f"by {file.toolkit}")
    if file.relocations:
        facts.append(f"{file.relocations} relocations")
    return ", ".join(facts)


def _show_log(log: str, out: Console) -> None:
    for line in log.splitlines():
        print_line(out, (f"  | {line}", "dim"))
