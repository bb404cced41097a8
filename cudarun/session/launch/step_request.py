"""The request of one launch: a step of a program, whose fields are filled by options."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.base.files import FileUse
from cudarun.base.options import (
    INT_MAX,
    CaseForm,
    OptionGroup,
    OptionScope,
    fields_of_group,
    option_field,
)
from cudarun.base.records import dataclass
from cudarun.session.driver.contexts import CACHE_CONFIGS
from cudarun.session.load.request import Extent

if TYPE_CHECKING:  # only for annotations: a request of `devices` needs no argument grammar
    from cudarun.arguments.assertions import Assertion
    from cudarun.arguments.expressions.statements import Check, Let
    from cudarun.arguments.expressions.syntax import Expression
    from cudarun.arguments.scalars import CompiledConstant
    from cudarun.arguments.values import Argument
    from cudarun.base.profiles import Profile
    from cudarun.session.image.image import Image

ShowKind: TypeAlias = Literal["hist", "image", "plot"]
SHOW_KINDS: tuple[ShowKind, ...] = ("hist", "image", "plot")  # the forms of ``--show``

_first = partial(option_field, group=OptionGroup.FIRST, scope=OptionScope.CASE)
_attribute = partial(option_field, group=OptionGroup.ATTRIBUTES, scope=OptionScope.CASE)
_argument = partial(option_field, group=OptionGroup.ARGUMENTS, scope=OptionScope.CASE)
_check = partial(option_field, group=OptionGroup.CHECKS, scope=OptionScope.CASE)
_output = partial(option_field, group=OptionGroup.OUTPUT, scope=OptionScope.CASE)
_program = partial(option_field, group=OptionGroup.PROGRAMS, scope=OptionScope.CASE)


@dataclass(frozen=True, slots=True)
class GeometryRequest:
    """The launch geometry as requested: integer expressions over the arguments, or nothing."""

    threads: tuple[Expression, ...] | None = _first(
        "--threads X[,Y[,Z]]",
        form=CaseForm.EXTENT,
        help="Total number of threads, such as 1000, 64x64 or an expression over integer "
        "arguments: n or w,h. The grid size is computed, rounded up.",
    )
    grid: tuple[Expression, ...] | None = _first(
        "--grid X[,Y[,Z]]",
        form=CaseForm.EXTENT,
        help="Grid size in blocks, such as 4, 4x2 or '(n+255)//256'.  [default: 1 with --block]",
    )
    block: tuple[Expression, ...] | None = _first(
        "--block X[,Y[,Z]]",
        form=CaseForm.EXTENT,
        help="Block size in threads.  [default: the kernel's .reqntid; otherwise up to 256, "
        "16x16 or 8x8x4 with --threads, 1 with --grid]",
    )
    shared_bytes: Expression | None = _first(
        "--smem BYTES",
        "smem",
        form=CaseForm.COUNT,
        help="Dynamic shared memory per block in bytes, such as 48Ki or '4*n'.  [default: 0]",
    )
    cooperative: bool = _attribute(
        "--cooperative",
        help="Make a cooperative launch: all blocks are resident, and the grid can synchronize.",
    )
    cluster: tuple[Expression, ...] | None = _attribute(
        "--cluster X[,Y[,Z]]",
        form=CaseForm.EXTENT,
        help="Cluster size in blocks.  [default: the kernel's own]",
    )


@dataclass(frozen=True, slots=True)
class Geometry:
    """The geometry of a launch of a kernel with its arguments."""

    grid: Extent  # the blocks of the grid
    block: Extent  # the threads of a block
    # The requested number of threads, from which the grid was computed, rounding up.
    threads: Extent | None = None
    shared_bytes: int = 0  # the dynamic shared memory of a block
    cooperative: bool = False  # require all blocks to be resident, so that they can synchronize
    cluster: Extent | None = None  # the blocks of a cluster; ``None`` for the kernel's own
    notes: tuple[str, ...] = ()  # notes on it, each a line


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences that do not change results of right kernels. ``None`` is the driver's default."""

    carveout: int | None = _attribute(
        "--carveout PERCENT",
        scope=OptionScope.OVERRIDE,
        bounds=(0, 100),
        help="Set the preferred shared memory carveout, 0–100 % of the maximum.",
    )
    # ``cuKernelSetCacheConfig``: ``none``, ``shared``, ``l1`` or ``equal``.
    cache_config: str | None = _attribute(
        "--func-cache",
        "func_cache",
        scope=OptionScope.OVERRIDE,
        choices=CACHE_CONFIGS,
        help="Prefer shared memory or L1 for this kernel.",
    )
    programmatic: bool = _attribute(
        "--pdl",
        "pdl",
        help="Let the launch begin before the kernel before it has ended (programmatic dependent "
        "launch).",
    )


def on_device(path: str, device: str) -> str:
    """Return a path with the label of a device for ``{device}``."""
    return path.replace("{device}", device.replace(":", "-"))


@dataclass(frozen=True, slots=True)
class Save:
    """``--save NAME=PATH``; ``{device}`` in the path is replaced by the device's label."""

    name: str
    path: str

    def path_on(self, device: str) -> str:
        """Return the path for one device."""
        return on_device(self.path, device)


@dataclass(frozen=True, slots=True)
class Show:
    """``--show NAME=KIND``: a buffer displayed in the terminal."""

    name: str
    kind: ShowKind


@dataclass(frozen=True, slots=True)
class BufferExpectation:
    """``--expect NAME=@FILE`` or ``--expect NAME=FILE.py:FUNCTION``: the expected buffer."""

    name: str
    path: str  # the ``.npy`` file, or the file of the function; absolute
    function: str | None  # the function; ``None`` for an array in a file
    source: str  # the right side as given


