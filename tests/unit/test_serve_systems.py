"""The program that serves both faces: which systems answer, and what it says at its start."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import grpc.aio
import msgspec
from google.protobuf import json_format
from structlog.testing import capture_logs

from bailiff.bootstrap.access import AccessChoice
from bailiff.bootstrap.choices import AdmissionChoice, ProbeChoice
from bailiff.bootstrap.serve import ServeSettings, serve
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.kube.tls import make_tls
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


async def by_rest(address: str) -> dict[str, Any]:
    """The decision, as it stands in JSON."""
    question = f"{address}/v1/decisions"
    async with aiohttp.ClientSession() as client, client.post(question, json=QUESTION) as answer:
        body = await answer.json()
    found: dict[str, Any] = body["decision"]
    return found


async def by_grpc(address: str) -> pb.DecideResponse:
    request = json_format.ParseDict(QUESTION, pb.DecideRequest(), ignore_unknown_fields=True)
    async with grpc.aio.insecure_channel(address) as channel:
        return await EvictionDecisionServiceStub(channel).Decide(request)


async def test_a_system_that_the_program_is_given_answers_in_both_faces_by_their_clock() -> None:
    stop = asyncio.Event()

    async def program() -> None:
        settings = ServeSettings(rest_port=0, grpc_port=0, probes=ProbeChoice(0))
        await serve(settings, THREE_SYSTEMS)(stop)

    with capture_logs() as logs:
        async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
            group.create_task(program())
            try:
                at = await until_it_starts(logs)
                began = datetime.now(UTC)
                rest, grpc = await by_rest(at["rest"]), (await by_grpc(at["grpc"])).decision
                assert rest["decidedBy"] == grpc.decided_by == NAME
                instants = [
                    datetime.fromisoformat(rest["decidedAt"]),
                    grpc.decided_at.ToDatetime(UTC),
                ]
                assert [began, *instants] == sorted([began, *instants])
                assert instants[-1] <= datetime.now(UTC)
            finally:
                stop.set()


async def told_at_the_start(settings: ServeSettings) -> list[str]:
    """What the log warns of until all ports listen."""
    stop = asyncio.Event()

    async def program() -> None:
        await serve(settings)(stop)

    with capture_logs() as logs:
        async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
            group.create_task(program())
            try:
                await until_it_starts(logs)
            finally:
                stop.set()
    return [one["event"] for one in logs if one["log_level"] == "warning"]


async def test_hooks_that_no_api_server_can_call_are_warned_of(tmp_path: Path) -> None:
    tls = make_tls(tmp_path)
    hooks = ServeSettings(
        rest_port=0, grpc_port=0, probes=ProbeChoice(0), admission=AdmissionChoice(port=0)
    )
    (warning,) = await told_at_the_start(hooks)
    assert warning.startswith("webhooks are served without TLS")
    access = AccessChoice(tls_cert_file=tls.certificate, tls_private_key_file=tls.key)
    assert await told_at_the_start(replace(hooks, access=access)) == []
    assert await told_at_the_start(replace(hooks, admission=AdmissionChoice())) == []
