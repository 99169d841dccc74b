"""A world whose worker shares budgets over time and gangs with others that evict."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from msgspec.structs import replace

from bailiff.clock import Clock
from bailiff.cluster import Cluster
from bailiff.decisions import Wanted
from bailiff.decisions.policies import Policies
from bailiff.kinds import Pod, PodDisruptionBudget, PodSchedulingGroup
from bailiff.lookup import GangBudgets, LookUpError, PodGroups, Source
from bailiff.tally import Tally
from bailiff.worker import Shared
from tests.harness.clocks import LoopClock
from tests.harness.gating import Groups
from tests.harness.tallies import OneConfigMap, budget
from tests.harness.worlds.governed import Governed


class Sharing(Governed):
    """Attributes:
    counts: the ConfigMap that counts.
    groups: which PodGroups go whole.
    disruption_budgets: as whoever lists them sees them.
    unlisted: why they cannot be listed.
    list_latency: seconds that it takes.
    shared: what its worker shares with others.
    """

    def __init__(
        self, policies: Policies, counts: OneConfigMap | None = None, **others: Any
    ) -> None:
        self.counts, self.groups = counts or OneConfigMap(), Groups()
        self.disruption_budgets: list[PodDisruptionBudget] = []
        self.unlisted: LookUpError | None = None
        self.list_latency = 0.0
        clock: Clock = LoopClock()
        tally = Tally(cast(Cluster, self.counts), clock)
        gang_budgets = GangBudgets(cast(Source, self), clock)
        self.shared = Shared(tally, cast(PodGroups, self.groups), gang_budgets)
        super().__init__(policies, shared=self.shared, **others)

    async def see(self, wanted: Wanted) -> tuple[Any, ...]:
        """All objects of the kind, as a list of the API server's."""
        if self.list_latency:
            await asyncio.sleep(self.list_latency)
        if self.unlisted is not None:
            raise self.unlisted
        return tuple(self.pods.values() if wanted.kind is Pod else self.disruption_budgets)

    def member(self, name: str, group: str, node: str = "n1", **meta: Any) -> Pod:
        """Add a pod of a PodGroup."""
        pod = self.pod(name, node, **meta)
        grouped = PodSchedulingGroup(pod_group_name=group)
        return self.put(replace(pod, spec=replace(pod.spec, scheduling_group=grouped)))


def sharing(policies: Policies | None = None, pods: str = "abc", **others: Any) -> Sharing:
    """A tainted node with pods of these names; without policies two go in a minute."""
    world = Sharing(policies or Policies(over_time=budget(2)), **others)
    world.tainted("n1")
    for name in pods:
        world.pod(name)
    return world
