"""The language of ``ctx run``: what it parses to, and what it refuses before any driver is met."""

from __future__ import annotations

import pytest

from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import SCALARS, ArrayType
from cudarun.base.errors import ArgumentSyntaxError
from cudarun.emulator import driver
from cudarun.session.contexts.parser import parse_script
from cudarun.session.contexts.script import Expectation, Limit, NameReference, Symbol, short_name
from cudarun.session.contexts.steps import Steps
from cudarun.session.contexts.verbs import VERBS
from cudarun.session.contexts.verification import FACTS


def only(text: str):
    """The last step of a script."""
    return parse_script(text).steps[-1]


def test_steps_are_separated_by_semicolons_and_lines() -> None:
    script = parse_script("create A; pop # to float\n\n  ; ;@t1 push A\n", "tour.ctx")
    assert [(s.number, s.line, s.thread, s.verb, s.text) for s in script.steps] == [
        (1, 1, "main", "create", "create A"),
        (2, 1, "main", "pop", "pop"),
        (3, 3, "t1", "push", "@t1 push A"),
    ]
    assert script.origin == "tour.ctx"


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("create A", {"name": "A"}),
        (
            "create A dev=2 flags=spin,map-host",
            {"name": "A", "dev": 2, "flags": frozenset({"spin", "map-host"})},
        ),
        ("create A flags=yield dev=1", {"name": "A", "dev": 1, "flags": frozenset({"yield"})}),
        ("set none", {"context": None}),
        ("create A; set A", {"context": "A"}),
        ("retain P dev=1; release P", {"dev": 1}),
        ("retain P dev=1; retain P", {"name": "P", "dev": 1}),
        ("release", {}),
        ("reset dev=1", {"dev": 1}),
        ("limit stack", {"limit": Limit("stack", None)}),
        ("limit printf-fifo=4Ki", {"limit": Limit("printf-fifo", 4096)}),
        ("cache l1", {"prefer": "l1"}),
        ("alloc B 0x10", {"name": "B", "memory": 16}),
        ("module M 'x", {"name": "M", "image": "'x"}),
        ('library L "a b;c#d.ptx"', {"name": "L", "image": "a b;c#d.ptx"}),
        ("library L builtin; function F L._Z1fPf", {"name": "F", "symbol": Symbol("L", "_Z1fPf")}),
        ("stream S; sync S", {"thing": "S"}),
        ("sync", {}),
        ("event E; record E", {"event": "E"}),
    ],
)  # fmt: skip
def test_operands(text: str, operands: dict[str, object]) -> None:
    assert only(text).operands == operands


def test_what_is_written_is_remembered_for_reading() -> None:
    script = parse_script(
        "alloc B 8; write B i32*2:1,-1; read B; write B bytes:00ff; read B u8; "
        "write B f32[2]:[1,2]; read B; alloc C f32[3]:iota; read C == iota; read C f32[2]"
    )
    write, read, raw, byte, _, listed, _, _, part = script.steps[1:]
    assert content(write.operands["value"]) == b"\1\0\0\0\xff\xff\xff\xff"
    assert read.operands["as_type"] == BufferSpec("", ArrayType(SCALARS["i32"], 2), ())
    assert content(raw.operands["value"]) == b"\0\xff"
    assert str(byte.operands["as_type"].type) == "u8"
    assert str(listed.operands["as_type"]) == "f32[2]"
    assert str(part.operands["as_type"]) == "f32[2]"


def content(spec: BufferSpec) -> bytes:
    """The bytes that a value is written as."""
    assert spec.initial is not None
    return fill(spec.initial, spec.type, spec.shape, seeded(0, "")).tobytes()


def test_a_launch_takes_values_names_and_options_in_any_order() -> None:
    text = (
        "module M builtin; function F M.store; alloc B 4; "
        "launch F grid=2,3 B v=u32:7 block=4x8 smem=4*v"
    )
    step = only(text)
    assert [str(each) for each in step.operands["grid"]] == ["2", "3"]
    assert [str(each) for each in step.operands["block"]] == ["4", "8"]
    assert str(step.operands["smem"]) == "4*v"
    name, value = step.operands["arguments"]
    assert (name.name, str(name.value), name.text) == (None, "&B", "B")
    assert (value.name, str(value.value)) == ("v", "u32:7")


def test_a_script_tells_what_it_needs() -> None:
    script = parse_script("create A dev=1; module M a.ptx; module N builtin; library L a.ptx")
    assert (script.devices, script.images) == (2, ("a.ptx",))


