"""The options of the geometry, the attributes and the arguments of one launch."""

from __future__ import annotations

import click

from cudarun.commands.declaration import CaseForm, OptionGroup, OptionScope, option
from cudarun.commands.numbers import INT_MAX, whole
from cudarun.session.driver.contexts import CACHE_CONFIGS

BASELINE_GEOMETRY = tuple(
    option(
        f"--baseline-{name}",
        group=OptionGroup.CHECKS,
        scope=OptionScope.CASE,
        form=form,
        metavar=metavar,
        help=f"--{name} of the kernel of --baseline.  [default: that of the launch]",
    )
    for name, form, metavar in (
        ("threads", CaseForm.EXTENT, "X[,Y[,Z]]"),
        ("grid", CaseForm.EXTENT, "X[,Y[,Z]]"),
        ("block", CaseForm.EXTENT, "X[,Y[,Z]]"),
        ("smem", CaseForm.COUNT, "BYTES"),
    )
)
"""The geometry of the kernel of ``--baseline``, where it is not that of the launch."""

GEOMETRY_OPTIONS = (
    option(
        "--threads",
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXTENT,
        metavar="X[,Y[,Z]]",
        help="Total number of threads, such as 1000, 64x64 or an expression over integer "
        "arguments: n or w,h. The grid size is computed, rounded up.",
    ),
    option(
        "--grid",
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXTENT,
        metavar="X[,Y[,Z]]",
        help="Grid size in blocks, such as 4, 4x2 or '(n+255)//256'.  [default: 1 with --block]",
    ),
    option(
        "--block",
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXTENT,
        metavar="X[,Y[,Z]]",
        help="Block size in threads.  [default: the kernel's .reqntid; otherwise up to 256, 16x16 "
        "or 8x8x4 with --threads, 1 with --grid]",
    ),
    option(
        "--smem",
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.COUNT,
        metavar="BYTES",
        help="Dynamic shared memory per block in bytes, such as 48Ki or '4*n'.  [default: 0]",
    ),
    option(
        "--cooperative",
        group=OptionGroup.ATTRIBUTES,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Make a cooperative launch: all blocks are resident, and the grid can synchronize.",
    ),
    option(
        "--cluster",
        group=OptionGroup.ATTRIBUTES,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXTENT,
        metavar="X[,Y[,Z]]",
        help="Cluster size in blocks.  [default: the kernel's own]",
    ),
    option(
        "--carveout",
        group=OptionGroup.ATTRIBUTES,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.VALUE,
        type=whole(0, 100),
        metavar="PERCENT",
        help="Set the preferred shared memory carveout, 0–100 % of the maximum.",
    ),
    option(
        "--func-cache",
        group=OptionGroup.ATTRIBUTES,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.VALUE,
        type=click.Choice(CACHE_CONFIGS),
        help="Prefer shared memory or L1 for this kernel.",
    ),
    option(
        "--priority",
        group=OptionGroup.ATTRIBUTES,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=whole(-INT_MAX, INT_MAX),
        metavar="N",
        help="Launch in a stream with this priority; 0 is the lowest, negative numbers are higher.",
    ),
    option(
        "--allow-type-mismatch",
        group=OptionGroup.ARGUMENTS,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Accept buffers whose element type differs from the kernel's in size or kind.",
    ),
    option(
        "--buffer",
        "buffers",
        group=OptionGroup.ARGUMENTS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.SETTINGS,
        multiple=True,
        metavar="NAME=VALUE",
        help="Allocate a buffer that is not a parameter, such as 'a=f32[n]:iota'; &a and &a[128] "
        "are its addresses; repeatable.",
    ),
    option(
        "--set",
        "settings",
        group=OptionGroup.ARGUMENTS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.SETTINGS,
        multiple=True,
        metavar="NAME=VALUE",
        help="Write a variable of the image before the launch: __constant__, __device__ or "
        "__managed__, such as 'coef=f32[5]:[1,2,3,2,1]' or ns::scale=2; repeatable.",
    ),
    option(
        "--params",
        "passing",
        group=OptionGroup.ARGUMENTS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.VALUE,
        type=click.Choice(["array", "buffer"]),
        default="array",
        show_default=True,
        help="Pass parameters through kernelParams (array) or packed in "
        "CU_LAUNCH_PARAM_BUFFER_POINTER (buffer).",
    ),
)
