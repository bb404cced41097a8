"""What an error is about stands in its fields; the message is composed of them in one place."""

from __future__ import annotations

import pickle

import pytest

from cudarun.base.errors import (
    ArgumentSyntaxError,
    CudarunError,
    DeviceFailed,
    ImageRefused,
    OutOfTime,
    RequestError,
)
from cudarun.diagnostics.entries import Diagnosed
from cudarun.model.documents import plain
from cudarun.ptx.errors import PtxDiagnostic, PtxError
from cudarun.ptx.tree import Position


def test_message_is_composed_of_what_it_is_about_the_widest_first() -> None:
    error = RequestError("there is no buffer 'x'").of(argument="y == x").of(option="--check")
    error.of(case="sum", shown="case 'sum'").of(place="s.toml:3")
    assert error.message == str(error)
    assert error.message == "s.toml:3: case 'sum': --check: y == x: there is no buffer 'x'"


def test_fields_given_to_the_constructor_stand_in_the_same_order_as_given_to_of() -> None:
    error = DeviceFailed("out of memory", option="--save", origin="k.ptx", operation="cuMemAlloc")
    assert error.message == "--save: k.ptx: cuMemAlloc: out of memory"
    assert error.subject("option") == ("--save",)
    assert error.subject("origin") == ("k.ptx",)
    assert error.subject("operation") == ("cuMemAlloc",)
    assert error.subject("argument") == ()


def test_cause_stands_behind_what_happened() -> None:
    error = ImageRefused("not a cubin", cause="it has no sections", origin="k.cubin")
    assert error.message == "k.cubin: not a cubin: it has no sections"


def test_same_subject_is_not_said_twice() -> None:
    error = RequestError("it is empty", option="--check").of(option="--check")
    assert error.message == "--check: it is empty"
    assert error.of(option="--print").message == "--print: --check: it is empty"
    assert error.subject("option") == ("--print", "--check")


def test_subject_that_what_happened_names_is_known_and_not_said() -> None:
    error = RequestError("--grid and --threads cannot be combined").naming("--grid", "--threads")
    assert error.message == "--grid and --threads cannot be combined"
    assert set(error.subject("option")) == {"--grid", "--threads"}


def test_facts_are_no_part_of_the_context_that_documents_show() -> None:
    error = RequestError("it is empty", option="--check", file="k.ptx")
    assert error.context == {"file": "k.ptx"}
    assert plain(error) == {
        "kind": "RequestError",
        "exit_code": 2,
        "message": "--check: it is empty",
        "file": "k.ptx",
    }


@pytest.mark.parametrize(
    "error",
    [
        RequestError("it is empty", hint="fill it", cause="why"),
        ArgumentSyntaxError("expected ]", "f32[2", 5),
        OutOfTime("no result", log="where it stood"),
        Diagnosed("the source does not compile", explanation="so it is", cuda=("X", 3)),
        PtxError([PtxDiagnostic(Position(1, 2), "syntax error")], file="k.ptx"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_all_of_it_crosses_from_process_to_process(error: CudarunError) -> None:
    error.of(argument="x", shown="buffer 'x'").of(option="--save").at(device="cpu:0")
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is type(error)
    assert there.__dict__ == error.__dict__
    assert (there.message, str(there), there.args) == (error.message, str(error), error.args)
    assert there.subject("argument") == ("x",)


def test_error_that_stands_for_another_has_its_subject_and_cause() -> None:
    first = ImageRefused("not a fatbin", cause="version 7 is not known", origin="k.fatbin")
    second = Diagnosed(first.what, explanation="it is newer").like(first)
    assert second.message == first.message
    assert second.subject("origin") == ("k.fatbin",)


def test_long_texts_are_shortened_in_one_place() -> None:
    long = "A" * 20_000
    error = RequestError(f"'{long}' is not NAME=PATH", hint=f"try {long}", option="--save")
    error.at(file=long)
    shown = str(error)
    assert shown.startswith("--save: 'AAAA")
    assert shown.endswith("A' is not NAME=PATH")
    assert " characters … A" in shown
    assert error.hint is not None
    assert max(map(len, (shown, error.hint, error.context["file"]))) < 500
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.hint) == (shown, error.hint)


@pytest.mark.parametrize("column", [0, 10_000, 19_999])
def test_so_is_a_text_that_does_not_parse(column: int) -> None:
    text = "B" * column + "#" + "A" * (20_000 - column)
    message, source, caret = str(ArgumentSyntaxError("unexpected", text, column)).split("\n")
    assert message == "unexpected"
    assert len(source) < 200
    assert source[caret.index("^")] == "#"
