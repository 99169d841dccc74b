"""An agent whose node, kernel, API server and runtime are made up, on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from bailiff.agent.aging import Aging
from bailiff.agent.evicting import Evictor
from bailiff.agent.judge import Judge
from bailiff.agent.log import Log
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.node_facts import NodeFacts
from bailiff.agent.notices.notifier import Notifier, Ways
from bailiff.agent.parts import Parts
from bailiff.agent.reading import Reading, ReadingError
from bailiff.agent.remembering import Remembering
from bailiff.agent.rounds import Rounds
from bailiff.agent.settings import AgentSettings
from bailiff.agent.standing import Standing
from bailiff.agent.state_file import StateFile
from bailiff.agent.telling import Teller
from bailiff.agent.wake import Wake
from bailiff.clock import SteadyTime
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.kinds import decode
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.pod import Pod
from bailiff.kinds.stats import (
    ContainerStats,
    FsStats,
    MemoryStats,
    NodeStats,
    PodReference,
    PodStats,
    RlimitStats,
    RuntimeStats,
)
from bailiff.tracing import NO_TRACER, Tracer
from tests.harness.clocks import LoopClock
from tests.harness.made_up_api import MadeUpApi, MadeUpStopper

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from bailiff.agent.reading import Source
    from bailiff.decisions.pressure.layout import ReclaimStep

MIB = 2**20
CAPACITY = 1000 * MIB
LOW = KubeletConfiguration(
    eviction_hard={"memory.available": "100Mi", "imagefs.available": "10%"},
    enforce_node_allocatable=(),
)


def pod(name: str, *, asks: str = "0", uid: str = "", priority: int = 0, limit: str = "") -> Pod:
    """One of the node, as the API tells of it; `limit` is of its ephemeral storage."""
    limits = {"ephemeral-storage": limit} if limit else {}
    body: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "default", "uid": uid or f"uid-{name}"},
        "spec": {
            "nodeName": "node",
            "priority": priority,
            "containers": [
                {"name": "main", "resources": {"requests": {"memory": asks}, "limits": limits}}
            ],
        },
        "status": {"phase": "Running"},
    }
    return decode(msgspec.json.encode(body), Pod)


class MadeUpNode:
    """What is measured of it, and what the runtime frees.

    Attributes:
        uses: bytes of memory by name of the pod.
        disk_free: bytes.
        garbage: bytes of the disk that the runtime can free.
        broken: why nothing can be measured; empty: it can.
        looks: when it was measured, by the loop's time.
        lies_there: UIDs of pods that still use what they had though they are deleted.
        processes_left: of 1,000; None: they are not counted.
        inodes_free: of 1,000; None: they are not counted.
        disk_stands_still: since when the disk is not measured anew; None: it is.
    """

    def __init__(self, clock: LoopClock) -> None:
        self._clock = SteadyTime(clock)
        self.uses: dict[str, int] = {}
        self.disk_free, self.garbage = 500 * MIB, 0
        self.broken = ""
        self.looks: list[float] = []
        self.lies_there: set[str] = set()
        self.freed: list[tuple[str, ...]] = []
        # When it last measured something new; None: it does so each time.
        self.freeing_takes = 0.001
        self.cannot_free = ""
        self.stands_still: datetime | None = None
        self.disk_stands_still: datetime | None = None
        self.processes_left: int | None = None
        self.inodes_free: int | None = None

    async def read(self, pods: Sequence[Pod]) -> Reading:
        self.looks.append(asyncio.get_running_loop().time())
        if self.broken:
            raise ReadingError("made_up", self.broken)
        now = self.stands_still or self._clock.now()
        used = sum(self.uses.values())
        memory = MemoryStats(
            time=now,
            available_bytes=CAPACITY - used,
            usage_bytes=used,
            working_set_bytes=used,
            rss_bytes=used,
        )
        measured = self.disk_stands_still or now
        disk = FsStats(
            time=measured,
            available_bytes=self.disk_free,
            capacity_bytes=CAPACITY,
            inodes_free=self.inodes_free,
            inodes=None if self.inodes_free is None else 1000,
        )
        node = NodeStats(
            node_name="node",
            memory=memory,
            fs=disk,
            runtime=RuntimeStats(image_fs=disk, container_fs=disk),
            rlimit=self._processes(now),
        )
        stats = tuple(
            PodStats(
                pod_ref=PodReference(name=name, namespace="default", uid=f"uid-{name}"),
                memory=MemoryStats(time=now, working_set_bytes=amount, usage_bytes=amount),
                containers=(ContainerStats(name="main", rootfs=FsStats(used_bytes=amount)),),
                ephemeral_storage=FsStats(used_bytes=amount),
            )
            for name, amount in self.uses.items()
        )
        return Reading(node, lambda: stats, without_huge_pages=True)

    def _processes(self, now: datetime) -> RlimitStats | None:
        left = self.processes_left
        return None if left is None else RlimitStats(time=now, maxpid=1000, curproc=1000 - left)

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        return await self.read(pods)

    disks_lag = False

    def there(self, uids: Collection[str]) -> frozenset[str]:
        return frozenset(uid for uid in uids if not self.has_gone(uid))

    def layout(self) -> FileSystemLayout | None:
        return FileSystemLayout()

    def has_gone(self, uid: str) -> bool | None:
        return uid not in self.lies_there and uid.removeprefix("uid-") not in self.uses

    async def free(self, steps: Sequence[ReclaimStep]) -> None:
        self.freed.append(tuple(steps))
        await asyncio.sleep(self.freeing_takes)
        if self.cannot_free:
            raise ReadingError("runtime", self.cannot_free)
        self.disk_free += self.garbage
        self.garbage = 0


class AgentScene:
    """One agent, with everything around it."""

    def __init__(
        self,
        *pods: Pod,
        state_file: Path | None = None,
        reclaims: bool = False,
        stops: bool = False,
        tracer: Tracer = NO_TRACER,
        **settings: Any,
    ) -> None:
        self.clock = LoopClock()
        self.reclaims = reclaims
        self.settings = AgentSettings(node="node", **({"configuration": LOW} | settings))
        self.node = MadeUpNode(self.clock)
        self.api = MadeUpApi(self._has_left)
        self.stays_in_the_api: set[str] = set()
        # Deleted pods are in the API until somebody says that they are not.
        self.lingers = False
        self.stopper = MadeUpStopper(lambda name: self.node.uses.pop(name, None))
        self.wake = Wake()
        self.log = Log(text=True)
        self.standing = Standing("node", "shadow" if self.settings.shadow else "acting", self.clock)
        self.metrics = AgentMetrics(self.standing.since_round, on_paper=self.settings.on_paper)
        self.facts = NodeFacts(
            *("node", None, None, self.settings.configuration, self.clock, self.log, self.standing),
            pods_from_kubelet=False,
        )
        self.facts.listen(self.standing.see)
        self.tell_pods(*pods)
        self.evictor = Evictor(
            None if self.settings.shadow else self.api,
            self.stopper if stops else None,
            self.clock,
            self.log,
            partial(self.standing.complain, "evictions"),
        )
        self.remembering = Remembering(
            StateFile(state_file, self.log), on_paper=self.settings.on_paper
        )
        self.judge = Judge(self.settings, reclaims=reclaims)
        self.judge.recall(self.remembering.pressure)
        self.teller = Teller(
            *(self.api, self.facts, self.evictor, self.remembering, self.standing),
            *(self.clock, self.log),
            publishes=self.settings.publishes,
        )
        self.source = Aging(self.node, self.settings.stale_after, self.standing, self.clock)
        self.rounds = Rounds(
            Parts(
                settings=self.settings,
                clock=self.clock,
                source=self.source,
                facts=self.facts,
                judge=self.judge,
                reclaimer=self.node if reclaims else None,
                evictor=self.evictor,
                teller=self.teller,
                notifier=Notifier(Ways({}, {}), self.wake.notice, self.clock, self.log),
                remembering=self.remembering,
                standing=self.standing,
                metrics=self.metrics,
                wake=self.wake,
                log=self.log,
                tracer=tracer,
            )
        )

    def measure_by(self, source: Source) -> None:
        """Another than the node itself, from now on."""
        self.source._source = source

    def tell_pods(self, *pods: Pod) -> None:
        """All pods of the node, as the API has them."""
        self.facts._replace(pods)

    def _has_left(self, pod: Pod) -> None:
        self.node.uses.pop(pod.metadata.name, None)
        if pod.metadata.name in self.stays_in_the_api:
            return
        others = [one for one in self.facts.pods if one.metadata.uid != pod.metadata.uid]
        if not self.lingers:
            self.tell_pods(*others)
            return
        ends = self.clock.now() + timedelta(seconds=1)
        self.tell_pods(
            *others, replace(pod, metadata=replace(pod.metadata, deletion_timestamp=ends))
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Its rounds, and what is told beside them."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one()) for one in (self.rounds.run, self.teller.run)]
            yield
            for task in tasks:
                task.cancel()


HOG, CALM = pod("hog"), pod("calm", asks="300Mi")


def soft(grace: str) -> KubeletConfiguration:
    """Below 100 MiB for so long."""
    return KubeletConfiguration(
        eviction_hard={},
        eviction_soft={"memory.available": "100Mi"},
        eviction_soft_grace_period={"memory.available": grace},
    )


def low_disk(*pods: Pod, uses: int = 10 * MIB, **settings: Any) -> AgentScene:
    """A node with 50 MiB of the disk left, where 100 are wanted, and 200 MiB of garbage."""
    scene = AgentScene(*(pods or (HOG,)), reclaims=True, **settings)
    scene.node.uses = {"hog": uses}
    scene.node.disk_free, scene.node.garbage = 50 * MIB, 200 * MIB
    return scene


def pressed(**settings) -> AgentScene:
    """Two pods on a node with 50 MiB left, where 100 are wanted."""
    scene = AgentScene(HOG, CALM, **settings)
    scene.node.uses = {"hog": 750 * MIB, "calm": 200 * MIB}
    return scene
