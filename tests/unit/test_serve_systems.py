"""The program that serves both faces is told which systems answer, as the worker's is."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import aiohttp
import grpc.aio
import msgspec
from google.protobuf import json_format
from structlog.testing import capture_logs

from bailiff.bootstrap.choices import ProbeChoice
from bailiff.bootstrap.serve import ServeSettings, serve
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.made_up_system import NAME, THREE_SYSTEMS, dark_node

LIMIT = 20.0  # seconds for anything here; it is never reached
DARK = dark_node("n", datetime(2026, 1, 1, tzinfo=UTC))
QUESTION = {"pod": {}, "node": msgspec.to_builtins(DARK)}


async def until_it_starts(logs: list[Any]) -> dict[str, str]:
    """Where the faces listen."""
    while not (started := [one for one in logs if one["event"] == "decision API starts"]):
        await asyncio.sleep(0.01)
    found: dict[str, str] = started[0]
    return found


async def by_rest(address: str) -> str:
    question = f"{address}/v1/decisions"
    async with aiohttp.ClientSession() as client, client.post(question, json=QUESTION) as answer:
        body = await answer.json()
    found: str = body["decision"]["decidedBy"]
    return found


async def by_grpc(address: str) -> str:
    request = json_format.ParseDict(QUESTION, pb.DecideRequest(), ignore_unknown_fields=True)
    async with grpc.aio.insecure_channel(address) as channel:
        answer = await EvictionDecisionServiceStub(channel).Decide(request)
    return answer.decision.decided_by


async def test_a_system_that_the_program_is_given_answers_in_both_faces() -> None:
    stop = asyncio.Event()

    async def program() -> None:
        settings = ServeSettings(rest_port=0, grpc_port=0, probes=ProbeChoice(0))
        await serve(settings, THREE_SYSTEMS)(stop)

    with capture_logs() as logs:
        async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
            group.create_task(program())
            try:
                at = await until_it_starts(logs)
                assert await by_rest(at["rest"]) == NAME
                assert await by_grpc(at["grpc"]) == NAME
            finally:
                stop.set()
