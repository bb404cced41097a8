"""The functions of the CUDA libraries as C has them: tables that are written from the headers.

A row of ``tables/NAME.txt`` is one of::

    type SIZE KIND NAME           a type: enum, signed, unsigned, float, pointer or struct
    call DOCUMENTED NAME(…)       a function, by its name in the documentation and its own
    thread NAME PLAIN             the form of a function with the default stream of the thread
    only NAME                     a function of the library that no header declares
    field OFFSET SIZE ITEM NAME   a field of a cudaDeviceProp, which versions of CUDA change
    since VERSION DOCUMENTED NAME the version of CUDA that introduced a form of a driver function
    error NUMBER NAME TEXT        an error

``nvml.txt`` has names alone: of functions of the management library that are not supported.

A call is marshalled in slots of 8 bytes: one for each parameter, more for a structure by value.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from cudarun.base.records import dataclass

LIBRARIES = ("cuda", "cudart12", "cudart13")
"""The tables; the number of a call is that of its library times `PER_LIBRARY`, and its place."""

PER_LIBRARY = 1 << 16
_TABLES = Path(__file__).parent / "tables"
_CALL = re.compile(r"(\w+) (\w+)\((.*)\)")
# What client.h knows of calls: launches that succeeded before do so again, unless it fails; and
# that it returns the last error.
_TRAITS = {
    "NEUTRAL": re.compile(
        r"cu(?:da)?(?:\w*Get|Mem(?:cpy|set|Alloc|Free)|Malloc|Free|Event|PeekAtLast|GraphLaunch"
        r"|Launch|Stream(?:Synchronize|Query)|(?:Device|Ctx)Synchronize)"
    ),
    "READS_ERROR": re.compile("cuda(?:Get|PeekAt)LastError"),
}
_PER_THREAD = 2  # CU_STREAM_PER_THREAD
_STREAMS = ("cudaStream_t", "CUstream")


@dataclass(frozen=True, slots=True)
class CallParameter:
    """A parameter of a function."""

    name: str
    type: str  # the type, without ``const``; of a pointer that to which it points
    stars: int  # the number of ``*``
    size: int  # the size of the type; 0 of ``void`` and ``char``
    kind: str  # the kind of the type
    slot: int  # the first of its slots

    @property
    def slots(self) -> int:
        """The number of its slots."""
        return 1 if self.stars else -(-self.size // 8)

    @property
    def pointee(self) -> int:
        """The size of what it points to."""
        return 8 if self.stars > 1 else self.size

    @property
    def c_type(self) -> str:
        """A type that C passes as it passes this one."""
        if self.stars or self.kind == "pointer":
            return "void *"
        if self.kind == "struct":
            return f"struct s{self.size}"
        if self.kind == "float":
            return "float" if self.size == 4 else "double"
        return f"uint{8 * self.size}_t"


@dataclass(frozen=True, slots=True)
class Prototype:
    """A function of a library."""

    number: int  # its number in requests
    documented: str  # its name in the documentation, such as ``cuMemAlloc`` of ``cuMemAlloc_v2``
    name: str  # its name in the library
    parameters: tuple[CallParameter, ...]

    @property
    def slots(self) -> int:
        """The number of slots of its arguments."""
        return sum(each.slots for each in self.parameters)


@dataclass(frozen=True, slots=True)
class Table:
    """The functions of a library."""

    calls: tuple[Prototype, ...]  # those with prototypes, in the order of their numbers
    # Names of forms with the default stream of the thread, and the plain names.
    per_thread: dict[str, str]
    others: tuple[str, ...]  # the names of functions without prototypes
    # Offset, size, size of an item and name of the fields of a ``cudaDeviceProp``.
    fields: tuple[tuple[int, int, int, str], ...]
    # Version, documented name and name of forms of functions.
    since: tuple[tuple[int, str, str], ...]
    errors: tuple[tuple[int, str, str], ...]  # number, name and text


def table_path(library: str) -> Path:
    """Return the path of the table of a library."""
    return _TABLES / f"{library}.txt"


@functools.cache
def read_table(library: str) -> Table:
    """Return the table of a library."""
    rows: dict[str, list[str]] = {
        word: [] for word in ("type", "call", "thread", "only", "field", "since", "error")
    }
    for line in table_path(library).read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word in rows:
            rows[word].append(rest)
    types = (row.split(" ", 2) for row in rows["type"])
    facts = {name: (int(size), kind) for size, kind, name in types}
    first = LIBRARIES.index(library) * PER_LIBRARY
    since = (row.split() for row in rows["since"])
    errors = (row.split(" ", 2) for row in rows["error"])
    return Table(
        tuple(_prototype(first + at, row, facts) for at, row in enumerate(rows["call"])),
        dict(row.split() for row in rows["thread"]),
        tuple(rows["only"]),
        tuple((int(a), int(b), int(c), name) for a, b, c, name in map(str.split, rows["field"])),
        tuple((int(version), base, name) for version, base, name in since),
        tuple((int(number), name, text) for number, name, text in errors),
    )


def _prototype(number: int, row: str, facts: dict[str, tuple[int, str]]) -> Prototype:
    match = _CALL.fullmatch(row)
    assert match is not None, row
    parameters: list[CallParameter] = []
    slot = 0
    for text in match[3].split(", ") if match[3] else ():
        declared, _, name = text.rpartition(" ")
        type_ = declared.rstrip("*")
        size, kind = facts.get(type_, (0, "void"))
        parameters.append(CallParameter(name, type_, len(declared) - len(type_), size, kind, slot))
        slot += parameters[-1].slots
    return Prototype(number, match[1], match[2], tuple(parameters))


# --- C -------------------------------------------------------------------------------------------


def c_calls(library: str, own: set[str]) -> str:
    """Return the C functions that marshal the calls of a library.

    Args:
        own: The functions that are written by hand.
    """
    table = read_table(library)
    sizes = {
        each.size
        for call in table.calls
        for each in call.parameters
        if each.c_type.startswith("struct")
    }
    lines = [
        f"struct s{size} {{ uint{8 * _unit(size)}_t w[{size // _unit(size)}]; }};"
        for size in sorted(sizes | {20})
    ]
    forms: dict[str, list[str]] = {}
    for name, plain in table.per_thread.items():
        forms.setdefault(plain, []).append(name)
    for call in table.calls:
        if call.name in own:
            lines.append(f"enum {{ NUMBER_{call.name} = {call.number} }};")
        else:
            lines += _c_call(call, [each for each in forms.get(call.name, []) if each not in own])
    not_supported = "{ uint64_t w[1] = {0}; return cr_call(%d, CALLER, w, 0); }"
    first = LIBRARIES.index(library) * PER_LIBRARY + len(table.calls)
    for at, name in enumerate(table.others):
        lines.append(f"EXPORT int {name}(void) {not_supported % (first + at)}")
    return "\n".join(lines) + "\n"


def _c_call(call: Prototype, forms: list[str]) -> list[str]:
    names = [f"a{at}" for at in range(len(call.parameters))]
    pairs = [*zip(call.parameters, names, strict=True)]
    declared = ", ".join(f"{each.c_type} {name}" for each, name in pairs) or "void"
    put = "".join(f" PUT({each.slot}, {name});" for each, name in pairs)
    lines = []
    for name in (call.name, *forms):
        streams = "".join(
            f" if (!{a}) {a} = (void *){_PER_THREAD};"
            for each, a in pairs
            if name != call.name and each.type in _STREAMS and not each.stars
        )
        body = f"uint64_t w[{max(1, call.slots)}] = {{0}};{streams}{put}"
        traits = [name for name, calls in _TRAITS.items() if calls.match(call.documented)]
        number = " | ".join([str(call.number), *traits])
        back = f"return cr_call({number}, CALLER, w, {call.slots});"
        lines.append(f"EXPORT int {name}({declared}) {{ {body} {back} }}")
    return lines


def _unit(size: int) -> int:
    return 8 if size % 8 == 0 and size > 8 else 4


def c_errors(library: str) -> str:
    """Return the rows of an array of the errors of a library."""
    errors = read_table(library).errors
    rows = (f'    {{{number}, "{name}", "{text}"}},\n' for number, name, text in errors)
    return "".join(rows)


def c_procedures() -> str:
    """Return the rows of an array of the driver's functions, by documented name and version."""
    table = read_table("cuda")
    forms = {plain: name for name, plain in table.per_thread.items()}
    introduced = {name: (version, base) for version, base, name in table.since}
    rows = []
    for call in table.calls:
        version, base = introduced.get(call.name, (0, call.documented))
        form = f"(void *){forms[call.name]}" if call.name in forms else "0"
        rows.append(f'    {{"{base}", (void *){call.name}, {form}, {version}}},\n')
    return "".join(rows)
