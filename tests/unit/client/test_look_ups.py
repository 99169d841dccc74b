"""Objects that the server reads from its cluster, asked for over REST."""

from __future__ import annotations

import pytest

from bailiff.client import NotFoundError, UnavailableError
from bailiff.client.messages import VERDICT_EVICT_AT, VERDICT_EVICT_NOW
from bailiff.kinds import Toleration
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.lookups import DictSource
from tests.harness.scripts import QUICK, REST
from tests.harness.ways import client, serving


@pytest.mark.parametrize("way", REST)
async def test_look_ups(way: str) -> None:
    source = DictSource()
    tolerating = pod_of("web-0", "node-1", Toleration(key="k", toleration_seconds=9))
    source.add(tolerating, node_of("node-1", no_execute("k")))
    source.add(pod_of("db-0", "node-1"))
    async with serving(source=source) as ports, client(way, ports) as asking:
        one = await asking.ask("decide_pod", "default", "web-0", explain=True)
        many = await asking.ask("decide_node", "node-1")
        with pytest.raises(NotFoundError):
            await asking.ask("decide_pod", "default", "none")
    assert one.decision.verdict == VERDICT_EVICT_AT
    assert one.decision.findings[0].trace[0].subject.node_taint.taint.key == "k"
    assert {each.pod.name: each.verdict for each in many.decisions} == {
        "web-0": VERDICT_EVICT_AT,
        "db-0": VERDICT_EVICT_NOW,
    }
    assert not many.decisions[0].findings[0].trace


@pytest.mark.parametrize("way", REST)
async def test_a_server_without_a_cluster_says_so_at_once(way: str) -> None:
    async with serving() as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(UnavailableError) as raised:
            await asking.ask("decide_pod", "default", "web-0")
    assert raised.value.code == "no_cluster"
