"""Trees rendered to text and parsed again, and texts that random damage was done to."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.ptx import tree
from cudarun.ptx.errors import PtxError
from cudarun.ptx.lexer import SourceLines, tokenize
from cudarun.ptx.parser import parse
from cudarun.ptx.tree import TYPE_BYTES
from tests.ptx.render import NOWHERE, render, without_positions

ROOT = Path(__file__).parents[2]
REAL_TEXTS = sorted(ROOT.glob("samples/*.ptx")) + sorted(ROOT.glob("tests/images/golden/*.ptx"))

# Names that mean the same wherever they stand: registers have their %, nothing else has.
registers = st.builds(tree.Register, st.sampled_from(["%r1", "%rd12", "%tid.x", "%p0", "%v.w"]))
names = st.sampled_from(["a", "table", "$str$1", "_Z3fooPf", "L", "generic", "x9"])
symbols = st.builds(tree.SymbolReference, names)
# -2^63 is written as minus an unsigned literal, and is unsigned.
signed = st.integers(-(2**63) + 1, 2**63 - 1).map(tree.Integer)
unsigned = st.integers(0, 2**64 - 1).map(lambda value: tree.Integer(value, unsigned=True))
singles = st.integers(0, 2**32 - 1).map(lambda bits: tree.Float(bits, 32))
doubles = st.integers(0, 2**64 - 1).map(lambda bits: tree.Float(bits, 64))
constants = signed | unsigned | singles | doubles
offsets = st.integers(-(2**31), 2**31)

addresses = st.builds(tree.Address, registers | symbols, offsets) | st.builds(
    tree.Address, st.none(), offsets
)
sinks = st.just(tree.Sink())
simple = (
    registers
    | symbols
    | constants
    | addresses
    | sinks
    | st.builds(tree.SymbolOffset, symbols, offsets.filter(bool))
    | st.builds(tree.Negated, registers)
    | st.builds(tree.Minus, registers)
)
vectors = st.lists(simple, min_size=1, max_size=4).map(lambda e: tree.Vector(tuple(e)))
operands = (
    simple
    | vectors
    | st.builds(tree.Pair, registers | sinks, registers | sinks)
    | st.builds(
        tree.TupleAddress, addresses, st.lists(symbols | vectors, min_size=1).map(tuple)
    )
)  # fmt: skip

modifiers = st.lists(
    st.sampled_from(["f32", "rn", "2d", "v4", "L2::128B", "shared::cluster"]), max_size=3
).map(tuple)
guards = st.none() | st.just(tree.Register("%p1")) | st.just(tree.Negated(tree.Register("%p1")))
instructions = st.builds(
    tree.Instruction,
    st.sampled_from(["add", "ld", "mov", "tex", "bar"]),
    modifiers,
    st.lists(operands, max_size=4).map(tuple),
    st.just(NOWHERE),
    guards,
)
lists = st.lists(symbols | constants, max_size=3).map(lambda e: tree.Vector(tuple(e)))
calls = st.builds(
    lambda results, callee, arguments, prototype: tree.Instruction(
        "call", ("uni",), (results, callee, arguments, *prototype), NOWHERE
    ),
    lists,
    registers | symbols,
    lists,
    st.just(()) | st.tuples(symbols),
)


@st.composite
def variables(draw, spaces, prefix):
    """A variable, its initialiser as long as its shape; its name begins with ``prefix``."""
    dimensions = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    vector = draw(st.sampled_from([1, 1, 2, 4]))
    elements = vector
    for extent in dimensions:
        elements *= extent
    values = constants | st.builds(
        tree.SymbolValue, names, offsets, st.booleans(), st.none() | st.just(0xFF00)
    )
    initial = st.lists(values, min_size=elements, max_size=elements).map(tuple)
    value = draw(st.none() | initial) if prefix == "g" else None
    linkages = ["visible", "weak"] if value is not None else ["visible", "weak", "extern"]
    return tree.Variable(
        space=draw(st.sampled_from(spaces)),
        type=draw(st.sampled_from(sorted(TYPE_BYTES))),
        name=f"{prefix}{draw(st.integers(0, 9**9))}",
        position=NOWHERE,
        alignment=draw(st.none() | st.sampled_from([1, 8, 128])),
        vector=vector,
        dimensions=dimensions,
        initial=value,
        linkage=draw(st.none() | st.sampled_from(linkages)) if prefix == "g" else None,
        attributes=draw(st.sampled_from([(), ("managed",)])) if prefix == "g" else (),
        pointer=draw(st.none() | st.just(()) | st.just(("global", "align", "16")))
        if prefix == "p"
        else None,
    )


parameters = st.lists(variables(["param"], "p"), max_size=3).map(tuple)
families = st.builds(
    lambda name, count: tree.Variable("reg", "b32", name, NOWHERE, count=count),
    st.sampled_from(["%r", "%f"]),
    st.integers(1, 99),
)
labels = st.builds(tree.Label, names, st.just(NOWHERE))
source_places = (st.integers(1, 9), st.integers(0, 9999), st.integers(0, 99))
marks = st.builds(
    tree.LineMark, *source_places, st.none() | st.tuples(*source_places), st.just(NOWHERE)
)
targets = st.builds(
    tree.BranchTargets,
    names,
    st.sampled_from(["branchtargets", "calltargets"]),
    st.lists(names, min_size=1, max_size=3).map(tuple),
    st.just(NOWHERE),
)
prototypes = st.builds(tree.CallPrototype, names, parameters, parameters, st.just(NOWHERE))
statements = st.recursive(
    instructions
    | calls
    | labels
    | marks
    | targets
    | prototypes
    | families
    | variables(["local", "param", "shared"], "s"),
    lambda inner: st.builds(tree.Block, st.lists(inner, max_size=3).map(tuple), st.just(NOWHERE)),
    max_leaves=4,
)
bodies = st.none() | st.lists(statements, max_size=5).map(tuple)
extents = st.integers(1, 1024)
functions = st.builds(
    lambda name, is_entry, params, results, body, linkage, directives: tree.Function(
        name, is_entry, params, () if is_entry else results, body, NOWHERE, linkage, directives
    ),
    names,
    st.booleans(),
    parameters,
    parameters,
    bodies,
    st.none() | st.sampled_from(["visible", "extern", "weak"]),
    st.fixed_dictionaries(
        {},
        optional={
            "maxntid": st.lists(extents, min_size=1, max_size=3),
            "maxnreg": st.lists(extents, min_size=1, max_size=1),
            "noreturn": st.lists(extents, max_size=3),
        },
    ).map(lambda found: {name: tuple(numbers) for name, numbers in found.items()}),
)
modules = st.builds(
    tree.Module,
    version=st.tuples(st.integers(1, 9), st.integers(0, 12)),
    targets=st.sampled_from([("sm_90",), ("sm_90a", "debug")]),
    address_size=st.just(64),
    functions=st.lists(functions, max_size=2).map(tuple),
    variables=st.lists(variables(["global", "const"], "g"), max_size=3).map(tuple),
    files=st.dictionaries(st.integers(1, 9), st.sampled_from(["a.cu", "/b/c d.h"]), max_size=2),
    text=st.just(""),
    aliases=st.dictionaries(names, names, max_size=2),
)


def bare(module):
    """Without what depends on how the text is laid out."""
    return without_positions(tree.Module(**{f: getattr(module, f) for f in FIELDS}, text=""))


FIELDS = [f for f in tree.Module.__dataclass_fields__ if f != "text"]


@settings(max_examples=150)
@given(modules)
def test_a_rendered_tree_parses_to_itself(module):
    assert bare(parse(render(module))) == bare(module)


@pytest.mark.parametrize("path", REAL_TEXTS, ids=lambda path: path.name)
def test_real_texts_survive_the_way_round(path):
    module = parse(path.read_text())
    assert any(f.is_entry for f in module.functions)
    assert bare(parse(render(module))) == bare(module)


@pytest.mark.parametrize("path", REAL_TEXTS, ids=lambda path: path.name)
def test_every_statement_of_real_texts_stands_where_its_position_says(path):
    module = parse(path.read_text())
    lines = SourceLines(module.text)
    for function in module.functions:
        for statement in function.statements():
            line = lines[statement.position.line]
            at_position = line[statement.position.column - 1 :]
            match statement:
                case tree.Instruction(guard=None):
                    assert at_position.startswith(statement.name)
                case tree.Instruction():
                    assert at_position.startswith("@")
                case tree.Label() | tree.CallPrototype() | tree.BranchTargets():
                    assert at_position.startswith(statement.name)
                case tree.LineMark():
                    assert at_position.startswith(".loc")
                case tree.Variable():
                    assert at_position.startswith(f".{statement.space}")


DAMAGED = (ROOT / "tests/images/golden/facts.ptx").read_text()
TOKENS = [token.text for token in tokenize(DAMAGED)]
EDGES = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "+",
    "-",
    "<",
    "|",
    "@",
    "=",
    "_",
    ".x",
    "0",
    '"a"',
]


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from(EDGES + TOKENS) | st.text()),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_text_parses_or_is_refused(changes):
    tokens = list(TOKENS)
    for at, text in changes:
        tokens[at] = text
    with contextlib.suppress(PtxError):  # anything else that is raised fails the test
        parse(" ".join(tokens))


@settings(max_examples=50)
@given(st.integers(0, len(DAMAGED) - 2))
def test_a_text_cut_short_is_refused_or_ends_between_declarations(length):
    text = DAMAGED[:length]
    try:
        module = parse(text)
    except PtxError:
        return
    assert text.count("{") == text.count("}")
    assert len(module.functions) <= 5
