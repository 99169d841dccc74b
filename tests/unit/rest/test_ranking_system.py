"""A system that weighs pods against each other, over REST: from bodies, and of a cluster."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options, Wanted
from bailiff.kinds import Pod
from bailiff.kinds.meta import Value
from bailiff.lookup.errors import ForbiddenError
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK, NOW
from tests.harness.kinds import pod_of
from tests.harness.lookups import DictSource
from tests.harness.made_up_system import THREE_SYSTEMS
from tests.harness.ranking_system import NAME, WITH_SEATS, seating_node

PODS = tuple(pod_of(f"p{n}", "n", priority=n) for n in range(3))
NODE = seating_node("n", 2)
BODY: Any = msgspec.to_builtins({"pods": PODS, "node": NODE})
NEIGHBOURS = Wanted(Pod, fields=(("spec.nodeName", "n"),))
STATE = {"crowdedSince": "2026-05-04T11:00:00Z"}
REPORT = {NAME: {"crowded": True, "next": {"crowdedSince": NOW.strftime("%Y-%m-%dT%H:%M:%SZ")}}}


@pytest.fixture
def source() -> DictSource:
    return DictSource.of(*PODS, NODE)


@pytest.fixture
def app(source: DictSource) -> FastAPI:
    registry = CollectorRegistry()
    return create_app(RestSettings(), CLOCK, registry, Options(), source, WITH_SEATS)


async def test_a_batch_and_one_pod_with_its_neighbours_are_answered_alike(app: FastAPI) -> None:
    explain = {"options": {"explain": True}, "seats": STATE}
    batch = await call(app, "POST", "/v1/decisions/batch", BODY | explain)
    first, *others = batch.json["decisions"]
    assert (first["decidedBy"], first["eviction"]["statusMessage"]) == (NAME, "3 pods for 2 seats")
    assert first["event"]["type"] == "Warning"
    assert [one["verdict"] for one in others] == ["KEEP", "KEEP"]
    one, *neighbours = BODY["pods"]
    body = {"pod": one, "neighbours": {"pods": neighbours}, "node": BODY["node"], "seats": STATE}
    alone = await call(app, "POST", "/v1/decisions", body)
    assert alone.json["decision"] == first
    assert alone.json["reports"] == batch.json["reports"]


async def test_a_pod_may_bring_a_whole_node_of_pods_of_real_size(app: FastAPI) -> None:
    annotations = {"example.com/long": "x" * 9000}
    many: Any = [pod_of(f"n{n}", "n", priority=n, uid=f"u{n}") for n in range(120)]
    neighbours = msgspec.to_builtins(many)
    for one in neighbours:
        one["metadata"]["annotations"] = annotations
    body = {"pod": BODY["pods"][0], "neighbours": {"pods": neighbours}, "node": BODY["node"]}
    assert len(msgspec.json.encode(body)) > RestSettings().max_body_bytes
    answer = await call(app, "POST", "/v1/decisions", body)
    assert answer.status == 200
    assert answer.json["decision"]["findings"][-1]["message"] == "121 pods for 2 seats"


@pytest.mark.parametrize(
    "path", ["/v1/namespaces/default/pods/p0/decision", "/v1/nodes/n/decisions"]
)
async def test_the_pods_of_the_node_are_looked_up(
    app: FastAPI, source: DictSource, path: str
) -> None:
    answer = await call(app, "GET", path)
    decision = answer.json.get("decision") or answer.json["decisions"][0]
    assert decision["findings"][-1]["message"] == "3 pods for 2 seats"
    assert answer.json["reports"] == REPORT
    assert source.seen == [NEIGHBOURS]


class OnePod(DictSource):
    """Pods may be got, and not listed."""

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        raise ForbiddenError("not to be listed")


async def test_where_pods_may_not_be_listed_it_says_so_and_the_others_answer() -> None:
    registry, source = CollectorRegistry(), OnePod.of(*PODS, NODE)
    app = create_app(RestSettings(), CLOCK, registry, Options(), source, WITH_SEATS)
    answer = await call(app, "GET", "/v1/namespaces/default/pods/p0/decision")
    reasons = [finding["reason"] for finding in answer.json["decision"]["findings"]]
    assert reasons == ["NeighboursNotRead", "NoTaint"]


async def test_no_neighbours_are_looked_up_where_nobody_ranks(source: DictSource) -> None:
    registry = CollectorRegistry()
    app = create_app(RestSettings(), CLOCK, registry, Options(), source, THREE_SYSTEMS)
    await call(app, "GET", "/v1/namespaces/default/pods/p0/decision")
    assert source.seen == []
