"""A kubelet that measures disks every ten seconds, on virtual time."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from bailiff.agent.kubelet import Kubelet
from bailiff.agent.own_source import FresherMemory
from bailiff.agent.reading import ReadingError
from bailiff.kinds.stats import NodeStats, RuntimeStats

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bailiff.agent.own_source import OwnSource
    from bailiff.cluster.kubelets.summaries import MeasuredNode
    from bailiff.cluster.wire import Wire
    from bailiff.kinds.stats import FsStats, PodStats
    from tests.harness.agent_scene import AgentScene


class SlowKubelet(Kubelet):
    """It hands out what it has measured last.

    Attributes:
        malformed: what it says of pods cannot be read.
        silent: it does not answer.
    """

    def __init__(self, scene: AgentScene, phase: float) -> None:
        """Measure the node of the scene first after so many seconds."""
        super().__init__(cast("Wire", None), "node", scene.clock)
        self.malformed = self.silent = False
        self._scene, self._phase = scene, phase
        self._last: tuple[NodeStats, Sequence[PodStats]] | None = None

    async def measure(self) -> None:
        """Every ten seconds, until cancelled."""
        await asyncio.sleep(self._phase)
        node = self._scene.node
        while True:
            found = await node.read(())
            node.looks.pop()
            # It tells times in whole seconds.
            at = self._clock.now().replace(microsecond=0)
            disk = replace(cast("FsStats", found.node.fs), time=at)
            runtime = RuntimeStats(image_fs=disk, container_fs=disk)
            self._last = replace(found.node, fs=disk, runtime=runtime), found.pods()
            await asyncio.sleep(10)

    async def measured(self) -> MeasuredNode:
        """See Kubelet."""
        if self._last is None or self.silent:
            raise ReadingError("kubelet", "the kubelet does not answer")
        node, pods = self._last
        return cast("MeasuredNode", _Measured(node, None if self.malformed else pods))


class _Measured(SimpleNamespace):
    def __init__(self, node: NodeStats, pods: Sequence[PodStats] | None) -> None:
        super().__init__(node=node)
        self._pods = pods

    @property
    def pods(self) -> Sequence[PodStats]:
        if self._pods is None:
            raise ReadingError("malformed", "its pods cannot be read")
        return self._pods


@asynccontextmanager
async def measured_by_kubelet(scene: AgentScene, phase: float) -> AsyncIterator[SlowKubelet]:
    """Disks by such a kubelet, everything else by the node itself."""
    kubelet = SlowKubelet(scene, phase)
    own = cast("OwnSource", scene.node)
    source = FresherMemory(kubelet, own, scene.standing, scene.clock, scene.log)
    scene.measure_by(source)
    tasks = [asyncio.create_task(one) for one in (kubelet.measure(), source.run())]
    try:
        yield kubelet
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
