"""The options of the Python API: those of the command line, as keywords.

Written by `python -m tools.generate_api_keywords` from the declarations: change those.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

from cudarun.api.values import ArgumentValue

Path: TypeAlias = str | os.PathLike[str]
Extent: TypeAlias = int | str | Sequence[int | str]
"""A size along up to three axes: ``1000``, ``(64, 64)``, or an expression: ``"n"``."""


class LaunchKeywords(TypedDict, total=False):
    """Options of `cudarun.launch`."""

    threads: Extent
    grid: Extent
    block: Extent
    smem: int | str
    shared: int | str
    cooperative: bool
    cluster: Extent
    pdl: bool
    carveout: int
    func_cache: Literal["none", "shared", "l1", "equal"]
    priority: int
    allow_type_mismatch: bool
    buffer: Mapping[str, ArgumentValue]
    set: Mapping[str, ArgumentValue]
    params: Literal["array", "buffer"]
    check: str | Sequence[str]
    asserts: str | Sequence[str]
    expect: Mapping[str, ArgumentValue]
    check_strength: Literal["off", "warn", "fail"]
    seeds: int
    stateless: bool
    schedule: int | Literal["late"]
    schedules: int
    python: Path
    expect_timeout: float
    let: Mapping[str, str]
    reference: str | int
    baseline: str
    baseline_threads: Extent
    baseline_grid: Extent
    baseline_block: Extent
    baseline_smem: int | str
    rtol: float
    atol: float
    equal_nan: bool
    algebra: bool
    seed: int | Literal["random"]
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
    compiler: Literal["auto", "nvrtc", "nvcc"]
    include: Path | Sequence[Path]
    define: str | Sequence[str]
    std: str
    compile_option: str | Sequence[str]
    max_image: int | str
    dry_run: bool
    context: Literal["primary", "new"]
    ctx_flags: str | Sequence[str]
    limit: Mapping[str, int | str]
    cache_config: Literal["none", "shared", "l1", "equal"]
    cpu_engine: Literal["auto", "interpret", "compile"]
    cpu_threads: int


class LoadKeywords(TypedDict, total=False):
    """Options of `cudarun.load`."""

    via: Literal["library", "module", "both"]
    lazy: bool
    kernel: str
    block: Extent
    smem: int | str
    shared: int | str
    optimize: int
    max_registers: int
    threads_per_block: int
    lineinfo: bool
    debug: bool
    target: str
    cache_mode: Literal["none", "ca", "cg"]
    fallback: Literal["prefer-ptx", "prefer-binary"]
    position_independent: bool
    compiler: Literal["auto", "nvrtc", "nvcc"]
    include: Path | Sequence[Path]
    define: str | Sequence[str]
    std: str
    compile_option: str | Sequence[str]
    max_image: int | str
    context: Literal["primary", "new"]
    ctx_flags: str | Sequence[str]
    limit: Mapping[str, int | str]
    cache_config: Literal["none", "shared", "l1", "equal"]
