"""The use of a kernel's parameters in its PTX: which are pointers, to elements of which type.

A parameter of ``extern "C"`` kernels is ``.u64`` in PTX, be it a pointer or an integer. Its use
tells: one pass over the instructions follows the registers that a parameter was loaded into, up to
the memory instructions that use them as addresses. That suffices to suggest a launch; it is no
proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import lru_cache
from math import prod

from cudarun.base.process import without_collection
from cudarun.base.records import dataclass
from cudarun.images.contents import Data
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.ptx_facts import ptx_text
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import lazy_module

Place = tuple[int, int]  # a value in the parameters: the parameter's index, and the offset in it

_FOLLOWED = frozenset({"cvta", "mov", "add", "sub", "mad", "selp", "and", "or", "min", "max"})
_ATOMIC = frozenset({"atom", "red"})
_LOADS = frozenset({"ld", "ldu"})
_WIDTHS = {"v2": 2, "v4": 4, "v8": 8}
_FLOATS = {
    name: name.removesuffix("x2") for name in ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
}
_UNTYPED = frozenset({*_LOADS, *_ATOMIC, "st", "mov", "cvt", "selp"})  # say nothing about operands
_TEXTURES = frozenset({"tex", "tld4"})
_SURFACES = frozenset({"suld", "sust", "sured"})
_GEOMETRIES = frozenset({"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"})
_OWN_SPACES = frozenset({"param", "shared", "local", "const"})
_MOST_ORIGINS = 64  # of a register: an address is computed from fewer values
_AXES = "xyz"
_INDEXES = ("%tid.", "%ctaid.")
_CONSTANTS = (tree.Integer, tree.Float)


@dataclass(slots=True)
class PointerUse:
    """The memory to which a parameter, or a member of one, points."""

    # The PTX type of its elements, ``f32``; ``None`` where it is not known.
    element: str | None = None
    width: int = 1  # the number of elements of the widest access: 4 for ``float4``
    end: int = 0  # of the accesses at constant offsets from an index: the members of a struct
    is_read: bool = False  # whether the kernel reads it
    is_written: bool = False  # whether the kernel writes it
    # The geometry of the texture or surface, ``a2d``, if it is the handle of one.
    geometry: str | None = None
    is_surface: bool = False  # whether that is a surface


@dataclass(slots=True)
class KernelUsage:
    """The use of a kernel's parameters."""

    # The pointers among the parameters and their members.
    pointers: dict[Place, PointerUse] = field(default_factory=dict)
    # The PTX types of all that the kernel loads from its parameters.
    values: dict[Place, str] = field(default_factory=dict)
    dimensions: int = 1  # the dimensions of the grid that it uses, from 1 to 3
    has_loop: bool = False  # whether it branches backward
    has_dynamic_shared: bool = False  # whether it uses dynamic shared memory
    # The sizes of its static arrays in shared memory, in bytes.
    shared_arrays: list[int] = field(default_factory=list)
    shared_access: int = 1  # the largest access to shared memory, in bytes


class KernelUsages:
    """The use of the parameters of kernels; each is read when it is asked for.

    Args:
        data: The image; others than valid PTX tell nothing.
    """

    def __init__(self, data: Data) -> None:
        self._kernels: dict[str, tree.Function] = {}
        self._found: dict[str, KernelUsage] = {}
        if identify(data) is not ImageKind.PTX:
            return
        try:
            self._lazy = lazy_module(ptx_text(bytes(data)))
        except PtxError:
            return
        functions = self._lazy.module.functions
        self._kernels = {f.name: f for f in functions if f.is_entry and f.body is not None}
        self._shared = [v for v in self._lazy.module.variables if v.space == "shared"]

    def of(self, name: str) -> KernelUsage | None:
        """Return the use of a kernel's parameters; ``None`` if there is no such valid kernel."""
        function = self._kernels.get(name)
        if function is None or name in self._found:
            return self._found.get(name)
        with without_collection():
            try:
                self._collect(self._lazy.read(function))
            except PtxError:
                return None
        return self._found[name]

    def collect(self) -> None:
        """Collect the use from kernels that are read from now on, as by the emulated driver."""
        if self._kernels:
            self._lazy.observe(self._collect)

    def _collect(self, function: tree.Function) -> None:
        if function.name in self._kernels and function.name not in self._found:
            self._found[function.name] = _Reader(self._shared, function).usage


