"""The options of the Python API: those of the command line, as keywords.

A keyword is the option's name with underscores; ``shared`` is another name of ``smem``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypedDict

from cudarun.api.values import ArgumentValue, ArrayFiles

Path: TypeAlias = str | os.PathLike[str]
Extent: TypeAlias = int | str | Sequence[int | str]
"""A size along up to three axes: ``1000``, ``(64, 64)``, or an expression: ``"n"``."""


class CompileKeywords(TypedDict, total=False):
    """Options of CUDA source and of reading images."""

    compiler: Literal["auto", "nvrtc", "nvcc"]
    include: Path | Sequence[Path]
    define: str | Sequence[str]
    std: str
    compile_option: str | Sequence[str]
    max_image: int


class ContextKeywords(TypedDict, total=False):
    """Options of the context."""

    context: Literal["primary", "new"]
    ctx_flags: str | Sequence[str]
    limit: Mapping[str, int | str]
    cache_config: str


class LaunchKeywords(CompileKeywords, ContextKeywords, total=False):
    """Options of `cudarun.launch`: those of one launch of the command line."""

    threads: Extent
    grid: Extent
    block: Extent
    cluster: Extent
    smem: int | str
    shared: int | str
    cooperative: bool
    carveout: int
    func_cache: str
    priority: int
    buffer: Mapping[str, ArgumentValue]
    set: Mapping[str, ArgumentValue]
    params: Literal["array", "buffer"]
    allow_type_mismatch: bool
    seed: int | Literal["random"]
    seeds: int
    stateless: bool
    check: str | Sequence[str]
    expect: Mapping[str, ArgumentValue]
    let: Mapping[str, str]
    check_strength: Literal["off", "warn", "fail"]
    reference: str | int
    baseline: str
    baseline_threads: Extent
    baseline_grid: Extent
    baseline_block: Extent
    baseline_smem: int | str
    rtol: float
    atol: float
    equal_nan: bool
    python: Path
    expect_timeout: float
    cpu_engine: Literal["auto", "interpret", "compile"]
    cpu_threads: int
    detect: str | Sequence[str]
    prove: bool
    stats: bool
    repeat: int
    warmup: int
    input_sets: int
    hot: bool
    bytes: int | str
    flops: int | str
    profile: bool
    times: int
    swap: tuple[str, str] | Sequence[tuple[str, str]]
    graph: bool
    dry_run: bool


class LoadKeywords(CompileKeywords, ContextKeywords, total=False):
    """Options of `cudarun.load`."""

    kernel: str
    via: Literal["library", "module", "both"]
    lazy: bool
    block: Extent
    smem: int | str
    shared: int | str
    optimize: int
    max_registers: int
    threads_per_block: int
    lineinfo: bool
    debug: bool
    target: str
    cache_mode: str
    fallback: str
    position_independent: bool


_NAMES = {"shared": "smem"}
"""The other names of keywords."""
_NAMED = ("buffer", "set", "expect")
"""The keywords whose values are arguments or arrays, by name."""


def option_values(given: Mapping[str, Any], known: Iterable[str], call: str) -> dict[str, Any]:
    """Return the values of options, except those of `named_values`.

    Args:
        given: The keywords.
        known: The keywords of the call.
        call: The call, for messages: ``launch``.

    Raises:
        TypeError: There is no such keyword.
    """
    accepted = sorted(known)
    values: dict[str, Any] = {}
    for keyword, value in given.items():
        if keyword not in accepted:
            near = get_close_matches(keyword, accepted, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {keyword!r}{hint}")
        name = _NAMES.get(keyword, keyword)
        if name != keyword and name in given:
            raise TypeError(f"{call}() got {keyword!r} and {name!r}, which are the same")
        is_named = isinstance(value, Mapping) and keyword in _NAMED
        if value is not None and value is not False and not is_named:
            values[name] = _plain(value)
    return values


def _plain(value: Any) -> Any:
    """Return the value of an option as a text, a list of them or of lists, or ``True``."""
    if value is True:
        return value
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def named_values(
    files: ArrayFiles, given: Mapping[str, Any]
) -> dict[str, list[tuple[str | None, Any]]]:
    """Return the values of options that are arguments or arrays, by the option."""
    values: dict[str, list[tuple[str | None, Any]]] = {}
    for keyword in _NAMED:
        if isinstance(given.get(keyword), Mapping):
            convert = files.expected if keyword == "expect" else files.value
            values[keyword] = [(name, convert(name, each)) for name, each in given[keyword].items()]
    return values
