"""One question, one answer: the corpus of tests/cases through the core and every face."""

from __future__ import annotations

from typing import Any

import pytest

from bailiff.decisions import SYSTEMS
from tests.harness.corpus import ABSENT, answer_of_core, holds, load, question_of

LOADED = load()
ASKED = [pytest.param(case, id=case["id"]) for case in LOADED]


@pytest.mark.parametrize("case", ASKED)
def test_the_core_answers_as_expected(case: dict[str, Any]) -> None:
    answer = answer_of_core(question_of(case, SYSTEMS), case["body"])
    assert holds(case["expect"], answer), answer


def test_ids_are_unique() -> None:
    ids = [case["id"] for case in LOADED]
    assert len(set(ids)) == len(ids)


def test_every_question_is_asked() -> None:
    assert {question_of(case, SYSTEMS).name for case in LOADED} == set(SYSTEMS.questions)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ({"a": 1}, {}),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": ABSENT}, {"a": None}),
        ([1], [1, 2]),
        ([{"a": ABSENT}], [{"a": 1}]),
        ({"a": {}}, {"a": []}),
    ],
)
def test_what_does_not_hold(expected: object, given: object) -> None:
    assert not holds(expected, given)