@dataclass(frozen=True, slots=True)
class Swap:
    """``--swap A,B``: two buffers that exchange their names after each launch of a step."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first},{self.second}"


@dataclass(frozen=True, slots=True)
class LaunchStep:
    """A kernel to launch, and what is requested of the buffers after it."""

    image: Image
    kernel: str | None = _first(
        "-k",
        "--kernel NAME",
        help="Mangled, demangled or bare kernel name; optional if the image has one kernel. For "
        "a .cu, 'ns::f<float, 4>' instantiates a template.",
    )
    geometry: GeometryRequest = fields_of_group(GeometryRequest)
    preferences: Preferences = fields_of_group(Preferences)
    tolerance: Tolerance = fields_of_group(Tolerance)
    arguments: tuple[Argument, ...] = ()
    allow_type_mismatch: bool = _argument(
        "--allow-type-mismatch",
        scope=OptionScope.OVERRIDE,
        help="Accept buffers whose element type differs from the kernel's in size or kind.",
    )
    buffers: tuple[Argument, ...] = _argument(
        "--buffer NAME=VALUE",
        form=CaseForm.SETTINGS,
        help="Allocate a buffer that is not a parameter, such as 'a=f32[n]:iota'; &a and &a[128]"
        " are its addresses; repeatable.",
    )
    settings: tuple[Argument, ...] = _argument(
        "--set NAME=VALUE",
        form=CaseForm.SETTINGS,
        help="Write a variable of the image before the launch: __constant__, __device__ or "
        "__managed__, such as 'coef=f32[5]:[1,2,3,2,1]' or ns::scale=2; repeatable.",
    )
    passing: Literal["array", "buffer"] = _argument(
        "--params",
        default="array",
        choices=("array", "buffer"),
        help="Pass parameters through kernelParams (array) or packed in "
        "CU_LAUNCH_PARAM_BUFFER_POINTER (buffer).",
    )
    checks: tuple[Check, ...] = _first(
        "--check EXPR",
        form=CaseForm.EXPRESSIONS,
        help="Check an expression after the launch, such as 'y == 2*x, rtol=1e-3'; repeatable.",
    )
    asserts: tuple[Assertion, ...] = _check(
        "--assert CONDITION",
        "asserts",
        form=CaseForm.TEXTS,
        help="Check what ran, such as 'mma > 0', 'ld.global.v4 > 0', 'local_bytes == 0' or "
        "'bank_conflicts == 0'; repeatable.",
    )
    expectations: tuple[BufferExpectation, ...] = _first(
        "--expect NAME=EXPECTED",
        "expects",
        form=CaseForm.EXPECTATIONS,
        file=FileUse.INPUT,
        help="Compare a buffer with @FILE.npy or with the result of FILE.py:FUNCTION; repeatable.",
    )
    # The names of ``--let``; in checks and prints they are replaced already.
    lets: tuple[Let, ...] = _check(
        "--let NAME=EXPR",
        form=CaseForm.NAMED_EXPRESSIONS,
        help="Define a name for an expression, for use in --check and --print; repeatable.",
    )
    prints: tuple[Expression, ...] = _first(
        "--print EXPR",
        form=CaseForm.EXPRESSIONS,
        is_keyword=False,
        help="Print the value of an expression; repeatable.",
    )
    shows: tuple[Show, ...] = _output(
        "--show NAME=KIND",
        form=CaseForm.TEXTS,
        is_keyword=False,
        help="Show a buffer as hist, image, plot; repeatable.",
    )
    saves: tuple[Save, ...] = _output(
        "--save NAME=PATH",
        form=CaseForm.NAMED_PATHS,
        file=FileUse.OUTPUT,
        is_keyword=False,
        help="Write a buffer to PATH (.npy, .bin, .csv, .png); {device} in PATH is replaced by "
        "the device; repeatable.",
    )
    gpus: tuple[Profile, ...] = _check(
        "--for GPUS",
        "gpus",
        scope=OptionScope.OVERRIDE,
        form=CaseForm.WORDS,
        is_keyword=False,
        help="Also check that these GPUs load the image and launch the kernel, by their limits: "
        "comma-separated, such as rtx5090,b200,sm_86.",
    )
    times: int = _program(
        "--times N",
        default=1,
        bounds=(1, INT_MAX),
        help="Launch the kernel N times, one after the other.",
    )
    swaps: tuple[Swap, ...] = _program(
        "--swap A,B",
        form=CaseForm.PAIRS,
        help="Exchange the names of two buffers after each launch of the step, as a host program"
        " swaps pointers; repeatable.",
    )
    directory: Path = Path()  # the base of relative paths in arguments and expressions
    # The names of the parameters that the image lacks, from Triton.
    parameter_names: tuple[str, ...] = ()
    constants: tuple[CompiledConstant, ...] = ()  # the values that Triton compiled into the kernel

    def without_outputs(self) -> LaunchStep:
        """Return a step that only checks."""
        return replace(self, prints=(), shows=(), saves=())

    def without_results(self) -> LaunchStep:
        """Return a step after which no option reads a buffer."""
        return replace(self.without_outputs(), checks=(), expectations=(), lets=(), asserts=())

    @property
    def reads_results(self) -> bool:
        """True if an option reads buffers after this step."""
        return bool(self.checks or self.prints or self.saves or self.shows or self.expectations)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of checks and prints."""
        return (*(check.expression for check in self.checks), *self.prints)
