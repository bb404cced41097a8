"""The lines that name the engines of an emulated device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from cudarun.report.console import Part, print_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.base.errors import CudarunError
    from cudarun.model.launch import KernelEngine, LaunchResult
    from cudarun.model.spec import CaseReport

_LONG = 5000  # milliseconds from which on a user wants to know why a launch takes so long


def show_engines(result: LaunchResult, out: Console, *, verbose: bool) -> None:
    """Print the engines of a launch where the user asked for them, or waited.

    The counts of ``--stats`` are those of the interpreter.
    """
    is_long = result.milliseconds > _LONG
    is_counted = result.watched is not None and result.watched.statistics is not None
    _show(result.engines, out, interpreted=is_long or is_counted, verbose=verbose)


def show_engines_of_error(error: CudarunError, out: Console, *, verbose: bool) -> None:
    """Print the engines of a launch that failed, likewise; how long it took is not known."""
    _show(error.engines, out, interpreted=error.statistics is not None, verbose=verbose)


def show_engines_of_case(case: CaseReport, out: Console) -> None:
    """Print the engines of a case of a spec below its line."""
    found = case.result or case.error
    for each in found.engines if found is not None else ():
        print_line(out, "  ", _engine(each))


def _show(
    engines: Sequence[KernelEngine], out: Console, *, interpreted: bool, verbose: bool
) -> None:
    """Print engines.

    Args:
        engines: The engine of each kernel. Those that the user has selected are printed.
        out: The console.
        interpreted: Print kernels that are interpreted by default, too.
        verbose: Print all.
    """
    for each in engines:
        if verbose or (interpreted and each.engine == "interpret") or not each.is_default:
            print_line(out, _engine(each))


def _engine(each: KernelEngine) -> Part:
    engine = "compiled" if each.engine == "compile" else "interpreted"
    some = "" if each.reason is None else f": {each.reason}"
    return f"{each.demangled}: {engine}{some}", "dim"
