"""The gate of evictions: which rule holds whom, what it says, and whom it never holds."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import (
    BlastRadius,
    Breaker,
    Breakers,
    Exclusion,
    Gangs,
    LabelSelector,
    OverTimeBudget,
    Pause,
    Per,
    Policies,
    Unreadable,
    Window,
)
from bailiff.kinds import (
    Annotations,
    ConfigMap,
    Namespace,
    Node,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    Taint,
)
from bailiff.kinds.budget import LabelSelector as Selector
from bailiff.lookup import ForbiddenError, UnavailableError
from tests.harness.admission import request_of, review
from tests.harness.clocks import LoopClock
from tests.harness.gating import EVICTION, SHOP, GateScene, allows, ready, said, shop_pod
from tests.harness.kinds import node_of
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

PAUSE = Policies(pause=Pause(namespace="ops"))
TWO = Policies(over_time=budget(2))
OPENS = "the next opens at 2026-01-01T22:00:00Z"
ALL_FAIL = "3 of 3 nodes (100 %) are not ready or unreachable"
STAYS = Annotations(do_not_evict="true")
FAILING = Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")


def notice(text: str) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(name="bailiff-pause", namespace="ops"), data={"paused": text}
    )


async def test_while_paused_evictions_are_told_to_try_again() -> None:
    scene = GateScene(PAUSE, shop_pod(), notice("moving racks"))
    outcome = await scene.evict()
    assert said(outcome) == (429, "policy paused: paused: moving racks")
    assert outcome.refusal is not None
    assert (outcome.refusal.reason, outcome.refusal.retry_after_seconds) == ("TooManyRequests", 2)


async def test_a_pause_that_is_over_or_taken_back_is_seen_within_a_second() -> None:
    scene = GateScene(PAUSE, shop_pod(), notice("moving"))
    assert said(await scene.evict())[0] == 429
    scene.source.objects[ConfigMap] = []
    await asyncio.sleep(1)
    assert (await scene.evict()).allowed


def until(end: str) -> ConfigMap:
    return notice(f'{{"reason":"racks","until":"2026-01-01T{end}Z"}}')


@pytest.mark.parametrize(
    ("end", "seconds"), [("00:00:00.3", 1), ("00:00:01", 1), ("00:00:01.2", 2)]
)
async def test_the_end_that_is_near_is_when_to_try_again(end: str, seconds: int) -> None:
    scene = GateScene(PAUSE, shop_pod(), until(end))
    outcome = await scene.evict()
    assert outcome.refusal is not None
    assert f"until 2026-01-01T{end}" in outcome.refusal.message
    assert outcome.refusal.retry_after_seconds == seconds
    await asyncio.sleep(seconds)
    assert (await scene.evict()).allowed


async def test_who_asks_as_it_ends_is_told_to_wait_no_less_than_a_second() -> None:
    class Hurried(LoopClock):
        def now(self) -> datetime:
            self.step += timedelta(seconds=10)
            return super().now()

    scene = GateScene(PAUSE, shop_pod(), until("00:00:15"))
    scene.cluster_clock = Hurried()
    outcome = await scene.evict(hooks=scene.replica())
    assert outcome.refusal is not None
    assert outcome.refusal.retry_after_seconds == 1


@pytest.mark.parametrize(
    ("policies", "objects", "expected"),
    [
        (
            Policies(protection=True),
            (shop_pod(annotations=STAYS),),
            (429, "policy protected: annotation bailiff.dev/do-not-evict is true"),
        ),
        (
            Policies(windows=(Window(start="22:00", end="23:00"),)),
            (shop_pod(),),
            (
                429,
                f"policy outside_window: outside the windows, {OPENS}",
            ),
        ),
        (
            Policies(exclude=Exclusion(namespaces=(SHOP,))),
            (shop_pod(),),
            (403, "policy excluded: namespace shop is excluded"),
        ),
        (
            Policies(
                exclude=Exclusion(namespace_selector=LabelSelector(match_labels={"tier": "core"}))
            ),
            (
                shop_pod(),
                Namespace(metadata=ObjectMeta(name=SHOP, labels={"tier": "core"})),
            ),
            (403, "policy excluded: the labels of namespace shop are excluded"),
        ),
        (
            Policies(breakers=Breakers(cluster=Breaker())),
            (shop_pod(), *(node_of(f"n{one}", FAILING) for one in range(3))),
            (
                429,
                f"policy breaker_open: cluster: {ALL_FAIL}, evictions stop at 55 %",
            ),
        ),
    ],
)
async def test_which_rule_holds(policies: Policies, objects: Any, expected: Any) -> None:
    assert said(await GateScene(policies, *objects).evict()) == expected


@pytest.mark.parametrize(
    "policies",
    [
        Policies(),
        PAUSE,
        Policies(protection=True),
        Policies(blast_radius=BlastRadius(max_pods=1)),
        Policies(own_slices_only=True),
        Policies(windows=(Window(start="00:00", end="01:00"),)),
        Policies(breakers=Breakers(zone=Breaker(), cluster=Breaker())),
        Policies(gangs=Gangs()),
        TWO,
    ],
)
async def test_where_nothing_is_in_the_way_it_may_go(policies: Policies) -> None:
    assert (await GateScene(policies, shop_pod(), node_of("n1")).evict()).allowed


async def test_without_policies_nobody_is_held_and_it_says_so() -> None:
    outcome = await GateScene(Policies()).evict()
    assert outcome.warnings == ("bailiff holds no eviction: it has no policies",)


def terminating() -> Pod:
    return shop_pod(deletion_timestamp=datetime(2026, 1, 1, tzinfo=UTC))


def ended(pod: Pod) -> Pod:
    return replace(pod, status=replace(pod.status, phase="Succeeded"))


def of(uid: str, version: str | None = None) -> dict[str, Any]:
    """An eviction of one pod and no other of its name."""
    return {"deleteOptions": {"preconditions": {"uid": uid, "resourceVersion": version}}}


@pytest.mark.parametrize(
    "objects",
    [
        (),
        (terminating(),),
        (ended(shop_pod()),),
        (shop_pod(annotations=Annotations(config_mirror="")),),
    ],
)
async def test_who_is_never_held_or_counted(objects: Any) -> None:
    scene = GateScene(replace(PAUSE, over_time=budget(1)), notice("racks"), *objects)
    assert (await scene.evict(eviction=of("uid-web"))).allowed
    assert scene.counts.writes == 0


async def test_an_eviction_of_another_pod_of_the_name_cannot_come_true() -> None:
    scene = GateScene(replace(PAUSE, over_time=budget(1)), notice("racks"), shop_pod())
    assert (await scene.evict(eviction=of("another"))).allowed
    assert scene.counts.writes == 0


@pytest.mark.parametrize("version", ["7", "8"])
async def test_a_version_that_may_be_yet_to_come_lets_nobody_pass(version: str) -> None:
    paused = GateScene(PAUSE, shop_pod(resource_version="7"), notice("racks"))
    assert said(await paused.evict(eviction=of("uid-web", version)))[0] == 429
    options = {"deleteOptions": {"preconditions": {"resourceVersion": version}}}
    assert said(await paused.evict(eviction=options))[0] == 429


def owner(api_version: str, kind: str) -> OwnerReference:
    return OwnerReference(api_version=api_version, kind=kind, name="web", controller=True)


STATEFUL, REPLICAS = owner("apps/v1", "StatefulSet"), owner("apps/v1", "ReplicaSet")
CLONES = owner("apps.kruise.io/v1alpha1", "CloneSet")


@pytest.mark.parametrize(
    ("name", "controller", "places"),
    [
        ("web-0", STATEFUL, 3),
        ("web-bcdfg", STATEFUL, 3),
        ("web-bcdfg", CLONES, 3),
        ("web-bcdfg", owner("example.com/v1", "ReplicaSet"), 3),
        ("web-5d8-bcdfg", REPLICAS, 1),
        ("web-bcdfg", owner("batch/v1", "Job"), 1),
        ("web-bcdfg", owner("apps/v1", "DaemonSet"), 1),
        ("web-bcdfg", owner("v1", "ReplicationController"), 1),
        ("web-aaaaa", REPLICAS, 3),
        ("web", None, 3),
    ],
)
async def test_a_name_under_which_another_pod_may_come_is_counted_each_time(
    name: str, controller: OwnerReference | None, places: int
) -> None:
    """The API server looks for the pod by its name, seconds after it has asked the webhooks."""
    owners = () if controller is None else (controller,)
    scene = GateScene(Policies(over_time=budget(9)), shop_pod(name, owner_references=owners))
    for _ in range(3):
        assert (await scene.evict(name)).allowed
    assert scene.counts.counted() == places
    for _ in range(3):
        assert (await scene.evict(name, eviction=of(f"uid-{name}"))).allowed
    assert scene.counts.counted() == max(places, 1) + (places > 1)


@pytest.mark.parametrize("pod", [terminating(), ended(shop_pod())])
async def test_another_pod_may_come_while_one_of_the_name_ends(pod: Pod) -> None:
    """The one that ends disrupts nobody, so neither a gang nor a disruption budget is asked."""
    pod = replace(pod, spec=shop_pod(group="g").spec)
    policies = replace(PAUSE, over_time=budget(1), gangs=Gangs(), protection=True)
    stays = shop_pod("b", group="g", annotations=STAYS)
    scene = GateScene(policies, notice("racks"), pod, stays, allows(0))
    scene.groups.whole = ("g",)
    assert (await scene.evict()).allowed
    assert scene.counts.counted() == 1
    assert said(await scene.evict())[0] == 429


async def test_who_evicts_a_pod_that_there_is_not_is_told_so() -> None:
    scene = GateScene(TWO)
    assert said(await scene.evict()) == (404, 'pods "web" not found')


async def test_budgets_over_time_hold_through_two_replicas() -> None:
    scene = GateScene(Policies(over_time=budget(10)), *(shop_pod(f"p{n}") for n in range(200)))
    scene.counts.latency = 0.002
    replicas = [scene.replica(), scene.replica()]
    found = await asyncio.gather(*(scene.evict(f"p{one}", replicas[one % 2]) for one in range(200)))
    assert sum(outcome.allowed for outcome in found) == 10
    refused = [outcome.refusal for outcome in found if outcome.refusal]
    assert {one.code for one in refused} == {429}
    assert {one.retry_after_seconds for one in refused} == {2}
    assert (
        "budget b (10 evictions in 60 s) is used up until 2026-01-01T00:01:" in refused[0].message
    )


@pytest.mark.parametrize(
    "how",
    [
        {"dryRun": True},
        {"eviction": {"deleteOptions": {"dryRun": ["All"]}}},
    ],
)
async def test_a_dry_run_is_told_the_truth_and_counted_nowhere(how: Any) -> None:
    scene = GateScene(Policies(over_time=budget(1)), shop_pod(), shop_pod("other"))
    assert (await scene.evict(**how)).allowed
    assert scene.counts.writes == 0
    assert (await scene.evict("other")).allowed
    assert said(await scene.evict(**how))[0] == 429


async def test_whom_a_disruption_budget_refuses_takes_no_place() -> None:
    scene = GateScene(TWO, ready(shop_pod()), allows(0))
    outcome = await scene.evict()
    assert said(outcome) == (429, "policy budget: PodDisruptionBudget web (1 of 0 allowed)")
    assert scene.counts.writes == 0
    scene.source.objects[PodDisruptionBudget] = [allows(1)]
    assert (await scene.evict()).allowed


def of_health(current: int, desired: int, policy: str = "") -> PodDisruptionBudget:
    none = allows(0)
    spec = replace(none.spec, unhealthy_pod_eviction_policy=policy)
    status = replace(none.status, current_healthy=current, desired_healthy=desired)
    return replace(none, spec=spec, status=status)


@pytest.mark.parametrize(
    ("guard", "goes"),
    [
        (of_health(2, 2), True),
        (of_health(1, 2), False),
        (of_health(0, 0), False),
        (of_health(0, 2, "AlwaysAllow"), True),
        (of_health(1, 2, "IfHealthyBudget"), False),
    ],
)
async def test_a_pod_that_is_not_ready_goes_as_the_eviction_api_says(
    guard: PodDisruptionBudget, goes: bool
) -> None:
    scene = GateScene(TWO, shop_pod(), guard)
    assert (await scene.evict()).allowed is goes
    assert scene.counts.counted() == goes


async def test_a_pod_of_two_disruption_budgets_never_goes_and_takes_no_place() -> None:
    other = replace(allows(5), metadata=ObjectMeta(name="other", namespace=SHOP))
    scene = GateScene(TWO, shop_pod(), allows(5), other)
    code, message = said(await scene.evict())
    assert (code, scene.counts.writes) == (403, 0), "kube-apiserver answers 500: nobody tries again"
    assert "web has more than one" in message


async def test_one_of_a_gang_that_has_two_keeps_the_others_for_now_alone() -> None:
    """Budgets are replaced while a gang goes: a drain that were told 403 would leave the rest."""
    pods = [shop_pod("a", group="g"), ready(shop_pod("b", group="g", labels={"app": "web"}))]
    other = replace(
        allows(5),
        metadata=ObjectMeta(name="other", namespace=SHOP),
        spec=PodDisruptionBudgetSpec(selector=Selector(match_labels={"app": "web"})),
    )
    scene = GateScene(Policies(gangs=Gangs()), *pods, allows(5), other)
    scene.groups.whole = ("g",)
    assert said(await scene.evict("a"))[0] == 429
    await asyncio.sleep(1)
    assert said(await scene.evict("b"))[0] == 403


async def test_a_pending_pod_is_held_against_no_disruption_budget() -> None:
    pending = replace(shop_pod(), status=replace(shop_pod().status, phase="Pending"))
    other = replace(allows(0), metadata=ObjectMeta(name="other", namespace=SHOP))
    assert (await GateScene(TWO, pending, allows(0), other).evict()).allowed


async def test_disruption_budgets_are_not_asked_where_nothing_is_counted() -> None:
    scene = GateScene(PAUSE, ready(shop_pod()), allows(0))
    assert (await scene.evict()).allowed


async def test_zones_are_counted_apart() -> None:
    one = OverTimeBudget(name="zone", evictions=1, seconds=60, per=Per.ZONE)
    policies = Policies(over_time=replace(budget(), budgets=(one,)))
    nodes = [node_of(f"n{zone}", labels={"topology.kubernetes.io/zone": zone}) for zone in "abb"]
    nodes[2] = node_of("n3", labels={"topology.kubernetes.io/zone": "b"})
    pods = [shop_pod("p1", "na"), shop_pod("p2", "nb"), shop_pod("p3", "n3")]
    scene = GateScene(policies, *nodes, *pods)
    found = [said(await scene.evict(pod.metadata.name)) for pod in pods]
    assert [code for code, _ in found] == [0, 0, 429]
    assert "of zone b" in found[2][1]


GANG = Policies(gangs=Gangs(), protection=True)


async def test_a_gang_waits_for_the_one_that_may_not_go() -> None:
    stays = shop_pod("b", group="g", annotations=STAYS)
    scene = GateScene(GANG, shop_pod("a", group="g"), stays, shop_pod("c", group="other"))
    scene.groups.whole = ("g",)
    code, message = said(await scene.evict("a"))
    assert code == 429
    assert message.startswith("policy gang: PodGroup shop/g goes whole, and pod b may not go")
    assert (await scene.evict("c")).allowed
    scene.source.objects[Pod] = [shop_pod("a", group="g")]
    await asyncio.sleep(1)
    assert (await scene.evict("a")).allowed


async def test_one_of_a_gang_that_has_ended_keeps_nobody() -> None:
    gone = ended(shop_pod("b", group="g", annotations=STAYS))
    scene = GateScene(GANG, shop_pod("a", group="g"), gone)
    scene.groups.whole = ("g",)
    assert (await scene.evict("a")).allowed


@pytest.mark.parametrize(
    "policies",
    [
        Policies(gangs=Gangs(), over_time=budget(1)),
        Policies(
            gangs=Gangs(),
            exclude=Exclusion(pod_selector=LabelSelector(match_labels={"stays": "here"})),
        ),
    ],
)
async def test_a_gang_that_can_never_go_is_not_told_to_try_again(policies: Policies) -> None:
    """`kubectl drain` does so without end, and says nothing but that."""
    pods = shop_pod("a", group="g"), shop_pod("b", group="g", labels={"stays": "here"})
    scene = GateScene(policies, *pods)
    scene.groups.whole = ("g",)
    assert said(await scene.evict("a"))[0] == 403


async def test_pods_of_a_group_that_goes_one_by_one_do_so() -> None:
    stays = shop_pod("b", group="g", annotations=STAYS)
    assert (await GateScene(GANG, shop_pod("a", group="g"), stays).evict("a")).allowed


async def test_the_first_of_a_gang_counts_for_all() -> None:
    pods = [shop_pod(name, group="g") for name in "abc"]
    policies = Policies(gangs=Gangs(), over_time=budget(3))
    scene = GateScene(policies, *pods, shop_pod("alone"))
    scene.groups.whole = ("g",)
    assert (await scene.evict("a")).allowed
    assert said(await scene.evict("alone"))[0] == 429
    assert all([(await scene.evict(name)).allowed for name in "bc"])


async def test_disruption_budgets_must_let_a_gang_go_at_once() -> None:
    pods = [ready(shop_pod(name, group="g")) for name in "ab"]
    scene = GateScene(GANG, *pods, allows(1))
    scene.groups.whole = ("g",)
    assert said(await scene.evict("a")) == (
        429,
        "policy budget: PodDisruptionBudget web (2 of 1 allowed)",
    )


@pytest.mark.parametrize(
    ("policies", "kind"),
    [
        (PAUSE, Pod),
        (PAUSE, ConfigMap),
        (Policies(breakers=Breakers(zone=Breaker())), Node),
        (Policies(exclude=Exclusion(namespace_selector=LabelSelector())), Namespace),
    ],
)
async def test_what_cannot_be_read_holds_and_says_which_permission_it_takes(
    policies: Policies, kind: Any
) -> None:
    scene = GateScene(policies, shop_pod())
    scene.source.errors[kind] = ForbiddenError("Bailiff's account may not read it: grant it")
    assert said(await scene.evict()) == (
        429,
        "policy unknown: Bailiff's account may not read it: grant it",
    )


async def test_a_gang_that_cannot_be_read_holds() -> None:
    scene = GateScene(GANG, shop_pod(group="g"))
    scene.groups.error = UnavailableError("PodGroup shop/g could not be read")
    assert said(await scene.evict()) == (429, "policy unknown: PodGroup shop/g could not be read")


@pytest.mark.parametrize("latency", [0.0, 5.0])
async def test_of_counts_that_cannot_be_had_the_setting_decides(latency: float) -> None:
    settings = budget(2)
    for unreadable, code in ((Unreadable.REFUSE, 429), (Unreadable.ALLOW, 0)):
        scene = GateScene(Policies(over_time=replace(settings, unreadable=unreadable)), shop_pod())
        scene.counts.latency = latency
        scene.counts.put({"b": "rubbish"})
        outcome = await scene.evict()
        assert said(outcome)[0] == code
        assert scene.clock.monotonic() <= 1.0 * (2 if code == 0 else 1)
        if code:
            assert "ConfigMap kube-system/bailiff-evictions, which counts" in said(outcome)[1]
        else:
            assert "has not counted this eviction" in outcome.warnings[0]


async def test_it_answers_before_the_deadline_whatever_hangs() -> None:
    scene = GateScene(PAUSE, shop_pod())

    async def hang(*_: Any) -> Any:
        await asyncio.sleep(3600)

    scene.source.get = hang  # type: ignore[assignment]  # a cluster that hangs
    assert said(await scene.evict()) == (
        429,
        "policy unknown: what decides could not be read in time",
    )
    assert scene.clock.monotonic() < 1.0


@pytest.mark.parametrize("field", ["name", "namespace"])
async def test_an_eviction_of_which_nobody_knows_the_pod_is_an_error_likewise(field: str) -> None:
    """A real API server always says both."""
    scene = GateScene(TWO, shop_pod())
    where = {"name": "web", "namespace": SHOP}
    bare = {**where, field: ""}
    request = request_of(**{**EVICTION, **bare, "object": {"metadata": bare}})
    deadline = scene.clock.monotonic() + 1
    outcome = await review(scene.hooks["validate/evictions"], request, deadline, scene.clock)
    assert said(outcome) == (400, f"request.{field}: required, and empty")
    by_object = request_of(**{**EVICTION, **bare, "object": {"metadata": where}})
    hook = scene.hooks["validate/evictions"]
    assert (await review(hook, by_object, deadline, scene.clock)).allowed


async def test_what_is_no_eviction_is_an_error_of_whoever_asks() -> None:
    scene = GateScene(PAUSE)
    request = request_of(**{**EVICTION, "object": None})
    hook = scene.hooks["validate/evictions"]
    outcome = await review(hook, request, scene.clock.monotonic() + 1, scene.clock)
    assert said(outcome) == (400, "request.object: required, and missing or null")
