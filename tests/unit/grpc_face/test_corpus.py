"""One question, one answer: the corpus of tests/cases over gRPC, answered as by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest

from bailiff.decisions import SYSTEMS
from tests.harness.corpus import CLOCK, answer_of_core, load, question_of
from tests.harness.faces.grpc_face import (
    InexpressibleError,
    error_of,
    plain,
    request_of,
    running,
    without_zeros,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.harness.faces.grpc_face import Face

CASES = [pytest.param(case, id=case["id"]) for case in load()]


@pytest.fixture
async def face() -> AsyncIterator[Face]:
    async with running(now=CLOCK.now()) as face:
        yield face


@pytest.mark.parametrize("case", CASES)
async def test_every_case_is_answered_as_by_the_core(case: dict[str, Any], face: Face) -> None:
    question = question_of(case, SYSTEMS)
    if "not-in-protobuf" in case:
        with pytest.raises(InexpressibleError):
            request_of(question.name, case["body"])
        return
    request = request_of(question.name, case["body"])
    expected = answer_of_core(question, case["body"])
    try:
        answer = plain(await face.ask(question.name, request))
    except grpc.aio.AioRpcError as error:
        answer = error_of(error)
    assert without_zeros(answer) == without_zeros(expected)