class _Reader:
    """One pass over a kernel."""

    def __init__(self, shared: Iterable[tree.Variable], function: tree.Function) -> None:
        self.usage = KernelUsage()
        self._parameters = {each.name: i for i, each in enumerate(function.parameters)}
        self._dynamic = {each.name for each in shared if each.linkage == "extern"}
        self._origins: dict[str, frozenset[Place]] = {}
        self._floats: dict[str, str] = {}
        self._untyped: list[tuple[PointerUse | Place, str]] = []
        self._labels: set[str] = set()
        self._symbols: set[str] = set()
        for statement in function.statements():
            if isinstance(statement, tree.Instruction):
                self._read(statement)
            elif isinstance(statement, tree.Label):
                self._labels.add(statement.name)
            elif isinstance(statement, tree.Variable):
                self._declare(statement)
        for variable in shared:
            if variable.name in self._symbols:
                self._declare(variable)
        # A ``b32`` is a float where the instructions that use the data say so.
        for use, register in self._untyped:
            known = self._floats.get(register)
            if known is None:
                continue
            kind = use.element if isinstance(use, PointerUse) else self.usage.values[use]
            if kind and kind[0] == "b" and tree.TYPE_BYTES[kind] == tree.TYPE_BYTES[known]:
                if isinstance(use, PointerUse):
                    use.element = known
                else:
                    self.usage.values[use] = known

    def _read(self, it: tree.Instruction) -> None:
        has_others = False
        names: list[str] = []
        for operand in it.operands:
            if isinstance(operand, tree.Register):
                names.append(operand.name)
                if operand.name.startswith(_INDEXES):
                    self._read_index(operand.name)
            elif not isinstance(operand, _CONSTANTS):
                has_others = True
                break
        if has_others:
            for name in names_in(it.operands):
                if it.opcode == "bra" and name in self._labels:
                    self.usage.has_loop = True
                elif name in self._dynamic or (it.opcode == "call" and self._dynamic):
                    self.usage.has_dynamic_shared = True
                elif name.startswith(_INDEXES):
                    self._read_index(name)
                self._symbols.add(name)
            names = [*_registers(it.operands)]
        kind, floats = _types(it.modifiers)
        opcode = it.opcode
        if floats is not None and opcode not in _UNTYPED:
            for name in names:
                self._floats[name] = floats
        if opcode in _FOLLOWED:
            if self._origins and it.operands:
                to, *sources = it.operands
                found = self._places(sources)
                if it.opcode == "cvta":
                    for place in found:
                        self.usage.pointers.setdefault(place, PointerUse())
                for register in _registers([to]):
                    self._add(register, found)
        elif opcode in _LOADS and "param" in it.modifiers[:1]:
            self._load_parameter(it, kind)
        elif opcode == "st" and "param" in it.modifiers[:1]:  # the argument of a function
            for place in self._places(it.operands[1:]):
                if place in self.usage.pointers:
                    use = self.usage.pointers[place]
                    use.is_read = use.is_written = True
        elif has_others or opcode in _UNTYPED:
            if _OWN_SPACES.intersection(it.modifiers[:2]) and it.opcode in _UNTYPED:
                if "shared" in it.modifiers[:2] and kind is not None:
                    self.usage.shared_access = max(self.usage.shared_access, tree.TYPE_BYTES[kind])
                return
            others = [
                each
                for each in it.operands
                if not isinstance(each, tree.Address | tree.TupleAddress)
            ]
            for operand in it.operands:
                address = operand.address if isinstance(operand, tree.TupleAddress) else operand
                if isinstance(address, tree.Address) and isinstance(address.base, tree.Register):
                    for place in self._origins.get(address.base.name, ()):
                        use = self.usage.pointers.setdefault(place, PointerUse())
                        self._record(it, kind, use, address.offset, _registers(others))

    def _declare(self, variable: tree.Variable) -> None:
        if variable.space == "shared" and variable.dimensions and variable.linkage != "extern":
            count = prod(extent or 1 for extent in variable.dimensions)
            self.usage.shared_arrays.append(
                tree.TYPE_BYTES[variable.type] * variable.vector * count
            )

    def _read_index(self, name: str) -> None:
        self.usage.dimensions = max(self.usage.dimensions, _AXES.find(name[-1]) + 1)

    def _load_parameter(self, it: tree.Instruction, kind: str | None) -> None:
        if kind is None or len(it.operands) != 2:  # the text may be no valid PTX
            return
        to, at = it.operands
        if not isinstance(at, tree.Address) or at.base is None:
            return
        index = self._parameters.get(at.base.name)
        if index is None:
            return
        for number, register in enumerate(_registers([to])):
            place = (index, at.offset + number * tree.TYPE_BYTES[kind])
            self.usage.values.setdefault(place, kind)
            self._untyped.append((place, register))
            if tree.TYPE_BYTES[kind] == 8:
                self._add(register, {place})

    def _record(
        self,
        it: tree.Instruction,
        kind: str | None,
        use: PointerUse,
        offset: int,
        data: Iterable[str],
    ) -> None:
        if it.opcode in _TEXTURES or it.opcode in _SURFACES:
            use.is_surface |= it.opcode in _SURFACES
            use.is_read |= it.opcode != "sust"
            use.is_written |= it.opcode in ("sust", "sured")
            use.geometry = next((word for word in it.modifiers if word in _GEOMETRIES), None)
            if not use.is_surface:  # before the type of the coordinates
                kind = next((word for word in it.modifiers if word in tree.TYPE_BYTES), None)
            use.element = use.element or kind
            if use.is_surface:
                use.width = next((_WIDTHS[word] for word in it.modifiers if word in _WIDTHS), 1)
            return
        use.is_read |= it.opcode != "st"
        use.is_written |= it.opcode == "st" or it.opcode in _ATOMIC
        if it.opcode not in (*_LOADS, *_ATOMIC, "st") or kind is None:
            return
        width = next((_WIDTHS[word] for word in it.modifiers if word in _WIDTHS), 1)
        if kind.endswith("x2") and kind in _FLOATS:
            kind, width = _FLOATS[kind], 2 * width
        if use.element is None or tree.TYPE_BYTES[kind] > tree.TYPE_BYTES[use.element]:
            use.element = kind
        use.width = max(use.width, width)
        use.end = max(use.end, offset + width * tree.TYPE_BYTES[kind])
        self._untyped += ((use, register) for register in data)

    def _places(self, operands: Iterable[tree.Operand]) -> set[Place]:
        none = frozenset[Place]()
        return {p for name in _registers(operands) for p in self._origins.get(name, none)}

    def _add(self, register: str, places: Iterable[Place]) -> None:
        """Add origins of a register, which a loop may set more than once."""
        known = self._origins.get(register, frozenset())
        if places and len(known) < _MOST_ORIGINS:
            self._origins[register] = known.union(places)


@lru_cache(maxsize=1 << 12)
def _types(modifiers: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Return the type of an instruction, its last one, and that as a float."""
    kind = next((word for word in reversed(modifiers) if word in tree.TYPE_BYTES), None)
    return kind, _FLOATS.get(kind or "")


def _registers(operands: Iterable[tree.Operand]) -> Iterator[str]:
    for operand in operands:
        match operand:
            case tree.Register(name):
                yield name
            case tree.Vector(elements):
                yield from _registers(elements)
            case tree.Pair(first, second):
                yield from _registers((first, second))


def names_in(operands: Iterable[tree.Operand]) -> Iterator[str]:
    """Yield the names of all registers and symbols, those in addresses included."""
    for operand in operands:
        match operand:
            case tree.Register(name) | tree.SymbolReference(name):
                yield name
            case tree.SymbolOffset(symbol):
                yield symbol.name
            case tree.Address(base) if base is not None:
                yield base.name
            case tree.TupleAddress(address, rest):
                yield from names_in((address, *rest))
            case tree.Vector(elements):
                yield from names_in(elements)
