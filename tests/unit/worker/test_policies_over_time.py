"""Budgets over time in the worker: counted before an eviction begins, held like any other rule."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from msgspec.structs import replace

from bailiff.cluster import Cluster, FencedError, ForbiddenError, ServerError
from bailiff.decisions.policies import (
    BlastRadius,
    Cause,
    EvictionApi,
    OverTimeBudget,
    Pause,
    PauseNotice,
    Per,
    Policies,
    Unreadable,
)
from bailiff.decisions.policies.over_time_columns import MARGIN
from bailiff.tally import Tally
from tests.harness.kinds import no_execute
from tests.harness.tallies import OneConfigMap, budget, wishes
from tests.harness.worlds.governed import Governed
from tests.harness.worlds.shared import Sharing, sharing

pytestmark = pytest.mark.looptime(start=0)

TWO = Policies(over_time=budget(2))
# A place is free when the span and the clocks' margin are over.
SPAN = 60.0 + MARGIN


async def test_two_go_and_the_third_when_the_first_is_over() -> None:
    world = sharing()
    async with world.running():
        await asyncio.sleep(SPAN - 0.1)
        assert world.order() == ["a", "b"]
        assert world.backlog() == {Cause.OVER_TIME: 1}
        hold = world.held("c")
        assert (hold["cause"], hold["until"]) == ("over_time", "2026-01-01T00:01:58Z")
        await asyncio.sleep(1)
    assert world.order() == ["a", "b", "c"]
    assert [note for pod, note in world.notes if "budget b" in note] != []
    assert world.counts.counted() == 1


async def test_whoever_waits_is_told_of_once_and_not_announced() -> None:
    world = sharing()
    async with world.running():
        await asyncio.sleep(30)
        told = [note for pod, note in world.notes if pod == "c"]
        assert len(told) == 1
        assert "budget b (2 evictions in 60 s) is used up" in told[0]
        assert world.queue(name="c")[0]["attempts"] == 0
        await asyncio.sleep(SPAN)
    announced = [note for pod, note in world.notes if pod == "c"][1:]
    assert len(announced) == 1
    assert announced[0].startswith("Marking for deletion Pod default/c")


async def test_nothing_is_early_twice_or_forgotten() -> None:
    pods = "abcdefghij"
    world = sharing(pods=pods)
    async with world.running():
        await asyncio.sleep(5 * SPAN)
    at = [second for second, _, _ in world.deleted]
    assert sorted(world.order()) == list(pods)
    for first in at:
        assert sum(first <= one < first + 60 for one in at) <= 2
    assert at[-1] == pytest.approx(4 * SPAN, abs=1)


async def test_two_workers_share_what_there_is() -> None:
    counts = OneConfigMap()
    counts.latency = 0.01
    policies = Policies(over_time=budget(5))
    worlds = [sharing(policies, pods=pods, counts=counts) for pods in ("abcd", "efgh")]
    async with worlds[0].running(), worlds[1].running():
        await asyncio.sleep(SPAN - 1)
        assert sum(len(world.deleted) for world in worlds) == 5
        await asyncio.sleep(2)
    assert sum(len(world.deleted) for world in worlds) == 8


async def test_who_is_let_off_while_he_waits_is_not_evicted() -> None:
    world = sharing()
    async with world.running():
        await asyncio.sleep(1)
        world.node("n1")
        await asyncio.sleep(2 * SPAN)
    assert world.order() == ["a", "b"]


async def test_budgets_count_apart_and_others_do_not_wait() -> None:
    one = OverTimeBudget(name="b", evictions=1, seconds=60, per=Per.NODE)
    world = Sharing(Policies(over_time=replace(budget(), budgets=(one,))))
    world.tainted("n1", "n2")
    for name, node in (("a", "n1"), ("b", "n1"), ("c", "n2"), ("d", "n2")):
        world.pod(name, node)
    async with world.running():
        await asyncio.sleep(1)
        assert sorted(world.order()) == ["a", "c"]
        await asyncio.sleep(SPAN)
    assert sorted(world.order()) == ["a", "b", "c", "d"]


async def test_whom_no_budget_counts_goes_though_counts_cannot_be_had() -> None:
    elsewhere = OverTimeBudget(name="b", evictions=1, seconds=60, namespaces=("shop",))
    world = sharing(Policies(over_time=replace(budget(), budgets=(elsewhere,))))
    world.counts.failures = [ServerError("down", status=500)] * 100
    async with world.running():
        await asyncio.sleep(1)
    assert world.order() == ["a", "b", "c"]


@pytest.mark.parametrize("failure", [ForbiddenError("no", status=403), ServerError("down")])
async def test_while_counts_cannot_be_had_evictions_wait_by_default(failure: Any) -> None:
    world = sharing(pods="a")
    world.counts.failures = [failure] * 5
    async with world.running():
        await asyncio.sleep(0.5)
        assert world.order() == []
        hold = world.held("a")
        assert hold["cause"] == "over_time"
        assert "ConfigMap kube-system/bailiff-evictions, which counts evictions" in hold["message"]
        await asyncio.sleep(30)
    assert world.order() == ["a"]


async def test_who_must_not_write_counts_nobody() -> None:
    world = sharing(pods="a")
    world.counts.failures = [FencedError("another leads")]
    async with world.running():
        await asyncio.sleep(0.05)
        assert (world.order(), world.held("a")["message"]) == ([], "another worker leads")
        await asyncio.sleep(5)
    assert world.order() == ["a"]


async def test_or_go_uncounted_where_the_setting_says_so() -> None:
    allowing = Policies(over_time=budget(1, unreadable=Unreadable.ALLOW))
    world = sharing(allowing, pods="ab")
    world.counts.failures = [ServerError("down")] * 100
    async with world.running():
        await asyncio.sleep(1)
    assert world.order() == ["a", "b"]


async def test_who_is_let_off_while_he_is_counted_is_neither_announced_nor_evicted() -> None:
    world = sharing(pods="a")
    world.counts.latency = 1.0
    async with world.running():
        await asyncio.sleep(1.5)
        world.node("n1")
        await asyncio.sleep(60)
    assert world.order() == []
    assert not [note for _, note in world.notes if note.startswith("Marking")]


async def test_a_pause_that_comes_while_one_is_counted_holds_it() -> None:
    world = sharing(replace(TWO, pause=Pause(namespace="ops")), pods="a")
    world.worker.set_pause(None)
    world.counts.latency = 1.0
    async with world.running():
        await asyncio.sleep(1.5)
        world.worker.set_pause(PauseNotice(reason="racks"))
        await asyncio.sleep(60)
        assert (world.order(), world.held("a")["cause"]) == ([], "paused")
        world.worker.set_pause(None)
        await asyncio.sleep(5)
    assert world.order() == ["a"]


async def test_an_acknowledgement_that_is_taken_back_while_one_is_counted_holds_it() -> None:
    world = Sharing(replace(TWO, blast_radius=BlastRadius(max_pods=1)))
    for name in "ab":
        world.pod(name)
    cause = "maintenance:NoExecute"
    world.node("n1", no_execute(), acknowledged=cause)
    world.counts.latency = 1.0
    async with world.running():
        await asyncio.sleep(1.5)
        world.node("n1", no_execute())
        await asyncio.sleep(60)
        assert (world.order(), world.held("a")["cause"]) == ([], "blast_radius")
        world.node("n1", no_execute(), acknowledged=cause)
        await asyncio.sleep(10)
    assert sorted(world.order()) == ["a", "b"]


async def test_budgets_that_change_while_one_is_counted_count_it_anew() -> None:
    world = sharing(pods="ab")
    world.counts.latency = 1.0
    other = OverTimeBudget(name="c", evictions=1, seconds=60)
    async with world.running():
        await asyncio.sleep(1.5)
        world.worker.set_policies(Policies(over_time=replace(budget(), budgets=(other,))))
        await asyncio.sleep(20)
        assert len(world.order()) == 1
        assert world.counts.counted("c") == 1


async def test_without_anything_to_count_in_evictions_wait() -> None:
    world = Governed(TWO)
    world.tainted("n1")
    world.pod("a")
    async with world.running():
        await asyncio.sleep(60)
    assert world.order() == []


async def test_other_policies_take_hold_at_once() -> None:
    world = sharing()
    async with world.running():
        await asyncio.sleep(1)
        world.worker.set_policies(Policies(over_time=budget(3)))
        await asyncio.sleep(1)
        assert world.order() == ["a", "b", "c"]


async def test_on_paper_nothing_is_counted() -> None:
    world = sharing(on_paper=True)
    async with world.running():
        await asyncio.sleep(1)
    assert world.counts.writes == 0


async def test_on_paper_it_holds_whom_it_would_beside_what_others_have_counted() -> None:
    settings = budget(3, 3600)
    world = sharing(Policies(over_time=settings), pods="bcdefgh", on_paper=True)
    others = Tally(cast(Cluster, world.counts), world.clock)
    assert await others.count(wishes(settings, "a"), settings) is None
    async with world.running():
        await asyncio.sleep(1000)
        assert world.order() == ["b", "c"]
        assert world.backlog() == {"over_time": 5}
        # Somebody frees the place of the one who went in earnest; ours are on our paper.
        world.counts.delete()
        await asyncio.sleep(1000)
        assert len(world.order()) == 3
        await asyncio.sleep(3600 + MARGIN - 1990)
        assert len(world.order()) == 5
    assert world.counts.found is None


async def test_whom_his_disruption_budget_refuses_takes_no_place() -> None:
    policies = Policies(over_time=budget(1), eviction_api=EvictionApi())
    world = sharing(policies, pods="ab")
    world.budgets["a"] = "The disruption budget web needs 2 healthy pods and has 2 currently"
    async with world.running():
        await asyncio.sleep(1)
        assert world.order() == ["b"]
        assert world.held("a")["cause"] == "budget"
        assert world.counts.counted() == 1
        del world.budgets["a"]
        await asyncio.sleep(SPAN + 60)
    assert world.order() == ["b", "a"]


async def test_a_hard_deadline_ends_the_wait_for_a_disruption_budget() -> None:
    policies = Policies(over_time=budget(1), eviction_api=EvictionApi(deadline_seconds=20))
    world = sharing(policies, pods="a")
    world.budgets["a"] = "The disruption budget web needs 2 healthy pods and has 2 currently"
    async with world.running():
        await asyncio.sleep(25)
    assert [round(second) for second, *_ in world.deleted] == [20]


async def test_whom_a_webhook_denies_goes_when_it_ceases_to() -> None:
    world = sharing(Policies(over_time=budget(2)), pods="ab")
    world.deny(403, "delete", until=SPAN * 2)
    async with world.running():
        await asyncio.sleep(SPAN)
        assert world.order() == []
        await asyncio.sleep(SPAN * 4)
    assert sorted(world.order()) == ["a", "b"]
