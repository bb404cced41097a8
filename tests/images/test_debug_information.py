"""Names, types and members of parameters, from cubins, fatbins and PTX of ``nvcc -G``."""

from __future__ import annotations

import random
import re
import struct
from dataclasses import replace

import pytest

from cudarun.images.debug_information import DebugInformation
from cudarun.images.elf import read_elf
from cudarun.images.fatbin import read_entries
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter
from cudarun.images.reader import read_image
from tests.images.golden_files import golden
from tests.support.parameters import member

RANGE = (member(0, 4, "int", "begin"), member(4, 4, "int", "end"))
SETTINGS = (
    member(0, 4, "float", "scale"),
    member(4, 8, "Range", "range", members=RANGE),
    member(16, 8, "float const*", "bias"),
    member(24, 4, "enum ns::Mode : unsigned int", "mode"),
)
APPLY = [
    ("y", "float*", ()),
    ("x", "float const*", ()),
    ("settings", "Settings", SETTINGS),
    ("n", "unsigned int", ()),
]
FILL = "_ZN2ns4fillI{}EEvPT_S1_i"


def kernels(data: bytes) -> dict[str, tuple[Parameter, ...]]:
    """The parameters of each kernel without debug information."""
    return {kernel.name: kernel.parameters for kernel in read_image(data, "x").kernels}


def described(
    data: bytes, kernel: str
) -> list[tuple[str | None, str | None, tuple[Parameter, ...]]]:
    """The names, types and members of a kernel's parameters, which are all usable."""
    before = kernels(data)[kernel]
    after, note = DebugInformation(data).describe(kernel, before)
    assert note is None
    assert [(p.offset, p.size) for p in after] == [(p.offset, p.size) for p in before]
    return [(p.name, p.type, p.members) for p in after]


def part(kind: ImageKind) -> bytes:
    [found] = [each for each in read_entries(golden("debug.fatbin"), "x") if each.kind is kind]
    assert found.has_debug
    return found.content("x")


IMAGES = {
    "ptxas 13.0": lambda: golden("debug.cubin"),
    "ptxas 12.4": lambda: golden("debug_cuda12.cubin"),
    "two units": lambda: golden("debug_linked.cubin"),
    "fatbin": lambda: golden("debug.fatbin"),
    "cubin of the fatbin": lambda: part(ImageKind.CUBIN),
    "PTX of the fatbin": lambda: part(ImageKind.PTX),
}


@pytest.mark.parametrize("image", IMAGES)
def test_names_types_and_members(image):
    data = IMAGES[image]()
    assert described(data, "apply") == APPLY
    for letter, type_ in (("f", "float"), ("d", "double")):
        assert described(data, FILL.format(letter)) == [
            ("out", f"{type_}*", ()),
            ("value", type_, ()),
            ("count", "int", ()),
        ]


def test_a_kernel_of_the_second_unit():
    pair = (member(0, 4, "int", "first"), member(8, 8, "double", "second"))
    assert described(golden("debug_linked.cubin"), "more") == [
        ("pair", "Pair", pair),
        ("sum", "double*", ()),
    ]


def test_every_kind_of_type():
    found = described(golden("debug.cubin"), "types")
    assert [(name, type_) for name, type_, _ in found] == [
        ("derived", "Derived"),
        ("word", "Word"),
        ("level", "enum ns::Level : unsigned char"),
        ("offset", "enum ns::Offset : signed long"),
        ("typed", "float*"),
        ("vector", "float4"),
        ("halves", "__half const*"),
        ("bytes", "unsigned char volatile*"),
        ("raw", "void*"),
        ("names", "char* const*"),
        ("callback", "int (*)(float, int)"),
        ("array", "int (&) [4]"),
        ("own", "float2 {…}"),  # a struct of the user's with the name of a CUDA vector
        ("owns", "float2 {…}*"),
        ("size", "unsigned long long"),
        ("flag", "bool"),
    ]
    members = {name: members for name, _, members in found}
    base, grid, low, high, ranges, union, half = members["derived"]
    assert base == member(0, 4, "Base", members=(member(0, 4, "int", "id"),))
    assert grid == member(4, 24, "float", "grid", count=6)
    assert (low, high) == (
        member(28, 4, name="low"),
        member(28, 4, name="high"),
    )  # bit fields
    assert ranges == member(32, 16, "Range", "ranges", count=2, members=RANGE)
    assert (union.offset, union.size, union.name, union.members) == (48, 4, None, ())
    assert (half.offset, half.type) == (52, "__half")
    assert members["word"] == ()


def test_parameters_without_a_name_and_with_the_same_name():
    data = golden("debug.cubin")
    assert described(data, "nameless") == [(None, "float*", ()), ("n", "int", ())]
    names = [name for name, _, _ in described(data, "_Z4packIJifEEvPfDpT_")]
    assert names == ["out", "values", "values"]


def test_types_of_mangled_names_are_kept():
    data = golden("debug.cubin")
    name = FILL.format("f")
    given = tuple(replace(each, type="kept") for each in kernels(data)[name])
    after, _ = DebugInformation(data).describe(name, given)
    assert [(each.name, each.type) for each in after] == [
        ("out", "kept"),
        ("value", "kept"),
        ("count", "kept"),
    ]


