"""Answers of the API about live pods and nodes that count what the node's kubelet measures."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry

from bailiff.cluster.kubelets import KubeletSettings, ViaApiServer, connect_kubelets
from bailiff.decisions import Options
from bailiff.lookup import ClusterSource, KubeletAnswers
from bailiff.rest_api import RestSettings, create_app
from tests.harness.addresses import own_address
from tests.harness.faces.asgi import call
from tests.harness.measuring_kubelet import measured_node

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.harness.api import Bench
    from tests.harness.clocks import JumpingClock
    from tests.harness.measuring_kubelet import MeasuringKubelet

pytestmark = pytest.mark.kube_apiserver


@pytest.fixture
async def scene(
    bench: Bench, clock: JumpingClock, tmp_path: Path
) -> AsyncIterator[tuple[MeasuringKubelet, Callable[[], Awaitable[dict[str, Any]]]]]:
    """A kubelet behind the API server's proxy, and what the API says of its node."""
    async with (
        measured_node(bench, tmp_path, clock, own_address()) as (kubelet, _),
        asking(bench, clock, kubelet.node) as ask,
    ):
        await kubelet.pod("calm", 300)
        await kubelet.pod("greedy", 3700)
        yield kubelet, ask


@asynccontextmanager
async def asking(
    bench: Bench, clock: JumpingClock, node: str
) -> AsyncIterator[Callable[[], Awaitable[dict[str, Any]]]]:
    by_proxy = KubeletSettings(via_api_server=ViaApiServer.ALWAYS)
    async with await connect_kubelets(bench.cluster, by_proxy, clock) as kubelets:
        source = ClusterSource(bench.cluster, clock, KubeletAnswers(kubelets, clock))
        app = create_app(RestSettings(), clock, CollectorRegistry(), Options(), source)

        async def ask() -> dict[str, Any]:
            answer = await call(app, "GET", f"/v1/nodes/{node}/decisions")
            assert answer.status == 200, answer.json
            return {one["pod"]["name"]: one for one in answer.json["decisions"]}

        yield ask


async def test_who_would_go_for_its_node_is_said_to_go(scene: Any) -> None:
    _, ask = scene
    answer = await ask()
    assert (answer["greedy"]["verdict"], answer["greedy"]["reason"]) == (
        "EVICT_NOW",
        "NodePressure",
    )
    assert answer["calm"]["verdict"] == "KEEP"
    assert [one["system"] for one in answer["calm"]["findings"]][-1] == "pressure"


async def test_a_kubelet_that_is_away_leaves_the_other_answers_standing(scene: Any) -> None:
    kubelet, ask = scene
    kubelet.away = True
    answer = await ask()
    assert answer["greedy"]["verdict"] == "KEEP"
    assert answer["greedy"]["findings"][0]["reason"] == "StatsUnknown"
    assert "503" in answer["greedy"]["findings"][0]["message"]
