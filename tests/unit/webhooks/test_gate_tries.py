"""Evictions by name that are tried again, pods that have ended, and reviews with little time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import (
    Breaker,
    Breakers,
    Exclusion,
    Gangs,
    LabelSelector,
    Pause,
    Policies,
    Unreadable,
)
from bailiff.decisions.policies.over_time_columns import TRIED
from bailiff.kinds import ConfigMap, Namespace, OwnerReference, Pod, PodStatus
from bailiff.lookup import ForbiddenError, UnavailableError
from tests.harness.clocks import START
from tests.harness.gating import GateScene, said, shop_pod
from tests.harness.kinds import node_of
from tests.harness.tallies import budget

if TYPE_CHECKING:
    from bailiff.webhooks import Outcome

pytestmark = pytest.mark.looptime

STATEFUL = OwnerReference(api_version="apps/v1", kind="StatefulSet", name="s", controller=True)


def members(*numbers: int) -> list[Pod]:
    return [shop_pod(f"s-{n}", group="g", owner_references=(STATEFUL,)) for n in numbers]


def gang_of_three(policies: Policies) -> GateScene:
    pods = members(0, 1, 2)
    scene = GateScene(replace(policies, gangs=Gangs()), *pods)
    scene.groups.whole = ("g",)
    return scene


async def test_one_of_a_gang_whose_eviction_failed_elsewhere_follows_the_others() -> None:
    """Its try may be under way until TRIED seconds have gone by; then it has come to nothing."""
    scene = gang_of_three(Policies(over_time=budget(3, 3600)))
    assert all([(await scene.evict(f"s-{n}")).allowed for n in range(3)])
    await asyncio.sleep(5)
    successor = shop_pod("s-0", group="g", owner_references=(STATEFUL,), uid="uid-new")
    scene.source.objects[Pod][0] = successor
    assert said(await scene.evict("s-1"))[0] == 429
    await asyncio.sleep(TRIED)
    assert (await scene.evict("s-1")).allowed
    assert scene.counts.counted() == 3


async def test_who_has_come_since_needs_a_place_for_himself_alone() -> None:
    scene = gang_of_three(Policies(over_time=budget(4, 3600)))
    assert all([(await scene.evict(f"s-{n}")).allowed for n in range(3)])
    await asyncio.sleep(1)
    scene.source.objects[Pod] = members(0, 1, 2, 3)
    assert (await scene.evict("s-3")).allowed


async def test_those_who_have_come_since_do_not_decide_for_who_was_there() -> None:
    scene = gang_of_three(Policies(over_time=budget(5, 3600)))
    assert all([(await scene.evict(f"s-{n}")).allowed for n in range(3)])
    await asyncio.sleep(1)
    scene.source.objects[Pod] = members(0, 1, 2, 3, 4, 5)
    newcomer, again = await asyncio.gather(scene.evict("s-3"), scene.evict("s-1"))
    assert (said(newcomer)[0], said(again)) == (429, (0, ""))


async def test_a_pod_that_is_ending_lends_no_place_of_its_tries() -> None:
    """It may be by the first that it is ending: the next would find the pod that comes after it."""
    scene = GateScene(Policies(over_time=budget(1, 3600)), *members(0))
    assert (await scene.evict("s-0")).allowed
    scene.source.objects[Pod] = [shop_pod("s-0", deletion_timestamp=START)]
    await asyncio.sleep(TRIED + 1)
    assert said(await scene.evict("s-0"))[0] == 429


async def test_a_try_is_not_over_before_its_answer_and_the_next_may_have_come_late() -> None:
    scene = GateScene(Policies(over_time=budget(1, 3600)), *members(0))
    assert (await scene.evict("s-0")).allowed
    await asyncio.sleep(30 + 10 + 3 + 19)
    assert said(await scene.evict("s-0"))[0] == 429
    await asyncio.sleep(1)
    assert (await scene.evict("s-0")).allowed


ENDED = replace(shop_pod(node="gone"), status=PodStatus(phase="Succeeded"))
TERMINATING = shop_pod(node="gone", deletion_timestamp=START)


@pytest.mark.parametrize("pod", [ENDED, TERMINATING], ids=["ended", "terminating"])
@pytest.mark.parametrize(
    "policies",
    [
        Policies(breakers=Breakers(cluster=Breaker())),
        Policies(pause=Pause(namespace="ops")),
        Policies(exclude=Exclusion(namespace_selector=LabelSelector(match_labels={"a": "b"}))),
    ],
    ids=["breakers", "pause", "exclude"],
)
async def test_who_has_ended_waits_for_nothing_that_only_others_need(
    policies: Policies, pod: Pod
) -> None:
    """As drain evicts by name what is left on a node that was deleted."""
    scene = GateScene(policies, pod, node_of("n1"))
    scene.source.errors[ConfigMap] = ForbiddenError("may not get configmaps")
    scene.source.errors[Namespace] = UnavailableError("timed out")
    assert (await scene.evict()).allowed


def slowly(scene: GateScene, seconds: float) -> None:
    """Lists of pods take so long."""
    see = scene.source.see

    async def late(wanted: Any) -> Any:
        await asyncio.sleep(seconds if wanted.kind is Pod else 0)
        return await see(wanted)

    scene.source.see = late  # type: ignore[method-assign]


@pytest.mark.parametrize("pod", [ENDED, TERMINATING], ids=["ended", "terminating"])
async def test_whoever_comes_under_the_name_of_one_that_has_ended_is_counted_and_no_more(
    pod: Pod,
) -> None:
    policies = Policies(pause=Pause(namespace="ops"), over_time=budget(1))
    scene = GateScene(policies, pod)
    scene.source.errors[ConfigMap] = ForbiddenError("may not get configmaps")
    assert (await scene.evict()).allowed
    assert said(await scene.evict())[0] == 429


async def test_what_had_no_time_to_be_counted_does_not_go_uncounted() -> None:
    """The ConfigMap can be read all the time: it was the pods whose list took long."""
    scene = gang_of_three(Policies(over_time=budget(3, 3600, unreadable=Unreadable.ALLOW)))
    slowly(scene, 0.9)
    found = await asyncio.gather(*(scene.evict(f"s-{n}") for n in range(3)))
    assert {said(one)[0] for one in found} == {429}


async def test_who_has_little_time_does_not_decide_for_the_others_of_a_gang() -> None:
    scene = gang_of_three(Policies(over_time=budget(3, 3600)))
    scene.counts.latency = 0.25

    async def evict(name: str, seconds: float) -> Outcome:
        return await scene.evict(name, seconds=seconds)

    hasty, *others = await asyncio.gather(evict("s-0", 0.6), evict("s-1", 9), evict("s-2", 9))
    assert said(hasty)[0] == 429
    assert [said(one) for one in others] == [(0, ""), (0, "")]
