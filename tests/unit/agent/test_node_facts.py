"""What is told of an API server that does not answer, and of a node that it does not have."""

from __future__ import annotations

import asyncio
import io
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from bailiff.agent.log import Log
from bailiff.agent.node_facts import NodeFacts
from bailiff.agent.standing import Standing
from bailiff.cluster import UnreachableError
from bailiff.cluster.list_watch import ListWatch
from bailiff.cluster.resource import PODS
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.unreadable import Unreadable
from bailiff.cluster.watch_events import Changed, Replaced
from bailiff.cluster.watch_health import Restart
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import ObjectMeta
from bailiff.kinds.node import Node, NodeMeta
from bailiff.kinds.pod import Pod
from tests.harness.clocks import LoopClock

if TYPE_CHECKING:
    from bailiff.cluster.client import Cluster

pytestmark = pytest.mark.looptime(start=0)


@pytest.fixture
async def told():
    """Facts, and the standing that hears of what is wrong."""
    clock = LoopClock()
    standing, log = Standing("node", "acting", clock), Log(io.StringIO())
    cluster = cast("Cluster", SimpleNamespace(settings=ClusterSettings()))
    known = (cluster, None, KubeletConfiguration(), clock, log, standing)
    facts = NodeFacts("node", *known, pods_from_kubelet=False)
    return facts, standing


def silent(standing: Standing) -> list[str]:
    return [one for one in standing.complaints if "no round" not in one]


async def test_a_node_that_is_not_there_is_told_of_until_it_is(told):
    facts, standing = told
    facts._take_node(Replaced(items=(), resource_version="1"))
    assert silent(standing) == ["the node: there is none called node"]
    facts._take_node(Changed(object=Node(metadata=NodeMeta(name="node"))))
    assert silent(standing) == []


async def test_a_node_that_cannot_be_read_is_not_one_that_is_not_there(told):
    facts, standing = told
    which = ObjectMeta(name="node", uid="1")
    facts._take_node(Unreadable(metadata=which, reason="spec.taints[0].timeAdded: no time"))
    why = "the node: it cannot be read: spec.taints[0].timeAdded: no time"
    assert silent(standing) == [why]


async def test_a_watch_that_failed_is_told_of_until_it_is_well_though_it_says_nothing(told):
    facts, standing = told
    watch: ListWatch[Pod] = facts._watch(facts._cluster, PODS, None)
    facts._replace(())
    watch.health.last_error = UnreachableError("no connection")
    watch._on_restart(Restart.DISCONNECTED, watch.health.last_error)
    facts.check()
    assert silent(standing) == ["the API server, about pods: no connection"]
    watch.health.last_error = None
    facts.check()
    assert silent(standing) == []


async def test_how_old_the_picture_may_be_is_told_while_a_watch_is_not_well(told):
    facts, _ = told
    assert facts.age == 0
    watch: ListWatch[Pod] = facts._watch(facts._cluster, PODS, None)
    assert facts.age == 0
    watch.health.lost(facts._clock.monotonic())
    await asyncio.sleep(7)
    assert facts.age == 7
