"""Facts about a PTX text: its kernels with their parameter layout, and its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod

from cudarun.base.process import without_collection
from cudarun.images.demangler import demangle, parameter_types
from cudarun.images.facts import OF_THE_DRIVER, Extent, ImageFacts, KernelFacts, VariableFacts
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter, parameter_base
from cudarun.images.versions import parse_target
from cudarun.ptx.errors import PtxError
from cudarun.ptx.layout import VariableLayout, alignment_of, size_of
from cudarun.ptx.parser import SHORT, lazy_module
from cudarun.ptx.tree import Function, Integer, Module, SymbolValue, Variable

# String literals and the file names of assert(): variables without a name in the source.
_UNNAMED = re.compile(r"\$|__unnamed_|__PRETTY_FUNCTION__|__func__")


def read_ptx(data: bytes, origin: str, *, whole: bool = True) -> ImageFacts:
    """Return the facts of a PTX text; `PtxError` if it does not parse.

    Args:
        origin: Its name in messages.
        whole: Whether to parse the bodies of functions too, for their errors.
    """
    try:
        with without_collection():
            return _facts(ptx_text(data), whole=whole)
    except PtxError as error:
        error.at(file=origin)
        raise


@lru_cache(maxsize=4)  # a server launches the same kernel again
def _facts(text: str, *, whole: bool) -> ImageFacts:
    lazy = lazy_module(text)
    facts = ptx_facts(lazy.module)
    if not whole:
        return replace(facts, has_unread_code=len(text) > SHORT)
    for function in lazy.module.functions:
        lazy.read(function)
    return facts


def ptx_text(data: bytes) -> str:
    """Return the text up to its first NUL, as a driver does; the parser refuses non-ASCII."""
    return data.split(b"\0", 1)[0].decode("latin-1")


def ptx_facts(module: Module) -> ImageFacts:
    """Return the facts of a parsed module."""
    variables = [
        each
        for each in module.variables
        if each.space in ("global", "const") and each.linkage != "extern"
    ]
    target = parse_target(module.targets[0])
    base = parameter_base(target.number if target is not None else 0)
    kernels = (f for f in module.functions if f.is_entry and f.body is not None)
    return ImageFacts(
        kind=ImageKind.PTX,
        kernels=tuple(_kernel(f, base) for f in kernels),
        variables=tuple(_variable(v) for v in variables if not _UNNAMED.match(v.name)),
        unnamed=tuple(_variable(v) for v in variables if _UNNAMED.match(v.name)),
        targets=module.targets[:1],  # what follows are options: debug, texmode_independent
        ptx_version=module.version,
        externs=tuple(dict.fromkeys(_externs(module))),
    )


def _externs(module: Module) -> Iterator[str]:
    """Return the symbols that it declares but does not define, without dynamic shared memory."""
    defined = {function.name for function in module.functions if function.body is not None}
    for function in module.functions:
        if function.body is None and function.name not in defined | OF_THE_DRIVER:
            yield function.name
    for variable in module.variables:
        if variable.linkage == "extern" and variable.space != "shared":
            yield variable.name


def _kernel(function: Function, base: int) -> KernelFacts:
    types = parameter_types(demangle(function.name))
    if types is None or len(types) != len(function.parameters):
        types = tuple(map(_type_text, function.parameters))
    parameters = []
    layout = VariableLayout(base)
    for index, declared in enumerate(function.parameters):
        alignment = alignment_of(declared)
        size = size_of(declared)
        offset = layout.place(size, alignment)
        own_name = None if declared.name == f"{function.name}_param_{index}" else declared.name
        parameters.append(Parameter(index, offset - base, size, alignment, types[index], own_name))

    threads = function.directives.get("maxntid")
    return KernelFacts(
        name=function.name,
        parameters=tuple(parameters),
        max_threads=prod(threads) if threads else None,
        required_block=_extent(function, "reqntid"),
        required_cluster=_extent(function, "reqnctapercluster"),
    )


def _extent(function: Function, directive: str) -> Extent | None:
    values = function.directives.get(directive)
    if not values:
        return None
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _variable(variable: Variable) -> VariableFacts:
    is_bytes = variable.type == "b8" and variable.dimensions
    bits = (
        each.value if isinstance(each, Integer) else isinstance(each, SymbolValue) or each.bits
        for each in variable.initial or ()
    )
    return VariableFacts(
        name=variable.name,
        space=variable.space,
        size=size_of(variable),
        alignment=alignment_of(variable),
        managed="managed" in variable.attributes,
        type=None if is_bytes else _type_text(variable),
        is_zero=not any(bits) if variable.space == "const" else None,
        is_initialized=variable.initial is not None,
    )


def _type_text(variable: Variable) -> str:
    """Return a type as text: ``u32``, ``v4.f32``, ``b8[24]``, ``u64.ptr``."""
    vector = f"v{variable.vector}." if variable.vector > 1 else ""
    pointer = ".ptr" if variable.pointer is not None else ""
    extents = "".join(f"[{'' if extent is None else extent}]" for extent in variable.dimensions)
    return f"{vector}{variable.type}{pointer}{extents}"