# --- expectations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pop -> INVALID_CONTEXT", Expectation("-> INVALID_CONTEXT", ("INVALID_CONTEXT",))),
        ("pop -> CUDA_ERROR_INVALID_CONTEXT",
         Expectation("-> CUDA_ERROR_INVALID_CONTEXT", ("INVALID_CONTEXT",))),
        ("pop -> SUCCESS|any", Expectation("-> SUCCESS|any", ("SUCCESS", "any"))),
        ("pop", None),
        ("current == none", Expectation("== none", operator="==", operand=None)),
        ("create A == A", Expectation("== A", operator="==", operand=NameReference("A"))),
        ("create A; current != A", Expectation("!= A", operator="!=", operand=NameReference("A"))),
        ("limit stack >= 1Ki", Expectation(">= 1Ki", operator=">=", operand=1024)),
        ("limit stack as before; limit stack == before",
         Expectation("== before", operator="==", operand=NameReference("before"))),
        ("state == active", Expectation("== active", operator="==", operand="active")),
        ("flags >= spin,map-host",
         Expectation(">= spin,map-host", operator=">=", operand=frozenset({"spin", "map-host"}))),
    ],
)  # fmt: skip
def test_expectations(text: str, expected: Expectation | None) -> None:
    assert only(text).expected == expected


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("alloc B 4; write B f32:1; read B == 1", b"\0\0\x80?"),
        ("alloc B 8; read B u16*2 == 1,2", b"\1\0\2\0"),
        ("alloc B 8; read B {u8, u16} == {u8:1, u16:2}", b"\1\0\2\0"),
        ("alloc B 8; read B u16[2] == [1,2]", b"\1\0\2\0"),
    ],
)
def test_expected_contents(text: str, operand: bytes) -> None:
    expected = only(text).expected
    assert expected is not None
    assert content(expected.operand) == operand


@pytest.mark.parametrize(
    ("results", "result", "admitted"),
    [
        (("SUCCESS",), "SUCCESS", True),
        (("SUCCESS",), "INVALID_VALUE", False),
        (("INVALID_VALUE", "INVALID_HANDLE"), "INVALID_HANDLE", True),
        (("failure",), "SUCCESS", False),
        (("failure",), "INVALID_HANDLE", True),
        (("any",), "SUCCESS", True),
        (("any",), "INVALID_HANDLE", True),
    ],
)
def test_which_results_are_admitted(results: tuple[str, ...], result: str, admitted: bool) -> None:
    assert Expectation("", results).admits(result) is admitted


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("CUDA_SUCCESS", "SUCCESS"),
        ("cudaSuccess", "SUCCESS"),
        ("CUDA_ERROR_INVALID_CONTEXT", "INVALID_CONTEXT"),
        ("cudaErrorInvalidValue", "cudaErrorInvalidValue"),
    ],
)
def test_names_of_results(full: str, short: str) -> None:
    assert short_name(full) == short


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "the script has no steps", 0),
        ("  # nothing", "the script has no steps", 0),
        ("creat A", "unknown step 'creat'", 0),
        ("create", "expected a name for the context", 6),
        ("create 1", "'1' is not a valid name", 7),
        ("create none", "'none' is not a valid name", 7),
        ("create A; create A", "A is already the name of a context", 17),
        ("create A; stream A", "A is already the name of a context", 17),
        ("retain P; retain P dev=1", "P is the primary context of dev=0", 24),
        ("push A", "no context is named 'A'", 5),
        ("destroy A", "no context or stream or event is named 'A'", 8),
        ("stream S; push S", "S is a stream, not a context", 15),
        ("retain P; release P dev=0", "specify the context's name or dev=, not both", 25),
        ("create A; release A", "A is a context, not a primary context", 18),
        ("create A extra", "unexpected 'extra'", 9),
        ("pop A", "unexpected 'A'", 4),
        ("create A dev=x", "'x' is not a number", 13),
        ("create A dev=-1", "'-1' is not an integer", 13),
        ("create A dev=1 dev=2", "dev= is given more than once", 15),
        ("create A flags=fast", "unknown context flag 'fast'", 15),
        ("limit stak", "unknown limit 'stak'", 6),
        ("limit stack=big", "'big' is not a number", 12),
        ("cache l2", "'l2' is not one of none, shared, l1, equal", 6),
        ("alloc B 4; write B 5", "5 needs a type", 19),
        ("alloc B 4; write B i3:5", "unknown type 'i3'", 19),
        ("alloc B 4; write B bounds(3)", "'bounds(3)' cannot be written", 19),
        ("alloc B 4; write B f32[2]", "f32[2] has no contents", 19),
        ("alloc B 8; write B &C", "no buffer or variable is named 'C'", 19),
        ("alloc B 8; write B ptr[1]:[f32[3]]", "contents refer to memory by name", 19),
        ("alloc B 8; check B == 1", "the type of B is unknown", 17),
        ("alloc B f32[2]; check b == 1", "unknown name 'b'; known names: B", 22),
        ("alloc B f32[2]; check B == ", "expected a value, found the end", 26),
        ("alloc B f32[2]; check old(B) == B",
         "a script has no old(…) and symbol(…): read or name the value", 22),
        ("check", "expected an expression", 5),
        ("module M builtin; function F M.store; alloc B 4; launch F B=f32[2]:ones",
         "the name B is already in use", 58),
        ("module M builtin; function F M.store; launch F f32[2]:ones 1",
         "f32[2]:ones has no name", 47),
        ("alloc B 4; read B", "the type of B is unknown: the script did not write to it", 17),
        ("alloc B 4; read B i32 == x", "'x' is not a value of type i32", 25),
        ("alloc B 4; read B i32 >= 1", "values of 'read' can only be compared with == and !=", 22),
        ("module M builtin; function F bump",
         "'bump' is not of the form M.NAME (a module or library and a name in it)", 29),
        ("function F L.bump", "no module or library is named 'L'", 11),
        ("module M builtin; function F M.f; launch F grid=1,2,3,4",
         "'1,2,3,4' has 4 dimensions; the maximum is 3", 48),
        ("module M builtin; function F M.f; launch F block=64,n+",
         "expected a value, found the end", 54),
        ("module M builtin; function F M.f; launch F block=n/2",
         "'/' does not produce an integer (use '//') in the dimension 'n/2'", 49),
        ("module M builtin; function F M.f; launch F grid=4294967296",
         "4294967296: a dimension must be 0 to 4294967295", 48),
        ("module M builtin; function F M.f; launch F smem=4294967296",
         "4294967296: a size must be 0 to 4294967295", 48),
        ("pop -> INVALID_CONTXT", "'INVALID_CONTXT' is not a driver result", 7),
        ("pop -> SUCCESS|NO", "'NO' is not a driver result", 15),
        ("pop ->", "expected a result after '->', such as INVALID_CONTEXT", 6),
        ("sync == 1", "'sync' returns no value to compare", 5),
        ("state >= active", "values of 'state' can only be compared with == and !=", 6),
        ("state == on", "'on' is not one of active, inactive", 9),
        ("current == B", "no context is named 'B'", 11),
        ("sync as x", "'sync' returns no value to name", 5),
        ("memory as any", "'any' is not a valid name for the value", 10),
        ("@ pop", "'@' is not a thread name", 0),
        ("@t1", "expected a step", 3),
        ('module M "x', "unclosed quote", 9),
        ("module M a\0b.ptx", "a NUL character", 10),
        ('create A; module M "a\0b.ptx"', "a NUL character", 21),
        ("alloc B 4; write B {i32:1", "unclosed bracket", 19),
        ("create A; new-process; push A", "no context is named 'A'", 28),
    ],
)  # fmt: skip
def test_malformed_scripts(text: str, message: str, column: int) -> None:
    with pytest.raises(ArgumentSyntaxError) as caught:
        parse_script(text)
    assert (caught.value.message, caught.value.column) == (message, column)


