"""The contents of images: kernels, variables, parts. Fits any width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.console import Console
from rich.text import Text

from cudarun.model.images import FileReport, KernelReport, LoaderReport, PartReport, VariableReport
from cudarun.report.console import (
    FittingTable,
    extent_text,
    hanging,
    print_line,
    print_plain,
    print_unfolded,
)
from cudarun.report.terminal import fold_command

_LABEL_COLUMNS = 12  # as wide as compute_100a


_Fact: TypeAlias = tuple[str, str]  # a line below a kernel's name: its label and its text


def show_file(file: FileReport, out: Console) -> None:
    """Print the parts, kernels and variables of a file; of a kernel, what every part says of it."""
    if file.summary:
        # A line for each target, and the parts that cannot be read.
        has_unread = any(line.unread for line in file.summary)
        rows = FittingTable(
            "target", "kind", "images", "kernels", "size", "in the file",
            *(["unreadable"] if has_unread else []),
        )  # fmt: skip
        for line in file.summary:
            unread = [line.unread or ""] if has_unread else []
            sizes = map(size_text, (line.size, line.stored))
            rows.add_row(line.target, line.kind, line.parts, line.kernels, *sizes, *unread)
        out.print(rows)
        for part in file.parts:
            if part.unread is not None:
                where = f"fatbin {part.fatbin}, " if file.fatbins > 1 else ""
                what = f"cannot read part {part.number} ({where}{part.kind} for {part.target}): "
                print_line(out, what + part.unread.rpartition(": ")[2])
    if file.is_summary:
        return
    if len(file.parts) > len(file.summary):
        rows = FittingTable("part", "fatbin", "kind", "target", "size", "kernels")
        for part in file.parts:
            about = part.kind, part.target, part.size
            rows.add_row(part.number, part.fatbin, *about, len(part.kernels))
        out.print(rows)
    by_name: dict[str, list[tuple[PartReport, KernelReport]]] = {}
    for part in file.parts:
        for of_part in part.kernels:
            by_name.setdefault(of_part.name, []).append((part, of_part))
    for kernel in file.kernels:
        parts = by_name.get(kernel.name, ())
        uses = [(part.target, _uses(of_part) or part.kind) for part, of_part in parts]
        uses = uses or [("uses", _uses(kernel))]
        _show_kernel(kernel, [_parameters(kernel), *uses, _block(kernel)], out)
    if not file.kernels:
        out.print("no kernels")
    show_variables(file.variables, out)
    if file.externs:
        print_line(out, f"undefined symbols: {', '.join(file.externs)}")


def show_kernels(
    kernels: Sequence[KernelReport], out: Console, loaders: Sequence[LoaderReport] = ()
) -> None:
    """Print kernels, with their handles where there are several loaders or contexts."""
    for kernel in kernels:
        is_code = kernel.binary_version and not kernel.is_estimated
        uses = f"sm_{kernel.binary_version}" if is_code else "uses", _uses(kernel)
        handles = _handles(kernel, loaders)
        _show_kernel(kernel, [_parameters(kernel), uses, _block(kernel), *handles], out)
    if not kernels:
        out.print("no kernels")


def show_variables(variables: Sequence[VariableReport], out: Console) -> None:
    """Print variables; of those of CUDA's headers, only the number."""
    of_headers = [v for v in variables if v.is_of_headers]
    shown = [v for v in variables if v not in of_headers]
    columns = {
        "variable": [_names(v.name, v.demangled) for v in shown],
        "space": ["managed" if v.managed else v.space for v in shown],
        "size": [str(v.size) for v in shown],
        "type": [v.type or "" for v in shown],
        "address": ["" if v.address is None else hex(v.address) for v in shown],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    if shown:
        rows = FittingTable(*columns)
        for cells in zip(*columns.values(), strict=True):
            rows.add_row(*cells)
        lines = None if out.is_terminal else rows.plain_lines(out.width)
        if lines is None:
            out.print(rows)
        else:
            print_plain(out, lines)
    if of_headers:
        out.print(f"{len(of_headers)} more variables from CUDA headers")


def size_text(count: int) -> str:
    """Return a size with its unit: ``2.0 MiB``."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


# --- kernels -------------------------------------------------------------------------------------


def _show_kernel(kernel: KernelReport, facts: Iterable[_Fact], out: Console) -> None:
    if not out.is_terminal:  # a pipe gets whole lines
        print_plain(out, _lines(kernel, facts))
        return
    for name in _names(kernel.name, kernel.demangled).split("\n"):
        print_line(out, (name, "bold"))
    for label, text in facts:
        head = Text.assemble((f"  {label:{_LABEL_COLUMNS}} ", "dim"))
        for line in hanging(head, Text(text), out, out.width) if text else ():
            print_unfolded(out, line)
    if kernel.launch is not None:
        for part in fold_command(kernel.launch, out.width, "  "):
            print_unfolded(out, Text(part))


def _lines(kernel: KernelReport, facts: Iterable[_Fact]) -> Iterator[str]:
    """Yield the lines of a kernel, unfolded."""
    yield from _names(kernel.name, kernel.demangled).split("\n")
    yield from (f"  {label:{_LABEL_COLUMNS}} {text}" for label, text in facts if text)
    if kernel.launch is not None:
        yield f"  {kernel.launch}"


def _names(name: str, demangled: str) -> str:
    return name if name == demangled else f"{demangled}\n  {name}"


def _parameters(kernel: KernelReport) -> _Fact:
    words = ((f"{each.offset}:{each.size}", each.type, each.name) for each in kernel.parameters)
    return "parameters", ", ".join(" ".join(filter(None, each)) for each in words) or "none"


def _uses(kernel: KernelReport) -> str:
    counts = (
        ("registers (estimated)" if kernel.is_estimated else "registers", kernel.registers),
        ("B shared", kernel.shared_bytes),
        ("B const", kernel.const_bytes),
        ("B local", kernel.local_bytes),
    )
    known = ", ".join(f"{count} {what}" for what, count in counts if count is not None)
    made_of = f"; of compute_{kernel.ptx_version}" if kernel.ptx_version else ""
    lazily = "; not loaded yet" if kernel.is_loaded is False else ""
    return f"{known}{made_of}{lazily}"


def _block(kernel: KernelReport) -> _Fact:
    words = []
    if kernel.max_threads is not None:
        words.append(f"at most {kernel.max_threads} threads")
    if kernel.required_block:
        words.append(f"must be {extent_text(kernel.required_block)}")
    if kernel.required_cluster:
        words.append(f"in clusters of {extent_text(kernel.required_cluster)}")
    if kernel.occupancy is not None:
        found = kernel.occupancy
        estimated = " (estimated)" if kernel.is_estimated else ""
        words.append(
            f"occupancy{estimated} {found.share:.0%}, {found.blocks} × {extent_text(found.block)} "
            "per multiprocessor"
        )
    return "block", ", ".join(words)


def _handles(kernel: KernelReport, loaders: Sequence[LoaderReport]) -> Iterator[_Fact]:
    is_shown = len(loaders) > 1 or any(loader.before_contexts for loader in loaders)
    for loader in loaders if is_shown else ():
        for handle in loader.handles:
            if handle.name == kernel.name:
                whole = "" if handle.kernel is None else f"CUkernel {handle.kernel:#x}, "
                yield loader.via, f"{whole}CUfunction {handle.function:#x}"
