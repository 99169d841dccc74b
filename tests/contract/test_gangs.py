"""PodGroups of a real API server that serves them: gangs at the gate and in the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import DisruptionBudgetError, Resource, connect
from bailiff.decisions.policies import EvictionApi, Gangs, Policies
from bailiff.lookup import ClusterSource, PodGroups
from bailiff.tally import Tally
from bailiff.webhooks import hooks_of
from tests.harness.admission import parts_of, request_of, review
from tests.harness.api import BUDGETS, PODS, Bench
from tests.harness.budgets import LABELS, budget, evict, status_of
from tests.harness.gating import EVICTION, said
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.objects import KEY, condition, object_of, pod_object, taint
from tests.harness.working import is_going, running_worker, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from bailiff.cluster import Cluster

pytestmark = pytest.mark.kube_apiserver

POLICIES = Policies(gangs=Gangs(), protection=True)
STAYS = {"bailiff.dev/do-not-evict": "true"}
# The newest first, as they are looked for.
VERSIONS = ("v1beta1", "v1alpha3")


@pytest.fixture(scope="module", params=VERSIONS)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[KubeApiserver, str]]:
    """An API server that serves PodGroups in one version alone."""
    if assets() is None:
        pytest.skip(WHY_NOT)
    version = str(request.param)
    flags = [
        "--feature-gates=GenericWorkload=true",
        f"--runtime-config=scheduling.k8s.io/{version}=true",
    ]
    with KubeApiserver(flags) as server:
        yield server, version


@pytest.fixture
async def cluster(served: tuple[KubeApiserver, str]) -> AsyncIterator[Cluster]:
    async with await connect(served[0].kubeconfig) as client:
        yield client


async def group(bench: Bench, version: str, name: str, mode: str) -> None:
    resource: Resource[Any] = Resource("scheduling.k8s.io", version, "podgroups", dict)
    spec: dict[str, Any] = {"schedulingPolicy": {"basic": {}}, "disruptionMode": {mode: {}}}
    body = object_of("PodGroup", name, spec=spec) | {"apiVersion": f"scheduling.k8s.io/{version}"}
    await bench.cluster.create(resource, body, bench.namespace)


async def member(bench: Bench, name: str, of: str, node: str = "", **annotations: str) -> None:
    spec: dict[str, Any] = {"schedulingGroup": {"podGroupName": of}}
    if node:
        spec["nodeName"] = node
    body = pod_object(name, **spec)
    body["metadata"]["annotations"] = annotations
    await bench.cluster.create(PODS, body, bench.namespace)


async def gate_says(bench: Bench, name: str) -> tuple[int, str]:
    clock = SystemClock()
    parts = parts_of(
        ClusterSource(bench.cluster, clock),
        policies=lambda: POLICIES,
        pod_groups=PodGroups(bench.cluster, clock),
        tally=Tally(bench.cluster, clock),
    )
    hook = next(hook for hook in hooks_of(parts) if hook.path == "validate/evictions")
    where = {"name": name, "namespace": bench.namespace}
    request = request_of(**EVICTION | where, object={"metadata": where})
    return said(await review(hook, request, clock.monotonic() + 5))


async def test_a_gang_goes_whole_or_not_at_all(
    cluster: Cluster, bench: Bench, served: tuple[KubeApiserver, str]
) -> None:
    _, version = served
    node = await bench.node(taint(KEY))
    for name, mode in (("whole", "all"), ("loose", "single")):
        await group(bench, version, name, mode)
        await member(bench, f"{name}-a", name, node)
        await member(bench, f"{name}-b", name, **STAYS)
    code, message = await gate_says(bench, "whole-a")
    assert (code, "pod whole-b may not go" in message) == (429, True)
    assert await gate_says(bench, "loose-a") == (0, "")
    async with running_worker(cluster) as worker:
        worker.set_policies(POLICIES)
        await until(lambda: is_going(bench, "loose-a"))
        await until(lambda: worker.backlog.counts()["gang"])
        assert not await is_going(bench, "whole-a")
        body = {"metadata": {"annotations": {"bailiff.dev/do-not-evict": "false"}}}
        await cluster.patch(PODS, "whole-b", bench.namespace, body)
        await until(lambda: is_going(bench, "whole-a"))
        assert not await is_going(bench, "whole-b")


async def member_with_label(bench: Bench, name: str, node: str, *, ready: bool = True) -> None:
    await member(bench, name, "whole", node)
    await bench.cluster.patch(PODS, name, bench.namespace, {"metadata": {"labels": LABELS}})
    told = condition("Ready", "True" if ready else "False")
    await bench.set_status(await bench.get(name), phase="Running", conditions=[told])


async def test_by_the_eviction_api_none_goes_whose_gang_a_disruption_budget_does_not_let_go(
    cluster: Cluster, bench: Bench, served: tuple[KubeApiserver, str]
) -> None:
    node = await bench.node(taint(KEY))
    await group(bench, served[1], "whole", "all")
    for name in ("a", "b"):
        await member_with_label(bench, name, node)
    counted: dict[str, Any] = {"expectedPods": 2, "currentHealthy": 2}
    await budget(bench, **counted, disruptionsAllowed=1)
    async with running_worker(cluster) as worker:
        worker.set_policies(Policies(gangs=Gangs(), eviction_api=EvictionApi()))
        await until(lambda: worker.backlog.counts()["budget"] == 2)
        assert not await is_going(bench, "a")
        assert not await is_going(bench, "b")
        allowed = {"status": {"disruptionsAllowed": 2}}
        await cluster.patch(BUDGETS, "web", bench.namespace, allowed, subresource="status")
        await until(lambda: is_going(bench, "a"))
        await until(lambda: is_going(bench, "b"))


async def test_gate_and_api_server_let_go_what_is_left_of_a_gang_that_has_begun_to_go(
    bench: Bench, served: tuple[KubeApiserver, str]
) -> None:
    node = await bench.node()
    await group(bench, served[1], "whole", "all")
    for name in ("a", "b", "c"):
        await member_with_label(bench, name, node)
    await budget(bench, desiredHealthy=0, currentHealthy=3, disruptionsAllowed=3)
    assert await gate_says(bench, "a") == (0, "")
    await evict(bench, "a", gracePeriodSeconds=0)
    await member_with_label(bench, "in-place-of-a", node, ready=False)
    assert (await status_of(bench))["disruptionsAllowed"] == 2
    for name in ("b", "c"):
        assert await gate_says(bench, name) == (0, "")
        await evict(bench, name, gracePeriodSeconds=0)
    # Kubernetes' own: no pod of the budget is ready any more.
    with pytest.raises(DisruptionBudgetError):
        await evict(bench, "in-place-of-a")
