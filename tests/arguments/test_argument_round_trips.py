"""Arguments as texts, and texts as arguments, of any form."""

from __future__ import annotations

import pickle

from hypothesis import example, given
from hypothesis import strategies as st

from cudarun.arguments import initial_values, types, values
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import SCALARS, VECTORS, ArrayType, StructMember, StructType
from cudarun.arguments.values import Argument
from cudarun.base.errors import ArgumentSyntaxError

scalars = st.sampled_from(list(SCALARS.values()))
identifiers = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True).filter(
    lambda name: name not in ("and", "or", "not")
)
member_names = st.none() | identifiers


def _named(names: list[str | None]) -> list[str | None]:
    """Names with repetitions dropped: members of a struct are distinct."""
    return [name if name not in names[:index] else None for index, name in enumerate(names)]


def scalar_values(scalar: types.ScalarType) -> st.SearchStrategy[Scalar]:
    limit = 1 if scalar.kind is types.Kind.BOOL else (1 << (8 * scalar.size)) - 1
    return st.integers(0, limit).map(lambda bits: Scalar(scalar, bits))


def element_of(element: types.Type) -> st.SearchStrategy[values.Element]:
    match element:
        case types.ScalarType():
            return scalar_values(element)
        case types.VectorType() | ArrayType():
            parts = st.tuples(*[element_of(element.element)] * element.count)
            return parts.map(lambda each: values.SequenceValue(element, each))
        case StructType():
            parts = st.tuples(*[element_of(member.type) for member in element.members])
            names = [member.name for member in element.members]
            return parts.map(
                lambda each: values.StructValue(
                    tuple(values.Member(n, v) for n, v in zip(names, each, strict=True))
                )
            )
    raise AssertionError(element)


def _struct(members: list[tuple[str | None, types.Type]]) -> StructType:
    names = _named([name for name, _ in members])
    return StructType(tuple(StructMember(n, m) for n, (_, m) in zip(names, members, strict=True)))


element_types = st.recursive(
    scalars | st.sampled_from(list(VECTORS.values())),
    lambda inner: (
        st.builds(ArrayType, inner, st.integers(1, 3))
        | st.lists(st.tuples(member_names, inner), min_size=1, max_size=3).map(_struct)
    ),
    max_leaves=5,
)
dimensions = st.sampled_from(["n", "4", "2*n+1", "4Ki", "(n + 255) // 256", "-n & 7"]).map(
    parse_expression
)
paths = st.text(min_size=1, max_size=12).filter(lambda text: text.strip())
numbers = st.integers(0, 100).map(lambda number: UntypedNumber(str(number)))


@st.composite
def buffers(draw: st.DrawFn) -> values.Buffer:
    element = draw(element_types)
    inner = types.innermost(element)
    shape = tuple(draw(st.lists(dimensions, min_size=1, max_size=3)))
    choices: list[st.SearchStrategy[values.Initial | None]] = [
        st.none(),
        st.builds(initial_values.Constant, st.sampled_from(["0", "1"]).map(UntypedNumber)),
        st.builds(
            initial_values.FileInitial,
            paths,
            st.sampled_from(initial_values.FileOrder),
            cast=st.booleans() if isinstance(inner, types.ScalarType) else st.just(False),
        ),
        lists(element, len(shape) + len(types.inner_shape(element))),
    ]
    within = types.scalars_of(element)
    if all(scalar.kind is not types.Kind.BOOL for scalar in within):
        choices.append(
            st.builds(initial_values.Generated, st.just("iota"), st.tuples(numbers, numbers))
        )
    if all(scalar.is_float for scalar in within):
        choices += [
            st.builds(initial_values.Generated, st.just("rand"), st.tuples(numbers, numbers)),
            st.just(initial_values.Generated("randn", ())),
        ]
    return values.Buffer(element, shape, draw(st.one_of(choices)))


def lists(element: types.Type, levels: int) -> st.SearchStrategy[values.ListInitial]:
    inner = types.innermost(element)
    leaf = element_of(inner)
    return st.integers(1, 2).flatmap(lambda length: _nested(leaf, levels, length))


def _nested(leaf, levels: int, length: int):
    inner = leaf if levels == 1 else _nested(leaf, levels - 1, length)
    return st.tuples(*[inner] * length).map(values.ListInitial)


pointers = (
    buffers()
    | st.builds(values.FileBuffer, paths, st.sampled_from(initial_values.FileOrder))
    | st.from_regex(r"[A-Za-z_$][\w$]{0,5}(::[A-Za-z_]{1,3})?", fullmatch=True)
    .filter(str.isascii)
    .map(values.AddressOf)
    | st.just(values.Null())
)
by_value = element_types.flatmap(element_of) | st.binary(min_size=1, max_size=5).map(values.Bytes)


@st.composite
def structs_with_pointers(draw: st.DrawFn) -> values.StructValue:
    members = draw(st.lists(pointers | by_value, min_size=1, max_size=3))
    names = _named(draw(st.lists(member_names, min_size=len(members), max_size=len(members))))
    return values.StructValue(
        tuple(values.Member(n, v) for n, v in zip(names, members, strict=True))
    )


bare = st.sampled_from(["0", "-1", "2.5", "0x10", "nan", "-inf", "true", "1e-5", "4Ki"])
arguments = st.builds(
    Argument,
    st.none() | identifiers,
    pointers | by_value | structs_with_pointers() | bare.map(UntypedNumber),
)


@given(arguments)
@example(parse_argument("x=f32:0f7fc00001"))
@example(parse_argument('@" quoted\\" \\\\ "'))
def test_text_of_an_argument_parses_to_it(argument):
    again = parse_argument(str(argument))
    assert again == argument
    assert str(again) == str(argument)


@given(arguments)
def test_arguments_cross_to_the_worker(argument):
    assert pickle.loads(pickle.dumps(argument)) == argument


@given(
    st.text("f32i8u[]{}:,*=@&\"'()+-n.0123abcxp \\", max_size=30)
    | st.builds(
        lambda text, at, junk: text[: at % len(text)] + junk + text[at % len(text) :],
        arguments.map(str),
        st.integers(0, 1000),
        st.text("[]{}:,*=@&\"'() x0", max_size=2),
    )
)
def test_any_text_parses_or_is_refused_at_a_column(text):
    try:
        parse_argument(text)
        column = 0
    except ArgumentSyntaxError as refused:
        column = refused.column if refused.text == text else -1
    assert 0 <= column <= len(text)
