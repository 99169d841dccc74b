"""The gate while many are evicted at once, and by which clock it goes."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.cluster import ServerError
from bailiff.decisions import budgets
from bailiff.decisions.policies import Gangs, Pause, Policies, Unreadable, Window, rules
from bailiff.decisions.policies.over_time import wish_of
from bailiff.kinds import Annotations, OwnerReference, Pod, PodDisruptionBudget
from bailiff.serving import Threads
from bailiff.webhooks import disruptions
from tests.harness.clocks import LoopClock
from tests.harness.gating import GateScene, allows, ready, said, shop_pod
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

REPLICAS = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="web-5d8", controller=True)


class Ahead(LoopClock):
    """The cluster's, 23 hours ahead of the machine's."""

    def now(self) -> datetime:
        return super().now() + timedelta(hours=23)


async def test_windows_open_by_the_clock_of_the_cluster() -> None:
    scene = GateScene(Policies(windows=(Window(start="22:00", end="23:30"),)), shop_pod())
    assert said(await scene.evict())[0] == 429
    scene.cluster_clock = Ahead()
    assert (await scene.evict(hooks=scene.replica())).allowed


@pytest.mark.parametrize("named", [True, False], ids=["by its UID", "by its name"])
async def test_a_pod_that_no_node_has_taken_yet_takes_a_place(named: bool) -> None:
    """It may run by the time that the API server looks: other webhooks may take 30 s meanwhile."""
    pods = [shop_pod(f"web-5d8-bcdf{n}", "", owner_references=(REPLICAS,)) for n in "2456"]
    scene = GateScene(Policies(over_time=budget(1)), *pods)

    async def evicted(pod: Pod) -> bool:
        of = {"deleteOptions": {"preconditions": {"uid": pod.metadata.uid}}} if named else {}
        return (await scene.evict(pod.metadata.name, eviction=of)).allowed

    assert [await evicted(pod) for pod in pods] == [True, False, False, False]
    assert scene.counts.counted() == 1


def guarded(count: int) -> list[Pod]:
    return [ready(shop_pod(f"p{one}")) for one in range(count)]


async def test_those_who_are_drained_at_once_are_held_against_one_disruption_budget() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *guarded(20), allows(1))
    found = await asyncio.gather(*(scene.evict(f"p{one}") for one in range(20)))
    assert sum(one.allowed for one in found) == scene.counts.counted() == 1
    held = {said(one)[1] for one in found if not one.allowed}
    assert held == {"policy budget: PodDisruptionBudget web (2 of 1 allowed)"}


async def test_who_was_let_through_counts_until_the_budget_tells_of_him() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *guarded(9), allows(2))
    assert (await scene.evict("p1")).allowed
    noted = {"p1": "2026-01-01T00:00:00Z"}
    status = replace(allows(1).status, disrupted_pods=noted)
    scene.source.objects[PodDisruptionBudget] = [replace(allows(1), status=status)]
    assert (await scene.evict("p2")).allowed
    assert (await scene.evict("p2")).allowed
    assert said(await scene.evict("p3"))[0] == 429
    await asyncio.sleep(5)
    assert (await scene.evict("p3")).allowed


async def test_who_is_not_counted_in_the_end_is_not_held_against_it_either() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *guarded(2), allows(1))
    assert (await scene.evict("p1", dryRun=True)).allowed
    scene.counts.put({"b": "rubbish"})
    assert said(await scene.evict("p0"))[0] == 429
    scene.counts.delete()
    assert (await scene.evict("p1")).allowed


async def test_who_is_let_through_again_is_not_in_the_way_of_forgetting_others() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *guarded(4), allows(2))
    for name, seconds in (("p0", 2), ("p1", 1), ("p0", 3.5)):
        assert (await scene.evict(name)).allowed
        await asyncio.sleep(seconds)
    # p1 was four seconds ago, and p0 has been let through since.
    assert [(await scene.evict(name)).allowed for name in ("p2", "p3")] == [True, False]


async def test_a_dry_run_is_held_against_no_disruption_budget_afterwards() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *guarded(2), allows(1))
    assert (await scene.evict("p0", dryRun=True)).allowed
    assert (await scene.evict("p1")).allowed


async def test_who_is_asked_for_twice_and_refused_once_still_counts() -> None:
    """Go's client asks again after a connection that has broken."""
    scene = GateScene(Policies(over_time=budget(1)), *guarded(2), allows(1))
    scene.counts.latency = 0.1
    asked = await asyncio.gather(scene.evict("p0"), scene.evict("p0"))
    assert [one.allowed for one in asked] == [True, False]
    assert said(await scene.evict("p1"))[1].startswith("policy budget: PodDisruptionBudget web (2")


