"""Budgets whose status cannot be counted on: the Eviction API forbids (403), for the budget's sake.

A disruption controller that is down leaves such: evictions that nobody confirms add up.
"""

from __future__ import annotations

import pytest

from bailiff import cluster as k8s
from bailiff.decisions.policies import Cause, EvictionApi, Policies
from tests.harness.api import BUDGETS, Bench, uid_of
from tests.harness.budgets import budget, evict, is_spared, running, status_of
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.objects import KEY, taint
from tests.harness.working import is_going, running_worker, until

# More than 2000 are too many.
UNCONFIRMED = {f"gone-{number}": "2020-01-01T00:00:00Z" for number in range(2001)}


@pytest.mark.parity
async def test_too_many_evictions_that_nobody_confirmed(bench: Bench) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=1, disruptedPods=UNCONFIRMED)
    with pytest.raises(k8s.DisruptionBudgetError, match="not confirmed by PDB") as caught:
        await evict(bench)
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")
    assert await is_spared(bench)
    assert (await status_of(bench))["disruptionsAllowed"] == 1


@pytest.mark.parity
async def test_as_many_as_are_still_believed(bench: Bench) -> None:
    await running(bench)
    fewer = dict(list(UNCONFIRMED.items())[1:])
    await budget(bench, disruptionsAllowed=1, disruptedPods=fewer)
    assert (await evict(bench))["status"] == "Success"


async def test_the_hard_deadline_overrides_it_as_any_refusal_by_a_budget(
    bench: Bench, as_worker
) -> None:
    async with running_worker(as_worker) as worker:
        await until(lambda: worker.mirror.synced)
        worker.set_policies(Policies(eviction_api=EvictionApi(deadline_seconds=1.5)))
        pod = await running(bench)
        await budget(bench, disruptionsAllowed=1, disruptedPods=UNCONFIRMED)
        await bench.taint(pod["spec"]["nodeName"], taint(KEY))

        def cause() -> Cause | None:
            eviction = worker.pending.get(uid_of(pod))
            hold = None if eviction is None else worker.pending.held_by(eviction)
            return None if hold is None else hold.cause

        await until(lambda: cause() is Cause.BUDGET)
        assert not await is_going(bench, "a")
        await until(lambda: is_going(bench, "a"))


@pytest.mark.kube_apiserver
async def test_less_than_none_allowed_cannot_be_written_but_may_be_stored(
    bench: Bench, kube_apiserver: KubeApiserver
) -> None:
    await running(bench)
    await budget(bench, disruptionsAllowed=1)
    with pytest.raises(k8s.InvalidError, match=r"status\.disruptionsAllowed: Invalid value: -1"):
        await budget(bench, "other", disruptionsAllowed=-1)
    await bench.cluster.delete(BUDGETS, "other", bench.namespace)
    # Releases that still served policy/v1beta1 took it.
    found = await bench.cluster.get(BUDGETS, "web", bench.namespace)
    found["status"]["disruptionsAllowed"] = -1
    kube_apiserver.store(f"poddisruptionbudgets/{bench.namespace}/web", found)

    async def refused() -> bool:
        with pytest.raises(k8s.DisruptionBudgetError) as caught:
            await evict(bench, dryRun=["All"])
        return "disruptions allowed is negative" in str(caught.value)

    await until(refused)
