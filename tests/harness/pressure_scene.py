"""A node under pressure on an API server, and what is seen of it there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.harness.api import NODES
from tests.harness.working import EVENTS, is_going

if TYPE_CHECKING:
    from bailiff.bootstrap.pressure import Pressing
    from tests.harness.api import Bench
    from tests.harness.measuring_kubelet import MeasuringKubelet


class Scene:
    """A node, its kubelet, and how a worker watches it."""

    def __init__(self, bench: Bench, kubelet: MeasuringKubelet, pressing: Pressing) -> None:
        self.bench = bench
        self.kubelet = kubelet
        self.pressing = pressing

    def with_mode(self, **fields: Any) -> Pressing:
        return replace(self.pressing, mode=replace(self.pressing.mode, **fields))

    async def node(self) -> dict[str, Any]:
        return await self.bench.cluster.get(NODES, self.kubelet.node)

    async def condition(self, kind: str) -> dict[str, Any]:
        conditions = (await self.node())["status"].get("conditions", [])
        return next((one for one in conditions if one["type"] == kind), {})

    async def says(self, kind: str, status: str) -> bool:
        return (await self.condition(kind)).get("status") == status

    async def going(self, name: str) -> bool:
        return await is_going(self.bench, name)

    async def events(self, about: str) -> list[str]:
        for_pods = (await self.bench.cluster.list(EVENTS, namespace=self.bench.namespace)).items
        for_nodes = (await self.bench.cluster.list(EVENTS, namespace="default")).items
        found = [*for_pods, *for_nodes]
        return [one["reason"] for one in found if one["involvedObject"]["name"] == about]
