"""Our dataclasses behave as those of the standard library, but for ``frozen`` while they run."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Place(Point):
    """A named one."""

    name: str = "here"


@dataclass(slots=True)
class Counter:
    """What changes."""

    count: int = 0


@dataclass(eq=False)
class Node:
    """Itself alone."""

    value: int


@dataclass(frozen=True, slots=True)
class Shown:
    """With words of its own."""

    value: int

    def __repr__(self) -> str:
        return f"<{self.value}>"


@dataclass()
class Scaled(Point):
    """With fields that are no parameters."""

    scale: int = dataclasses.field(default=3, init=False)
    seen: list[float] = dataclasses.field(default_factory=list, init=False)
    product: float = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.product = self.y * self.scale


def test_fields_that_are_no_parameters() -> None:
    one, two = Scaled(1, y=2.0), Scaled(2)
    assert (one.scale, one.seen, one.product, two.product) == (3, [], 6.0, 1.5)
    assert one.seen is not two.seen
    assert one.tags is not two.tags
    for _ in range(2):  # the first object is made by another function than the others
        with pytest.raises(TypeError, match=r"__init__\(\) .* unexpected keyword argument 'scale'"):
            Scaled(1, scale=4)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"Place\.__init__\(\) missing 1 required"):
            Place()  # type: ignore[call-arg]


def test_equal_by_the_fields_that_are_compared() -> None:
    assert Point(1, tags=["a"]) == Point(1, 0.5)
    assert hash(Point(1, tags=["a"])) == hash(Point(1, 0.5))
    assert Point(1) != Point(2)
    assert Point(1) != Place(1)
    assert Point(1) != (1, 0.5)
    assert Counter(1) == Counter(1)
    assert Node(1) != Node(1)


def test_what_changes_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_shown_as_they_are_written() -> None:
    assert repr(Place(1, name="there")) == "Place(x=1, y=0.5, name='there')"
    assert repr([Shown(3)]) == "[<3>]"


def test_the_standard_librarys_functions() -> None:
    assert dataclasses.replace(Place(1), x=2) == Place(2)
    assert dataclasses.asdict(Counter(3)) == {"count": 3}
    assert [f.name for f in dataclasses.fields(Place)] == ["x", "y", "tags", "name"]
    assert pickle.loads(pickle.dumps(Place(1, tags=["a"]))).tags == ["a"]


def test_a_method_of_the_base() -> None:
    @dataclass(eq=False)
    class Leaf(Node):
        parts: list[int] = dataclasses.field(default_factory=list)

        def __repr__(self) -> str:
            return f"leaf {super().__repr__()}"

    assert repr(Leaf(3)).startswith("leaf ")
    assert "parts" not in vars(Leaf)


def test_slots() -> None:
    with pytest.raises(AttributeError):
        Point(1).z = 3  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Computed:
    """A value that is computed later."""

    x: int
    value: int | None = dataclasses.field(default=None, init=False)


def test_slots_of_fields_that_are_no_parameters() -> None:
    assert Computed(1).value is None
