"""``cudarun managed`` as a user runs it, on the emulated device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cudarun.base.errors import ArgumentSyntaxError
from cudarun.session.managed.request import parse_view
from tests.commands.limits import at_a_limit

if TYPE_CHECKING:
    from conftest import Run

TWO = {"CUDARUN_CPU_DEVICES": "2"}
BUMP = ("samples/managed.ptx", "--launch", "bump k=i32:5")

# Variables of every kind that an image can have, and no kernel.
VARIABLES = """\
.version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 8 .b8 _ZN2ns4pairE[16];
.visible .global .attribute(.managed) .align 4 .f32 level = 0f3FC00000;
.visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .const .align 2 .s16 offset = -3;
"""


@pytest.fixture
def variables(tmp_path: Path) -> str:
    (tmp_path / "variables.ptx").write_text(VARIABLES)
    return "variables.ptx"


def by_name(document: Any) -> dict[str, Any]:
    return {variable["demangled"]: variable for variable in document["variables"]}


def history(variable: Any) -> list[tuple[str, list[Any]]]:
    """Each moment with what the host and the contexts see."""
    return [
        (
            each["moment"],
            [seen["value"] for seen in ([each["host"]] if each["host"] else []) + each["places"]],
        )
        for each in variable["observations"]
    ]


# --- what is seen --------------------------------------------------------------------------------


def test_one_address_and_a_value_that_grows_across_devices(run: Run) -> None:
    ran = run("managed", *BUMP, "-d", "cpu:all", "--globals", "--json", env=TWO)
    document = ran.document
    assert (ran.code, document["schema"]) == (0, "cudarun/managed/1")
    assert document["places"] == [
        {"device": "cpu", "context": "primary"}, {"device": "cpu:1", "context": "primary"},
    ]  # fmt: skip
    counter, hits = by_name(document)["counter"], by_name(document)["hits"]
    assert (counter["type"], counter["size"], counter["managed"]) == ("u32", 4, True)
    assert len(set(counter["addresses"])) == 1
    assert history(counter) == [
        ("initially", [0, 0, 0]),
        ("after bump k=i32:5 on cpu", [5, 5, 5]),
        ("after bump k=i32:5 on cpu:1", [10, 10, 10]),
    ]
    assert len(set(hits["addresses"])) == 2
    assert history(hits) == [
        ("initially", [0, 0]),
        ("after bump k=i32:5 on cpu", [1, 0]),
        ("after bump k=i32:5 on cpu:1", [1, 1]),
    ]


def test_one_device_is_looked_at_from_two_contexts(run: Run) -> None:
    document = run("managed", *BUMP, "-d", "cpu", "--globals", "--json").document
    assert [place["context"] for place in document["places"]] == ["primary", "new"]
    assert history(by_name(document)["hits"])[-1] == ("after bump k=i32:5 on cpu", [1, 0])


@pytest.mark.parametrize(
    ("options", "contexts"),
    [
        (("--contexts", "1"), ["primary"]),
        (("--contexts", "3"), ["primary", "new", "new 3"]),
        (("--context", "new"), ["new", "new 2"]),
    ],
)
def test_as_many_contexts_as_asked_for(
    run: Run, options: tuple[str, ...], contexts: list[str]
) -> None:
    document = run("managed", "samples/managed.ptx", "-d", "cpu", "--json", *options).document
    assert [place["context"] for place in document["places"]] == contexts
    assert len(by_name(document)["counter"]["addresses"]) == len(contexts)


def test_as_a_table(run: Run) -> None:
    ran = run("managed", *BUMP, "counter=7", "-d", "cpu", "--globals")
    lines = ran.out.splitlines()
    assert lines[:2] == [
        "counter  u32, 4 bytes, managed",
        "  PASS one address and one value in 2 contexts of 1 device",
    ]
    address = lines[3].split()[1:]
    assert (lines[2].split(), len(address), len(set(address))) == (
        ["host", "cpu", "cpu", "new"],
        3,
        1,
    )
    assert [line.split() for line in lines[4:7]] == [
        ["initially", "0", "0", "0"],
        ["written", "7", "7", "7"],
        ["after", "bump", "k=i32:5", "on", "cpu", "12", "12", "12"],
    ]
    assert lines[7:9] == [
        "hits  u32, 4 bytes, one per context",
        "  2 addresses in 2 contexts of 1 device",
    ]
    assert ran.code == 0


def test_several_launches_one_after_the_other(run: Run) -> None:
    ran = run("managed", *BUMP, "--launch", "bump 1", "--block", "3", "-d", "cpu", "--json")
    assert [values[0] for _, values in history(by_name(ran.document)["counter"])] == [0, 15, 18]


def test_what_kernels_print_and_an_image_without_managed_variables(run: Run) -> None:
    ran = run("managed", "samples/hello.ptx", "-d", "cpu", "--launch", "hello 1 f64:2")
    assert ran.code == 0
    assert ran.out == (
        "hello from block 0, thread 0: the year is 1, the version 2.0\n"
        "samples/hello.ptx: no __managed__ variables\n"
    )


# --- types and values ----------------------------------------------------------------------------


def first(run: Run, image: str, *views: str) -> dict[str, tuple[str, Any]]:
    """Type and first value from the host, or else from the first context, of every variable."""
    ran = run("managed", image, *views, "-d", "cpu", "--globals", "--json")
    assert ran.code == 0, ran.err
    return {
        name: (variable["type"], history(variable)[-1][1][0])
        for name, variable in by_name(ran.document).items()
    }


def test_types_come_from_the_image(run: Run, variables: str) -> None:
    assert first(run, variables) == {
        "ns::pair": ("bytes", "bytes:" + 32 * "0"),
        "level": ("f32", 1.5),
        "table": ("u32[4]", [1, 2, 3, 4]),
        "offset": ("i16", -3),
    }


def test_types_come_from_views(run: Run, variables: str) -> None:
    seen = first(run, variables, "ns::pair:f64", "table:i16", "offset:u8")
    assert seen["ns::pair"] == ("f64[2]", [0.0, 0.0])
    assert seen["table"] == ("i16[8]", [1, 0, 2, 0, 3, 0, 4, 0])
    assert seen["offset"] == ("u8[2]", [253, 255])


@pytest.mark.parametrize(
    "views",
    [
        {
            "level=2.5": ("level", "f32", 2.5),
            "ns::pair={n=i32:7, f64:0.5}": ("ns::pair", "{n=i32, f64}", [7, 0.5]),
            "table=u32[4]:[9,8,7,6]": ("table", "u32[4]", [9, 8, 7, 6]),
            "offset=-7": ("offset", "i16", -7),
        },
        {
            "level=bytes:0000c03f": ("level", "f32", 1.5),
            "_ZN2ns4pairE=f64*2:1,2": ("ns::pair", "f64*2", [1.0, 2.0]),
        },
        {
            "level=i32:-1": ("level", "i32", -1),
            "ns::pair=i32[4]:iota": ("ns::pair", "i32[4]", [0, 1, 2, 3]),
        },
    ],
)
def test_values_are_of_the_argument_grammar(
    run: Run, variables: str, views: dict[str, tuple[str, str, Any]]
) -> None:
    seen = first(run, variables, *views)
    for name, type_, value in views.values():
        assert seen[name] == (type_, value)


def test_names_choose(run: Run, variables: str) -> None:
    ran = run("managed", variables, "level", "-d", "cpu", "--json")
    assert list(by_name(ran.document)) == ["level"]
    ran = run("managed", variables, "level", "table", "-d", "cpu", "--globals", "--json")
    assert list(by_name(ran.document)) == ["level", "table"]


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (
            ("hits",),
            "error: hits is a __device__ variable in samples/managed.ptx, not a __managed__ "
            "variable\n"
            "hint: --globals shows its address in each context\n",
        ),
        (
            ("conter",),
            "error: conter: samples/managed.ptx does not contain this variable\n"
            "hint: did you mean counter? variables: counter, hits\n",
        ),
        (
            ("counter:f64",),
            "error: counter has 4 bytes, not a multiple of f64 (8 bytes)\n",
        ),
        (
            ("counter=u8:1",),
            "error: counter: u8 is 1 bytes, not 4\n",
        ),
        (
            ("counter=i32[2]:ones",),
            "error: counter has 4 bytes; counter=i32[2]:ones has 8\n",
        ),
        (
            ("counter=i32[1]",),
            "error: i32[1] has no initializer\nhint: example: counter=i32[1]:zeros\n",
        ),
        (
            ("counter=bytes:00",),
            "error: counter has 4 bytes; counter=bytes:00 has 1\n",
        ),
        (
            ("counter=1.5",),
            "error: counter: ",
        ),
        (
            ("--launch", "bum k=i32:5"),
            "error: samples/managed.ptx has no kernel 'bum'\n",
        ),
        (
            ("counter=1", "counter=2"),
            "error: counter is given twice\n",
        ),
        (("--launch", "bump 'k"), "error: --launch 'bump 'k': No closing quotation\n"),
        (("--launch", "bump k=i3:5"), "error: unknown type 'i3'\n  k=i3:5\n    ^\n"),
        (("--launch", "bump 1 2"), "error: bump: takes 1 parameter, got 2\n"),
    ],
)  # fmt: skip
def test_unusable_requests(run: Run, args: tuple[str, ...], says: str) -> None:
    ran = run("managed", "samples/managed.ptx", *args, "-d", "cpu")
    assert ran.err.startswith(says)
    assert ran.code == 2


@pytest.mark.parametrize("value", ["{i64:1, x=f32[4]:ones}", "ptr[2]:[&level,null]"])
def test_addresses_are_refused(run: Run, variables: str, value: str) -> None:
    ran = run("managed", variables, f"ns::pair={value}", "-d", "cpu")
    assert ran.err == f"error: ns::pair={value}: an address cannot be written to a variable\n"
    assert ran.code == 2


def test_what_was_seen_before_a_fault_is_shown(run: Run, tmp_path: Path) -> None:
    faulty = (
        VARIABLES
        + ".visible .entry f() { .reg .u64 %a; mov.u64 %a, 0; st.global.u32 [%a], 1; ret; }\n"
    )
    (tmp_path / "faulty.ptx").write_text(faulty)
    ran = run("managed", "faulty.ptx", "level", "-d", "cpu", "--launch", "f", "--json")
    assert ran.code == 5
    assert ran.document["error"]["cuda"]["number"] == 700
    assert history(by_name(ran.document)["level"]) == [("initially", [1.5, 1.5, 1.5])]


# --- views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "type_", "value"),
    [
        ("counter", "counter", None, None),
        ("ns::counter", "ns::counter", None, None),
        ("ns::counter:f32*4", "ns::counter", "f32*4", None),
        ("a$b:u8", "a$b", "u8", None),
        ("n=i32:5", "n", None, "i32:5"),
        ("ns::n=5", "ns::n", None, "5"),
    ],
)
def test_views(text: str, name: str, type_: str | None, value: str | None) -> None:
    view = parse_view(text)
    assert (view.name, view.type and str(view.type), view.value and str(view.value)) == (
        name, type_, value,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 0), ("5", 0), ("n+", 1), ("n:f3", 2), ("n=", 2), ("n:", 2), ("n=null", 2), ("n=&m", 2),
        ("n=i32:x", 2),
    ],
)  # fmt: skip
def test_views_that_do_not_parse(text: str, column: int) -> None:
    with pytest.raises(ArgumentSyntaxError) as caught:
        parse_view(text)
    assert caught.value.column == column


def test_a_kernel_that_hangs_says_where(run: Run) -> None:
    launch = ("--launch", "endless flag=i32[1]:zeros")
    command = ("managed", "samples/endless.ptx", "-d", "cpu", *launch)
    ran, _ = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"), lambda ran: "runs" in ran.err
    )
    assert ran.code == 6
    assert "PTX line 30: ld.volatile.global.u32" in ran.err
