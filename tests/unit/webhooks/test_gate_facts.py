"""What the gate looks at beside the pod: gangs in large namespaces, nodes that have just come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions import Wanted
from bailiff.decisions.policies import Gangs, OverTime, OverTimeBudget, Per, Policies
from bailiff.kinds import Node, Pod
from bailiff.kinds.pod_resources import Container
from bailiff.kinds.pod_volumes import Volume
from bailiff.lookup import UnavailableError
from bailiff.webhooks import gate_facts
from tests.harness.gating import SHOP, GateScene, said, shop_pod
from tests.harness.kinds import node_of

if TYPE_CHECKING:
    from bailiff.kinds.meta import Value

pytestmark = pytest.mark.looptime

GANG = Policies(gangs=Gangs())
PER_ZONE = Policies(
    over_time=OverTime(budgets=(OverTimeBudget(name="z", evictions=1, seconds=3600, per=Per.ZONE),))
)


def slow_list(scene: GateScene, seconds: float) -> list[float]:
    """The pods of the shop take so long to list; when each list was begun."""
    see = scene.source.see
    begun: list[float] = []

    async def slow(wanted: Wanted) -> tuple[Value, ...]:
        if wanted == Wanted(Pod, SHOP):
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
    assert scene.source.seen.count(Wanted(Node)) == 1


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
