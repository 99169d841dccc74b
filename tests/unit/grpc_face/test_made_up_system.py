"""A system that the protos know nothing of is found over gRPC, with nothing changed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import grpc
import msgspec
import pytest

from bailiff.grpc_api.services import SERVICES
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.clocks import START
from tests.harness.corpus import answer_of_core
from tests.harness.faces.grpc_face import Face, ask, message_of, plain, running, without_zeros
from tests.harness.kinds import pod_of
from tests.harness.made_up_system import NAME, THREE_SYSTEMS, dark_node
from tests.harness.reviewing import guard_by_file

if TYPE_CHECKING:
    from bailiff.kinds import Node

PODS = (pod_of("web", "node-1", priority=5), pod_of("dns", "node-1", priority=2000))


def body_about(node: Node) -> dict[str, Any]:
    facts = {"pods": PODS, "node": node, "options": {"explain": True}}
    body: dict[str, Any] = msgspec.to_builtins(facts)
    return body


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
async def test_its_findings_subjects_and_report_are_told(effect: str) -> None:
    body = body_about(dark_node("node-1", START, effect))
    answer = await ask("decideBatch", body, systems=THREE_SYSTEMS)
    expected = answer_of_core(THREE_SYSTEMS.questions["decideBatch"], body)
    assert without_zeros(answer) == without_zeros(expected)
    assert answer["reports"] == {NAME: {"outAt": "2026-01-01T00:01:00Z", "pods": 2}}
    (*_, finding) = answer["decisions"][0]["findings"]
    assert finding["system"] == NAME
    assert finding["trace"][0]["subject"]["kind"] == "lights"


async def test_it_is_asked_for_by_name_for_one_pod() -> None:
    node = dark_node("node-1", START)
    body = msgspec.to_builtins({"pod": PODS[0], "node": node, "systems": [NAME]})
    answer = await ask("decide", body, systems=THREE_SYSTEMS)
    assert answer["decision"]["decidedBy"] == NAME
    assert answer["decision"]["eviction"]["gracePeriodSeconds"] == 7


async def test_it_is_left_out_where_it_has_nothing_to_report() -> None:
    claim = {"metadata": {"name": "gpu"}}
    node = {"metadata": {"name": "node-1"}}
    body = {"pods": [{}], "node": node, "deviceTaints": {"resourceClaims": [claim]}}
    answer = await ask("decideBatch", body, systems=THREE_SYSTEMS)
    assert list(answer["reports"]) == ["device-taints"]


async def test_it_is_found_in_streams_and_in_parts() -> None:
    request = message_of(body_about(dark_node("node-1", START)), pb.DecideBatchRequest())
    async with running(systems=THREE_SYSTEMS) as face:
        whole = await face.stub.DecideBatch(request)
        (part,) = [one async for one in face.stub.DecideBatchInParts(request)]
        stream = face.stub.DecideStream(iter([pb.DecideStreamRequest(batch=request)]))
        (streamed,) = [one.answer async for one in stream]
    assert plain(part) == plain(streamed) == plain(whole)
    assert NAME in plain(whole)["reports"]


@pytest.fixture
def _protos_with_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the service had a method of its question's name, with the messages of Decide."""
    service = SERVICES["EvictionDecisionService"]
    decide = service.methods_by_name["Decide"]
    method = SimpleNamespace(
        name="DecideByLight",
        input_type=decide.input_type,
        output_type=decide.output_type,
        containing_service=service,
    )
    methods = {**service.methods_by_name, method.name: method}
    protos = SimpleNamespace(
        full_name=service.full_name, methods_by_name=methods, file=service.file
    )
    monkeypatch.setitem(SERVICES, "EvictionDecisionService", protos)


async def told_by(face: Face, method: str, token: str) -> str:
    """The system that decided; or the status of a refusal."""
    facts = {"pod": PODS[0], "node": dark_node("node-1", START)}
    request = message_of(msgspec.to_builtins(facts), pb.DecideRequest()).SerializeToString()
    try:
        data = await face.raw(method)(request, metadata=(("authorization", f"Bearer {token}"),))
    except grpc.aio.AioRpcError as error:
        return error.code().name
    return pb.DecideResponse.FromString(data).decision.decided_by


@pytest.mark.usefixtures("_protos_with_its_question")
@pytest.mark.parametrize(
    ("method", "token", "told"),
    [
        ("Decide", "good", NAME),
        ("Decide", "bad", "UNAUTHENTICATED"),
        ("DecideByLight", "good", NAME),
        ("DecideByLight", "bad", "UNAUTHENTICATED"),
        ("DecideByDark", "good", "UNIMPLEMENTED"),
        ("DecideByDark", "bad", "UNIMPLEMENTED"),
    ],
)
async def test_whoever_is_known_may_ask_it(
    tmp_path: Path, method: str, token: str, told: str
) -> None:
    async with running(systems=THREE_SYSTEMS, guard=guard_by_file(tmp_path)) as face:
        assert await told_by(face, method, token) == told
