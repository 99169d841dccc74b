"""The cases of tests/cases by way of the clients: the same messages over both transports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from bailiff.client import BailiffError
from bailiff.decisions import SYSTEMS
from tests.harness import corpus
from tests.harness.faces.grpc_face import plain, without_zeros
from tests.harness.ways import Way, client, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from google.protobuf.message import Message

# One server and one loop for all of them.
pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = [case for case in corpus.load() if "not-in-protobuf" not in case]


def method_of(question: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", question)


def told(answer: Message | BailiffError) -> Any:
    if isinstance(answer, BailiffError):
        path = answer.fields[0].path if answer.fields else "$"
        return {"error": answer.code, "path": path}
    return without_zeros(plain(answer))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ways() -> AsyncIterator[list[Way]]:
    """REST's and gRPC's client of one server, since a server takes a while to be made."""
    async with (
        serving() as ports,
        client("async rest", ports) as rest,
        client("async grpc", ports) as grpc,
    ):
        yield [rest, grpc]


async def asked(way: Way, case: dict[str, Any]) -> Message | BailiffError:
    method = method_of(corpus.question_of(case, SYSTEMS).name)
    try:
        answer: Message = await way.ask(method, case["body"])
    except BailiffError as error:
        return error
    return answer


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_a_case_over_both_transports(case: dict[str, Any], ways: list[Way]) -> None:
    over_rest, over_grpc = [await asked(way, case) for way in ways]
    core = corpus.answer_of_core(corpus.question_of(case, SYSTEMS), case["body"])
    assert told(over_rest) == without_zeros(core)
    assert told(over_grpc) == told(over_rest)
