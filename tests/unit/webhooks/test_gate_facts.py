"""What the gate looks at beside the pod: gangs in large namespaces, nodes that have just come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest
from msgspec.structs import replace

from bailiff.decisions import Wanted
from bailiff.decisions.policies import (
    Breaker,
    Breakers,
    Exclusion,
    Gangs,
    LabelSelector,
    OverTime,
    OverTimeBudget,
    Per,
    Policies,
)
from bailiff.kinds import Namespace, Node, ObjectMeta, Pod
from bailiff.kinds.pod_resources import Container
from bailiff.kinds.pod_volumes import Volume
from bailiff.lookup import AllNodes, UnavailableError
from bailiff.webhooks import gate_facts
from bailiff.webhooks.gate_facts import GateFacts
from tests.harness.clocks import LoopClock
from tests.harness.gating import SHOP, GateScene, Groups, said, shop_pod
from tests.harness.kinds import node_of
from tests.harness.lookups import DictSource

if TYPE_CHECKING:
    from bailiff.kinds.meta import Value
    from bailiff.lookup import PodGroups

pytestmark = pytest.mark.looptime

PODS, NODES = Wanted(Pod, SHOP), Wanted(Node)
GANG = Policies(gangs=Gangs())
BREAKER = Policies(breakers=Breakers(cluster=Breaker()))
PER_ZONE = Policies(
    over_time=OverTime(budgets=(OverTimeBudget(name="z", evictions=1, seconds=3600, per=Per.ZONE),))
)


def slow_list(scene: GateScene, seconds: float, what: Wanted = PODS) -> list[float]:
    """The pods of the shop, or what else, take so long to list; when each list was begun."""
    see = scene.source.see
    begun: list[float] = []

    async def slow(wanted: Wanted) -> tuple[Value, ...]:
        if wanted == what:
            begun.append(scene.clock.monotonic())
            await asyncio.sleep(seconds)
        return await see(wanted)

    scene.source.see = slow  # type: ignore[method-assign]
    return begun


@pytest.mark.parametrize("again", [2, 5])
@pytest.mark.parametrize("seconds", [1.5, 3, 8])
async def test_a_gang_goes_from_a_namespace_that_takes_long_to_list(
    seconds: float, again: float
) -> None:
    scene = GateScene(GANG, *(shop_pod(name, group="g") for name in "abc"))
    scene.groups.whole = ("g",)
    begun = slow_list(scene, seconds)
    assert said(await scene.evict("a"))[0] == 429
    while not (await scene.evict("a")).allowed:
        await asyncio.sleep(again)
        assert scene.clock.monotonic() < seconds + 2 * again
    assert len(begun) == 1
    assert (await scene.evict("b")).allowed, "who is evicted with it, too"


async def test_what_was_used_is_listed_anew_after_a_second() -> None:
    scene = GateScene(GANG, *(shop_pod(name, group="g") for name in "ab"))
    scene.groups.whole = ("g",)
    begun = slow_list(scene, 0.1)
    for _ in range(2):
        assert (await scene.evict("a")).allowed
        await asyncio.sleep(1.1)
    assert len(begun) == 2


async def test_the_pods_of_a_hundred_namespaces_are_kept() -> None:
    source, clock = DictSource(), LoopClock()
    facts = GateFacts(source, AllNodes(source, clock), cast("PodGroups", Groups("g")), clock)

    async def look(number: int) -> int:
        """How many lists have been made then."""
        pod = shop_pod(group="g", namespace=f"shop-{number}")
        await facts.around(pod, GANG, with_gang=True)
        return len(source.seen)

    assert [await look(number) for number in range(101)] == list(range(1, 102))
    assert await look(100) == 101, "the last are believed for a second"
    assert await look(0) == 102, "the first is forgotten"


async def test_a_list_of_nodes_that_takes_long_is_made_a_tenth_of_the_time() -> None:
    scene = GateScene(BREAKER, node_of("n1"), shop_pod())
    begun = slow_list(scene, 0.8, NODES)
    assert (await scene.evict()).allowed
    await asyncio.sleep(7.1)
    assert (await scene.evict()).allowed
    assert len(begun) == 1, "for nine times as long as it took it is believed"
    await asyncio.sleep(0.2)
    assert (await scene.evict()).allowed
    assert scene.clock.monotonic() == pytest.approx(8.1), "while it is made the last one holds"
    assert begun == [pytest.approx(0), pytest.approx(8.1)]


@pytest.mark.parametrize(("slept", "code"), [(34.8, 0), (35.1, 429)])
async def test_where_nodes_are_listed_no_more_the_last_list_holds_for_thirty_seconds(
    slept: float, code: int
) -> None:
    scene = GateScene(BREAKER, node_of("n1"), shop_pod())
    assert (await scene.evict()).allowed
    slow_list(scene, 1000, NODES)
    await asyncio.sleep(slept)
    assert said(await scene.evict())[0] == code


@pytest.mark.parametrize(("slept", "code"), [(4.9, 0), (5.1, 403)])
async def test_labels_of_a_namespace_are_believed_for_five_seconds(slept: float, code: int) -> None:
    kept = LabelSelector(match_labels={"kept": "yes"})
    shop = Namespace(metadata=ObjectMeta(name=SHOP))
    scene = GateScene(Policies(exclude=Exclusion(namespace_selector=kept)), shop, shop_pod())
    assert (await scene.evict()).allowed
    labelled = replace(shop.metadata, labels={"kept": "yes"})
    scene.source.objects[Namespace] = [replace(shop, metadata=labelled)]
    await asyncio.sleep(slept)
    assert said(await scene.evict())[0] == code


async def test_a_node_that_has_just_come_is_read() -> None:
    zone = {"topology.kubernetes.io/zone": "b"}
    pods = shop_pod("p1", "n1"), shop_pod("p2", "n2"), shop_pod("p3", "n2")
    scene = GateScene(PER_ZONE, node_of("n1", labels=zone), *pods)
    assert (await scene.evict("p1")).allowed
    await asyncio.sleep(4)
    scene.source.add(node_of("n2", labels=zone))
    for name in ("p2", "p3"):
        code, message = said(await scene.evict(name))
        assert code == 429
        assert "zone b" in message
    assert scene.source.seen.count(NODES) == 1


async def test_what_nobody_knows_of_a_node_holds() -> None:
    scene = GateScene(PER_ZONE, node_of("n1"), shop_pod("p1", "gone"))
    assert said(await scene.evict("p1")) == (429, "policy unknown: Node gone does not exist")
    scene.source.objects[Pod] = [shop_pod("p1", "")]
    assert (await scene.evict("p1")).allowed, "on no node"


async def test_what_cannot_be_read_of_a_node_holds() -> None:
    scene = GateScene(PER_ZONE, node_of("n1"), shop_pod("p1", "n1"), shop_pod("p2", "n2"))
    assert (await scene.evict("p1")).allowed
    scene.source.errors[Node] = UnavailableError("nobody is there")
    assert said(await scene.evict("p2")) == (429, "policy unknown: nobody is there")


def test_of_pods_of_gangs_little_is_kept() -> None:
    pod = shop_pod("a", group="g")
    spec = replace(pod.spec, containers=(Container(name="c"),), volumes=(Volume(name="v"),))
    assert gate_facts.slim(replace(pod, spec=spec)) == pod
