"""The corpus of tests/cases over REST: the answer is the core's, field by field."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.corpus import CLOCK, answer_of_core, load, question_of
from tests.harness.faces.asgi import call

APP = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options())


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in load()])
async def test_rest_gives_the_core_s_answer(case: dict[str, Any]) -> None:
    question = question_of(case, SYSTEMS)
    answer = await call(APP, "POST", f"/v1/{question.path}", case["body"])
    told = answer.json
    if answer.status != 200:
        told = {"error": told["code"], "path": told["errors"][0]["path"]}
    assert told == answer_of_core(question, case["body"])