def test_an_error_in_a_longer_script_names_line_and_file() -> None:
    with pytest.raises(ArgumentSyntaxError) as caught:
        parse_script("create A\n  push B", "tour.ctx")
    error = caught.value
    assert str(error) == "line 2: no context is named 'B'\n    push B\n         ^"
    assert error.context == {"file": "tour.ctx"}
    assert error.hint is None


def test_what_is_gone_can_be_named() -> None:
    assert only("create A; destroy A; push A").operands == {"context": "A"}


def test_what_must_fail_makes_no_name() -> None:
    assert parse_script("alloc M 4 -> INVALID_CONTEXT; create A; alloc M 4").steps
    with pytest.raises(ArgumentSyntaxError, match="no buffer or variable is named 'M'"):
        parse_script("alloc M 4 -> INVALID_CONTEXT; free M")


# --- the tables ----------------------------------------------------------------------------------


SIMPLE = {"push", "pop", "set", "current", "free", "stream", "event"}
"""The verbs whose calls get only the handles of their operands, or make an object."""


@pytest.mark.parametrize("verb", sorted(SIMPLE))
def test_every_simple_verb_names_its_call(verb: str) -> None:
    assert callable(getattr(driver, VERBS[verb].help.partition(":")[0]))


def test_every_other_verb_has_a_method_and_nothing_else_has() -> None:
    methods = {name for name in dir(Steps) if name.startswith("_do_")}
    others = VERBS.keys() - SIMPLE - {"new-process"}
    assert methods == {f"_do_{verb.replace('-', '_')}" for verb in others}


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_every_fact_is_a_script_that_expects_something(fact) -> None:  # type: ignore[no-untyped-def]
    steps = fact.parsed().steps
    assert any(step.expected is not None for step in steps)
    assert fact.sentence.endswith(".")


def test_facts_have_names_of_their_own() -> None:
    names = [fact.name for fact in FACTS]
    assert len(set(names)) == len(names)
