"""The gate of evictions with a cluster in memory, and who asks it."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from msgspec.structs import replace

from bailiff.clock import Clock
from bailiff.decisions.policies import Policies
from bailiff.kinds import (
    ObjectMeta,
    Pod,
    PodCondition,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSchedulingGroup,
)
from bailiff.kinds.budget import LabelSelector
from bailiff.lookup import LookUpError
from bailiff.tally import Tally
from bailiff.webhooks import AdmissionSettings, Hook, Outcome, hooks_of
from tests.harness.admission import parts_of, request_of, review
from tests.harness.clocks import LoopClock
from tests.harness.kinds import pod_of
from tests.harness.lookups import DictSource
from tests.harness.tallies import OneConfigMap

SHOP = "shop"
EVICTION = {
    "kind": {"group": "policy", "version": "v1", "kind": "Eviction"},
    "subResource": "eviction",
}


class Groups:
    """PodGroups that go whole, by name, or why they cannot be read; seconds that it takes."""

    def __init__(self, *whole: str) -> None:
        self.whole = whole
        self.error: LookUpError | None = None
        self.latency = 0.0

    async def goes_whole(self, _namespace: str, name: str) -> bool:
        if self.latency:
            await asyncio.sleep(self.latency)
        if self.error is not None:
            raise self.error
        return name in self.whole


class GateScene:
    """One cluster, its policies, and the hooks of a process.

    Attributes:
        policies: those in force.
        source: the objects there are.
        counts: the ConfigMap that counts.
        groups: the PodGroups.
        cluster_clock: of replicas that come; None: they go by their own.
    """

    def __init__(self, policies: Policies, *objects: Any, users: tuple[str, ...] = ()) -> None:
        self.policies = policies
        self.source = DictSource.of(*objects)
        self.counts = OneConfigMap()
        self.groups = Groups()
        self.clock: Clock = LoopClock()
        self.cluster_clock: Clock | None = None
        self._requests = count()
        self._settings = AdmissionSettings(gate_delete_users=frozenset(users))
        self.hooks = self.replica()

    def replica(self) -> dict[str, Hook]:
        """The hooks of one more process, by path."""
        parts = parts_of(
            self.source,
            self._settings,
            self.clock,
            policies=lambda: self.policies,
            pod_groups=self.groups,
            cluster_clock=self.cluster_clock,
            tally=Tally(self.counts, self.clock),  # type: ignore[arg-type]  # its stand-in
        )
        return {hook.path: hook for hook in hooks_of(parts)}

    async def evict(
        self,
        name: str = "web",
        hooks: dict[str, Hook] | None = None,
        seconds: float = 1.0,
        **how: Any,
    ) -> Outcome:
        """What becomes of an eviction within so many seconds; `how` is of the request."""
        eviction = {"metadata": {"name": name, "namespace": SHOP}, **how.pop("eviction", {})}
        named = {"uid": f"request-{next(self._requests)}", "name": name, "namespace": SHOP}
        request = request_of(**EVICTION, **named, object=eviction, **how)
        return await self._ask("validate/evictions", request, hooks, seconds)

    async def delete(self, pod: Any = None, user: str = "ada", **how: Any) -> Outcome:
        """What becomes of a delete."""
        name = {"name": "web", "namespace": SHOP, "uid": "uid-web"}
        spec, status = {"nodeName": "n1"}, {"phase": "Running"}
        old = {"metadata": name, "spec": spec, "status": status, **(pod or {})}
        request = request_of(
            **{
                "operation": "DELETE",
                "object": None,
                "oldObject": old,
                "options": {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"},
                "userInfo": {"username": user},
                **how,
            }
        )
        return await self._ask("validate/deletes", request, None)

    async def _ask(
        self, path: str, request: Any, hooks: dict[str, Hook] | None, seconds: float = 1.0
    ) -> Outcome:
        deadline = self.clock.monotonic() + seconds
        return await review((hooks or self.hooks)[path], request, deadline, self.clock)


def shop_pod(name: str = "web", node: str = "n1", group: str = "", **meta: Any) -> Pod:
    """A pod of the shop; with a group, of this PodGroup."""
    pod = pod_of(name, node, **{"namespace": SHOP, "uid": f"uid-{name}", **meta})
    if not group:
        return pod
    return replace(
        pod, spec=replace(pod.spec, scheduling_group=PodSchedulingGroup(pod_group_name=group))
    )


def ready(pod: Pod) -> Pod:
    """The same, ready to serve."""
    condition = PodCondition(type="Ready", status="True")
    return replace(pod, status=replace(pod.status, conditions=(condition,)))


def allows(disruptions: int) -> PodDisruptionBudget:
    """A budget of all pods of the shop that allows so many now."""
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace=SHOP),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector()),
        status=PodDisruptionBudgetStatus(disruptions_allowed=disruptions),
    )


def said(outcome: Outcome) -> tuple[int, str]:
    """Code and message of a refusal; 0 where it may go."""
    refusal = outcome.refusal
    return (0, "") if refusal is None else (refusal.code, refusal.message)