WHOLE = Policies(gangs=Gangs(), over_time=budget(500))


def gang_scene(size: int, policies: Policies = WHOLE) -> GateScene:
    scene = GateScene(policies, *(shop_pod(f"p{n}", group="g") for n in range(size)))
    scene.groups.whole = ("g",)
    return scene


@pytest.mark.parametrize(("evictions", "goes"), [(500, True), (99, False)])
async def test_a_gang_that_is_drained_at_once_is_judged_once(
    evictions: int, goes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, judged = gang_scene(100, replace(WHOLE, over_time=budget(evictions))), Counter[str]()

    def wish(pod: Pod, *others: Any) -> Any:
        judged[pod.metadata.name] += 1
        return wish_of(pod, *others)

    monkeypatch.setattr(rules, "wish_of", wish)
    found = await asyncio.gather(*(scene.evict(f"p{n}") for n in range(100)))
    assert {one.allowed for one in found} == {goes}
    assert scene.counts.counted() == (100 if goes else 0)
    # Each for himself, and all of them with the first.
    assert judged.total() <= 100 * 4


async def test_a_gang_that_may_go_uncounted_goes_whole() -> None:
    """Whoever was let go uncounted takes no place, so that the others would find too few."""
    scene = gang_scene(3, replace(WHOLE, over_time=budget(2, unreadable=Unreadable.ALLOW)))
    scene.counts.failures = [ServerError("down", status=500)]
    found = [await scene.evict(f"p{n}") for n in range(3)]
    assert [(one.allowed, len(one.warnings)) for one in found] == [(True, 1)] * 3
    assert scene.counts.writes == 0


async def test_what_a_gang_was_told_is_soon_forgotten() -> None:
    scene = gang_scene(3, replace(WHOLE, pause=Pause(namespace="ops")))
    scene.policies = replace(WHOLE, over_time=budget(2))
    assert said(await scene.evict("p0"))[0] == 403
    scene.policies = WHOLE
    await asyncio.sleep(1)
    assert (await scene.evict("p1")).allowed
    assert scene.counts.counted() == 3


async def test_who_has_come_since_waits_alone_and_keeps_nobody() -> None:
    scene = gang_scene(3, replace(WHOLE, over_time=budget(3)))
    assert (await scene.evict("p0")).allowed
    await asyncio.sleep(10)
    scene.source.objects[Pod] = [shop_pod(f"p{n}", group="g") for n in (1, 2, 3)]
    found = await asyncio.gather(*(scene.evict(f"p{n}") for n in (3, 1, 2)))
    assert [one.allowed for one in found] == [False, True, True]


async def test_who_came_when_the_gang_was_judged_already_is_counted_himself() -> None:
    scene = gang_scene(3, replace(WHOLE, over_time=budget(3)))
    assert (await scene.evict("p0", dryRun=True)).allowed
    late = asyncio.create_task(scene.evict("p1"))
    scene.source.objects[Pod].append(shop_pod("p3", group="g"))
    assert [(await late).allowed, (await scene.evict("p3")).allowed] == [True, False]


async def test_one_of_a_gang_that_may_not_go_itself_is_told_why() -> None:
    stays = shop_pod("b", group="g", annotations=Annotations(do_not_evict="true"))
    scene = GateScene(replace(WHOLE, protection=True), shop_pod("a", group="g"), stays)
    scene.groups.whole = ("g",)
    found = await asyncio.gather(scene.evict("a"), scene.evict("b"))
    assert [said(one)[1].split(":")[0] for one in found] == ["policy gang", "policy protected"]


STATEFUL = OwnerReference(
    api_version="apps/v1", kind="StatefulSet", name="s", controller=True, uid="s"
)
BY_UID: dict[str, Any] = {"eviction": {"deleteOptions": {"preconditions": {"uid": "uid-s-1"}}}}


def stateful_gang(evictions: int) -> GateScene:
    pods = (shop_pod(f"s-{n}", group="g", owner_references=(STATEFUL,)) for n in range(2))
    scene = whole_gang(*pods)
    scene.policies = replace(WHOLE, over_time=budget(evictions))
    return scene


@pytest.mark.parametrize("apart", [0, 1])
async def test_of_a_gang_too_a_name_that_comes_again_is_counted_each_time(apart: float) -> None:
    scene = stateful_gang(3)
    goes = []
    for _ in range(4):
        goes.append((await scene.evict("s-0")).allowed)
        await asyncio.sleep(apart)
    assert goes == [True, True, False, False]
    assert (await scene.evict("s-1")).allowed, "its place was kept with the first one's"
    assert not (await scene.evict("s-1")).allowed
    assert scene.counts.counted() == 3


async def test_the_place_that_a_gang_keeps_for_one_of_it_is_for_one_eviction() -> None:
    """Of two that are under way the second meets the pod that has come under the name."""
    scene = stateful_gang(2)
    assert (await scene.evict("s-0")).allowed
    found = [await scene.evict("s-1", **how) for how in (BY_UID, BY_UID, {})]
    assert [one.allowed for one in found] == [True, True, False]
    assert scene.counts.counted() == 2


async def test_a_dry_run_takes_no_place_that_is_kept() -> None:
    scene = stateful_gang(2)
    assert (await scene.evict("s-0")).allowed
    for dry_run in (True, True, False):
        assert (await scene.evict("s-1", dryRun=dry_run)).allowed
    assert not (await scene.evict("s-1", dryRun=True)).allowed


def whole_gang(*objects: Pod | PodDisruptionBudget) -> GateScene:
    scene = GateScene(WHOLE, *objects)
    scene.groups.whole = ("g",)
    return scene


async def test_who_came_in_the_place_of_one_that_has_gone_keeps_no_gang_from_going() -> None:
    """It is not ready, and cannot be without the others: no budget waits for that."""
    gang = [ready(shop_pod(name, group="g")) for name in "abc"]
    scene = whole_gang(*gang, allows(3))
    assert (await scene.evict("a")).allowed
    await asyncio.sleep(5)
    scene.source.objects[Pod] = [*gang[1:], shop_pod("d", group="g")]
    scene.source.objects[PodDisruptionBudget] = [allows(2)]
    assert all([(await scene.evict(name)).allowed for name in "bc"])


async def test_one_that_is_not_ready_goes_before_the_others_or_not_at_all() -> None:
    ill, well = shop_pod("a", group="g"), ready(shop_pod("b", group="g"))
    scene = whole_gang(ill, well, allows(1))
    assert (await scene.evict("a")).allowed
    await asyncio.sleep(5)
    scene.source.objects[Pod] = [ill]
    scene.source.objects[PodDisruptionBudget] = [allows(0)]
    assert said(await scene.evict("a"))[1] == (
        "policy budget: PodDisruptionBudget web (1 of 0 allowed)"
    )


async def test_pods_and_budgets_in_great_number_are_gone_through_in_a_thread_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disruptions, "QUICK_STEPS", 2)
    scene = whole_gang(*(ready(shop_pod(name, group="g")) for name in "abc"), allows(2))
    threads: list[str] = []
    monkeypatch.setattr(Threads, "run", in_turn(threads))
    found = await asyncio.gather(*(scene.evict(name) for name in "abc"))
    assert {said(one)[1] for one in found} == {
        "policy budget: PodDisruptionBudget web (3 of 2 allowed)"
    }
    assert threads == ["guarded_by"]


async def test_too_many_of_them_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_STEPS", 1)
    scene = whole_gang(shop_pod("a", group="g"), shop_pod("b", group="g"), allows(9))
    assert said(await scene.evict("a")) == (
        429,
        "policy budget: 2 pods and 1 PodDisruptionBudgets are too many to go through",
    )


def in_turn(threads: list[str]) -> Any:
    """Instead of a thread, for virtual time knows none."""

    async def run(_: Threads, work: Any, *arguments: Any, **__: Any) -> Any:
        threads.append(work.__name__)
        return work(*arguments)

    return run
