"""Schemas of shapes that systems may bring."""

from enum import IntEnum, StrEnum
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options, Systems
from bailiff.kinds.meta import Value
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.schemas import PREFIX, components
from tests.harness.faces.rest_face import CLOCK
from tests.harness.made_up_system import LightsOutSystem


class Colour(StrEnum):
    """A colour."""

    RED = "red"


class Level(IntEnum):
    """A level."""

    LOW = 1


class Pet(msgspec.Struct, tag_field="kind"):
    """A pet."""


class Cat(Pet, tag="cat"):
    """A cat.

    Attributes:
        lives: node-taints have none.
    """

    lives: int = 9


class Dog(Pet, tag="dog"):
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
            {"type": ["array", "null"], "items": {"type": ["string", "null"]}},
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
    tag = ASKED["Cat"]["properties"]["kind"]
    assert (tag["enum"], tag["type"]) == (["cat"], "string")


def test_a_property_without_words_has_those_of_its_type() -> None:
    assert ANSWERED["Answer"]["properties"]["shapes"]["description"] == "All of it."


def test_names_in_code_stay_as_they_are_written() -> None:
    assert ASKED["Cat"]["properties"]["lives"]["description"] == "node-taints have none."


def test_tagged_types_stand_in_the_place_of_their_base() -> None:
    found = components([], [Owner], {Pet: (Cat, Dog)}).schemas["Pet"]
    assert (found["oneOf"], found["discriminator"]) == ([CAT, DOG], TAGS)


def test_what_both_sides_hold_stands_there_once_or_is_told_apart() -> None:
    both = components([Question], [Answer])
    assert "Colour" in both.schemas
    assert (both.asked["Shapes"], both.answered["Shapes"]) == ("Shapes-Input", "Shapes-Output")
    inner = both.schemas["Answer"]["properties"]["shapes"]
    assert inner["$ref"] == f"{PREFIX}Shapes-Output"
    # A type that is the same on both sides, but holds one that is not, is told apart as well.
    assert both.schemas["Cat-Output"]["properties"]["lives"]["type"] == "integer"
    assert "Outer-Input" in components([Outer, Question], [Outer, Answer]).schemas


class Outer(msgspec.Struct):
    """Holds a cat."""

    cat: Cat


class Owner(msgspec.Struct):
    """Has a pet."""

    pet: Pet


class Node(Value, frozen=True):
    """Of a system, and not of Kubernetes."""


class NodeFacts(Value, frozen=True):
    """What is told of it."""

    node: Node | None = None


class NamedBadlySystem(LightsOutSystem):
    name = "named-badly"
    facts: Any = NodeFacts


def test_a_type_of_a_system_that_is_called_like_a_kind_is_refused_at_the_start() -> None:
    where = r"two types are called Node, in bailiff\.kinds\.node and tests\..*\.test_schemas"
    systems = Systems((*SYSTEMS.all, NamedBadlySystem()))
    settings = RestSettings()
    app = create_app(settings, CLOCK, CollectorRegistry(), Options(), systems=systems)
    with pytest.raises(TypeError, match=where):
        RestServer(app, settings)
