"""One attempt to evict a pod, on a cluster that answers as a test says."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any, cast

from msgspec.structs import replace

from bailiff.cluster import (
    DisruptionBudgetError,
    WatchHealth,
)
from bailiff.decisions import EvictionTerms, Finding, Verdict
from bailiff.decisions.node_taints.findings import NodeTaintEviction
from bailiff.kinds import Node, Pod, PodCondition
from bailiff.worker.execute.attempt import Attempt
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.timers.eviction import Eviction
from tests.harness.clocks import START, ManualClock
from tests.harness.kinds import node_of, pod_of

POD = pod_of("web", "n1", uid="1", resource_version="5")
WRITTEN = replace(POD, metadata=replace(POD.metadata, resource_version="6"))
DUE = START + timedelta(seconds=10)
GO = NodeTaintEviction(
    system="node-taints", verdict=Verdict.EVICT_NOW, reason="r", message="go", evict_at=DUE
)
STAY = replace(GO, verdict=Verdict.KEEP, message="stay")
LATER = replace(GO, verdict=Verdict.EVICT_AT, message="later")
LATER_STILL = replace(LATER, evict_at=DUE + timedelta(seconds=1))
# It goes at once, since the taint came.
NOT_TOLERATED = replace(GO, evict_at=None, due_since=DUE)
OF_DEVICES = replace(GO, system="device-taints")
BLOCKED = DisruptionBudgetError("not now", status=429)


class Scene:
    """The cluster as an attempt sees it, and what it does to it.

    Attributes:
        sent: verbs, and the version that those carry which take a pod.
        answer: what the pod is when its condition is written.
        failures: what a verb comes to instead.
        says: what holds of a version of the pod; GO of those that are not named.
        on_node: what holds by the node that was read.
        overrides: the policies are set aside.
    """

    def __init__(self, finding: Finding = GO) -> None:
        self.clock = ManualClock(passed=100.0)
        self.sent: list[str] = []
        self.answer = WRITTEN
        self.failures: dict[str, Exception] = {}
        self.says: dict[str, Finding | None] = {}
        self.on_node: Finding | None = GO
        self.overrides = False
        self.nodes: list[Node | None] = []
        self.condition: PodCondition | None = None
        self.attempt = Attempt(cast("Any", self), self.clock, cast("Any", self))
        self.eviction = Eviction(pod=POD, finding=finding, deadline=DUE, due=10.0)

    def finding(self, pod: Pod, node: Node | None) -> Finding | None:
        self.nodes.append(node)
        if node is not None:
            return self.on_node
        return self.says.get(pod.metadata.resource_version, self.eviction.finding)

    def why_unsaid(self, pod: Pod) -> str:
        return f"nobody knows {pod.metadata.name}"

    def overrides_policies(self, pod: Pod, finding: Finding) -> bool:
        return self.overrides

    def goes_by_node(self, finding: Finding) -> bool:
        return finding.system == GO.system

    async def set_status(self, pod: Pod, terms: EvictionTerms, now: datetime) -> Pod:
        assert (pod, now) == (POD, self.clock.now())
        self.condition = terms.condition
        self._send("patch")
        return self.answer

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        self._send("phase")

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        assert grace_period_seconds is None
        self._send(f"delete {pod.metadata.resource_version}")

    async def try_delete(self, pod: Pod) -> None:
        self._send(f"try {pod.metadata.resource_version}")

    async def evict(self, pod: Pod, grace_period_seconds: int | None = None) -> None:
        assert grace_period_seconds is None
        self._send(f"evict {pod.metadata.resource_version}")

    def _send(self, what: str) -> None:
        self.sent.append(what)
        failure = self.failures.get(what.split(maxsplit=1)[0])
        if failure is not None:
            raise failure

    def read_nodes(self, names: list[str]) -> None:
        """The watch of nodes is dead: they are read."""

        async def read(name: str) -> Node:
            names.append(name)
            return node_of(name)

        self.attempt.fresh_nodes.follow(WatchHealth(), read)

    def make(self) -> Outcome:
        return asyncio.run(self._make())

    async def _make(self) -> Outcome:
        return await self.attempt(self.eviction)
