"""The options of the Python API: those of the command line, as keywords.

A keyword is the option's name with underscores; ``shared`` is another name of ``smem``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypedDict

from cudarun.api.words import ArgumentValue, CommandWords

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
_JOINED = {"threads", "grid", "block", "cluster", "detect", "ctx_flags", "baseline_threads",
           "baseline_grid", "baseline_block"}  # fmt: skip
"""The options whose values are joined by commas."""


def add_options(
    words: CommandWords, given: Mapping[str, Any], known: Iterable[str], call: str
) -> None:
    """Add options to the words of a command line.

    Args:
        words: The words.
        given: The keywords.
        known: The keywords of the call.
        call: The call, for messages: ``launch``.

    Raises:
        TypeError: There is no such keyword.
    """
    accepted = sorted(known)
    for keyword, value in given.items():
        if keyword not in accepted:
            near = get_close_matches(keyword, accepted, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {keyword!r}{hint}")
        if _NAMES.get(keyword) in given:
            raise TypeError(f"{call}() got {keyword!r} and {_NAMES[keyword]!r}, which are the same")
        option = f"--{_NAMES.get(keyword, keyword).replace('_', '-')}"
        if value is None or value is False:
            continue
        if value is True:
            words.add(option)
            continue
        for text in _texts(words, keyword, value):
            words.add(f"{option}={text}")


def _texts(words: CommandWords, keyword: str, value: Any) -> Iterator[str]:
    """Yield the value of an option, once for each time that the option is repeated."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield f"{name}={words.value(name, item, is_file=keyword == 'expect')}"
    elif isinstance(value, str | os.PathLike) or not isinstance(value, Sequence):
        yield os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    elif keyword in _JOINED:
        yield ",".join(map(str, value))
    elif keyword == "swap":
        pairs = [value] if value and isinstance(value[0], str) else value
        yield from (",".join(pair) for pair in pairs)
    else:
        yield from (str(item) for item in value)
