"""Schemas of shapes that systems may bring."""

from enum import IntEnum, StrEnum

import msgspec
import pytest

from bailiff.rest_api.schemas import PREFIX, components


class Colour(StrEnum):
    """A colour."""

    RED = "red"


class Level(IntEnum):
    """A level."""

    LOW = 1


class Cat(msgspec.Struct, tag_field="kind", tag="cat"):
    """A cat.

    Attributes:
        lives: left.
    """

    lives: int = 9


class Dog(msgspec.Struct, tag_field="kind", tag="dog"):
    """A dog."""

    colour: Colour = Colour.RED


class Shapes(msgspec.Struct):
    """All of it."""

    pet: Cat | Dog
    maybe: Cat | Dog | None = None
    names: tuple[str, ...] = ()
    by_name: dict[str, Dog] = {}
    lists: dict[str, list[Cat]] = {}
    pair: tuple[Level, Cat] = (Level.LOW, Cat())
    either: int | str = 0


class Question(msgspec.Struct):
    """A question."""

    shapes: Shapes


class Answer(msgspec.Struct):
    """An answer."""

    shapes: Shapes


ASKED = components([Question], []).schemas
ANSWERED = components([], [Answer]).schemas
CAT, DOG = {"$ref": f"{PREFIX}Cat"}, {"$ref": f"{PREFIX}Dog"}
NULL = {"type": "null"}
TAGS = {"propertyName": "kind", "mapping": {"cat": CAT["$ref"], "dog": DOG["$ref"]}}
EITHER = [{"type": "integer"}, {"type": "string"}]


@pytest.mark.parametrize(
    ("name", "asked", "answered"),
    [
        ("pet", {"anyOf": [CAT, DOG], "discriminator": TAGS}, None),
        (
            "maybe",
            {"anyOf": [CAT, DOG, NULL], "discriminator": TAGS},
            {"anyOf": [CAT, DOG], "discriminator": TAGS},
        ),
        (
            "names",
            {"type": ["array", "null"], "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
        ),
        (
            "by_name",
            {"type": ["object", "null"], "additionalProperties": {"anyOf": [DOG, NULL]}},
            {"type": "object", "additionalProperties": DOG},
        ),
        ("either", {"anyOf": [*EITHER, NULL], "default": 0}, {"anyOf": EITHER, "default": 0}),
    ],
)  # fmt: skip - a table
def test_shapes(name: str, asked: object, answered: object) -> None:
    assert ASKED["Shapes"]["properties"][name] == asked
    assert ANSWERED["Shapes"]["properties"][name] == (asked if answered is None else answered)


def test_everything_that_is_reached_is_there() -> None:
    assert set(ASKED) == {"Cat", "Colour", "Dog", "Level", "Question", "Shapes"}


def test_enums_and_tags_have_their_type() -> None:
    assert (ASKED["Colour"]["type"], ASKED["Level"]["type"]) == ("string", "integer")
    assert ASKED["Cat"]["properties"]["kind"] == {"enum": ["cat"], "type": "string"}


def test_what_both_sides_hold_stands_there_once_or_is_told_apart() -> None:
    both = components([Question], [Answer])
    assert "Colour" in both.schemas
    assert (both.asked["Shapes"], both.answered["Shapes"]) == ("Shapes-Input", "Shapes-Output")
    inner = both.schemas["Answer"]["properties"]["shapes"]
    assert inner == {"$ref": f"{PREFIX}Shapes-Output"}
    # A type that is the same on both sides, but holds one that is not, is told apart as well.
    assert both.schemas["Cat-Output"]["properties"]["lives"]["type"] == "integer"
    assert "Outer-Input" in components([Outer, Question], [Outer, Answer]).schemas


class Outer(msgspec.Struct):
    """Holds a cat."""

    cat: Cat
