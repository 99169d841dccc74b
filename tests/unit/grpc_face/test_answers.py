"""The face answers as the core does: it translates and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiff.decisions import SYSTEMS
from tests.harness.corpus import answer_of_core
from tests.harness.faces import device_questions, node_questions, questions
from tests.harness.faces.grpc_face import without_zeros
from tests.harness.faces.grpc_in_process import ask_in_process

ASKED = [
    pytest.param("decide", questions.ABOUT_ONE, id="a pod"),
    pytest.param("decide", device_questions.ABOUT_ONE, id="a pod with devices"),
    pytest.param("decideBatch", questions.ABOUT_PODS, id="pods"),
    pytest.param("decideBatch", device_questions.ABOUT_PODS, id="pods with devices"),
    pytest.param("previewTaintChange", questions.ABOUT_A_CHANGE, id="a change"),
    pytest.param("previewDeviceTaintRule", device_questions.ABOUT_A_RULE, id="a rule"),
    pytest.param("judgeNodes", node_questions.ABOUT_NODES, id="nodes"),
    pytest.param("judgeNodes", node_questions.with_devices(), id="nodes, and devices"),
]


@pytest.mark.parametrize(("question", "bodies"), ASKED)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
async def test_a_question_is_answered_as_by_the_core(
    question: str, bodies: st.SearchStrategy[dict[str, Any]], data: st.DataObject
) -> None:
    body = data.draw(bodies)
    expected = answer_of_core(SYSTEMS.questions[question], body)
    for aside in (False, True):
        answer = await ask_in_process(question, body, aside=aside)
        assert without_zeros(answer) == without_zeros(expected)