def test_line_tables_alone_have_no_names():
    data = golden("debug_lineinfo.cubin")
    for name, given in kernels(data).items():
        assert DebugInformation(data).describe(name, given) == (given, None)


def test_a_kernel_that_is_not_in_it():
    given = (Parameter(0, 0, 8),)
    assert DebugInformation(golden("debug.cubin")).describe("other", given) == (given, None)


# --- debug information that is not usable ---------------------------------------------------------


def test_another_number_of_parameters():
    """As nvcc 13.0 leaves ``__grid_constant__`` parameters out."""
    data = golden("debug.cubin")
    given = kernels(data)["constant"]
    assert DebugInformation(data).describe("constant", given) == (
        given,
        "constant: the debug information is not used: it has 1 of 2 parameters",
    )


def test_other_sizes():
    data = golden("debug.cubin")
    x, y, settings, n = kernels(data)["apply"]
    given = (x, y, settings, replace(n, size=8))
    assert DebugInformation(data).describe("apply", given) == (
        given,
        "apply: the debug information is not used: n has 4 bytes in it, 8 bytes in the kernel",
    )


NOT_READ = "the debug information cannot be read: no parameter names"


def sections(data: bytes) -> list[tuple[int, int]]:
    """The places of the sections that are read, in the file."""
    named = read_elf(data, "x", ImageKind.CUBIN, symbols=False).named
    found = [bytes(named[name].data) for name in (".debug_info", ".debug_abbrev")]
    return [(data.index(each), len(each)) for each in found]


@pytest.mark.parametrize(
    ("section", "offset", "damage"),
    [
        (0, 0, b"\xff\xff\xff\x7f"),  # the length of the unit
        (0, 4, b"\x09\x00"),  # the version
        (0, 6, b"\xff\xff\xff\x00"),  # the offset of the abbreviations
        (0, 10, b"\x04"),  # the size of an address
        (0, 11, b"\x7f"),  # an abbreviation that does not exist
        (1, 0, b"\x80" * 12),  # a number that does not end
    ],
)
def test_damage_is_a_note(section, offset, damage):
    data = bytearray(golden("debug.cubin"))
    at = sections(data)[section][0] + offset
    data[at : at + len(damage)] = damage
    given = kernels(bytes(data))["apply"]
    assert DebugInformation(bytes(data)).describe("apply", given) == (given, NOT_READ)


def test_random_damage_never_raises():
    whole = golden("debug.cubin")
    places, given = sections(whole), kernels(whole)
    rng = random.Random(20)
    unusable = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 2, 8])):
            start, length = rng.choice(places)
            data[start + rng.randrange(length)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        debug = DebugInformation(bytes(data))
        for name, parameters in given.items():
            after, note = debug.describe(name, parameters)
            assert [each.size for each in after] == [each.size for each in parameters]
            assert all(each.name is None or each.name.isidentifier() for each in after)
            unusable += note is not None
    assert unusable > 300


def test_another_part_serves_where_one_is_damaged():
    """The cubin of this fatbin is damaged, its PTX is not."""
    cubin, ptx = part(ImageKind.CUBIN), part(ImageKind.PTX)
    damaged = bytearray(cubin)
    start, length = sections(cubin)[1]
    damaged[start : start + length] = bytes([0x80]) * length
    given = kernels(cubin)["apply"]
    assert DebugInformation(bytes(damaged)).describe("apply", given) == (given, NOT_READ)
    fatbin = plain_fatbin([(2, bytes(damaged)), (1, ptx)])
    assert described(fatbin, "apply") == APPLY


def test_only_marked_entries_of_a_fatbin_are_read():
    cubin = part(ImageKind.CUBIN)
    given = kernels(cubin)["apply"]
    assert described(plain_fatbin([(2, cubin)]), "apply") == APPLY
    unmarked = plain_fatbin([(2, cubin)], flags=0)
    assert DebugInformation(unmarked).describe("apply", given) == (given, None)


def test_ptx_that_refers_to_sections_and_labels():
    """As LLVM writes it: hexadecimal numbers, several in a line, offsets in sections."""
    ptx = part(ImageKind.PTX)
    body = re.search(rb"\.section\s+\.debug_info\s*\{([^}]*)\}", ptx)
    assert body
    lines = body[1]
    joined = re.sub(
        rb"\.b8 (\d+)\n\.b8 (\d+)\n",
        lambda found: b".b8 %s, 0x%x // two\n" % (found[1], int(found[2])),
        lines,
    )
    assert joined != lines
    changed = ptx.replace(lines, joined)
    assert described(changed, "apply") == APPLY


def plain_fatbin(entries: list[tuple[int, bytes]], flags: int = 2) -> bytes:
    """A fatbin of entries that are stored plainly: their kinds and contents."""
    stored = b""
    for kind, content in entries:
        content += bytes(-len(content) % 8)
        stored += struct.pack("<H2xIQI8xI8xQ8xQ", kind, 64, len(content), 0, 75, flags, 0) + content
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(stored)) + stored
