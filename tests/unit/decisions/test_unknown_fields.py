"""A question's own fields are all known; Kubernetes' objects have more than any rule reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import inspect as types

from bailiff.decisions import SYSTEMS, ObjectReference
from bailiff.kinds import DecodeError, decode
from tests.harness.made_up_system import THREE_SYSTEMS
from tests.harness.ranking_system import WITH_SEATS

if TYPE_CHECKING:
    from collections.abc import Iterator

# The harness's systems too: they are what the next one is written after.
QUESTIONS = {
    f"{question.name}, {one}": question
    for one, systems in (("ours", SYSTEMS), ("made up", THREE_SYSTEMS), ("ranking", WITH_SEATS))
    for question in systems.questions.values()
}


def own_types(info: object) -> Iterator[Any]:
    """The structures of a question that are no objects of Kubernetes."""
    match info:
        case types.StructType(cls=cls) if not cls.__module__.startswith("bailiff.kinds."):
            yield cls
            for field in info.fields:
                yield from own_types(field.type)
        case types.UnionType(types=parts):
            for part in parts:
                yield from own_types(part)
        case types.CollectionType(item_type=part) | types.Metadata(type=part):
            yield from own_types(part)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_nothing_of_a_question_is_skipped(question: Any) -> None:
    found = list(own_types(types.type_info(question.facts)))
    assert len(found) >= 2
    lax = {kind for kind in found if not kind.__struct_config__.forbid_unknown_fields}
    # Of an answer, whose types may get fields; a section that keeps one gets back what was told.
    assert lax <= {ObjectReference}


def test_what_is_allowed_is_told() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"pod":{},"options":{"explan":true}}', SYSTEMS.questions["decide"].facts)
    assert caught.value.path == "$.options.explan"
    assert caught.value.reason.startswith("unknown field, allowed are comparisonOperators, ")


def test_a_taint_to_add_is_the_question_s_own() -> None:
    body = b'{"node":{},"addTaints":[{"key":"a","efect":"NoExecute"}]}'
    with pytest.raises(DecodeError) as caught:
        decode(body, SYSTEMS.questions["previewTaintChange"].facts)
    assert caught.value.path == "$.addTaints[0].efect"
    assert caught.value.reason == "unknown field, allowed are key, value, effect, timeAdded"


def test_objects_may_have_any_field() -> None:
    body = {"pod": {"x": 1, "spec": {"y": {}}}, "node": {"status": {"images": []}}}
    decode(msgspec.json.encode(body), SYSTEMS.questions["decide"].facts)
