"""The tables of ``managed``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cudarun.model.managed import ManagedReport, ManagedVariable, VariableContext
from cudarun.report.console import FAILED, PASSED, FittingTable, Part, print_line
from cudarun.report.errors import show_diagnostic, show_error
from cudarun.report.renderer import TableStyle


def show_managed(report: ManagedReport, out: Console, style: TableStyle) -> None:
    """Print the addresses of each variable and its values at each moment; warnings on stderr."""
    for diagnostic in report.diagnostics:
        if not (style.quiet and diagnostic.severity == "note"):
            show_diagnostic(diagnostic)
    if not report.variables and report.error is None:
        print_line(out, f"{report.image}: no __managed__ variables")
    for variable in report.variables:
        kind = "managed" if variable.managed else "one per context"
        about = f"  {variable.type}, {variable.size} bytes, {kind}"
        print_line(out, (variable.demangled, "bold"), about)
        if not style.quiet:
            print_line(out, "  ", *_verdict(variable, report.places))
        rows = FittingTable("", *(["host"] if variable.managed else []), *map(str, report.places))
        if not style.quiet:
            of_host = variable.addresses[:1] if variable.managed else ()
            addresses = map(hex, (*of_host, *variable.addresses))
            rows.add_row(Text("  address", style="dim"), *addresses)
        for observation in variable.observations:
            host = [observation.host] if observation.host else []
            values = (Text(each.text) for each in (*host, *observation.places))
            rows.add_row(Text(f"  {observation.moment}", style="dim"), *values)
        out.print(rows)
    if report.error is not None:
        out.file.flush()
        show_error(report.error)


def _verdict(variable: ManagedVariable, places: Sequence[VariableContext]) -> tuple[Part, ...]:
    """Return the verdict on the addresses and values of a variable."""
    distinct, devices = len(set(variable.addresses)), len({place.device for place in places})
    where = f"{_count(len(places), 'context')} of {_count(devices, 'device')}"
    if not variable.managed:
        return (f"{_count(distinct, 'address', 'addresses')} in {where}",)
    if not variable.one_address:
        return FAILED, f"{distinct} addresses in {where}"
    if not variable.passed:
        return FAILED, "one address, different values"
    return PASSED, f"one address and one value in {where}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
