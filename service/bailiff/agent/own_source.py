"""Everything that a round goes by, measured on the node itself; with a kubelet that of memory."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from bailiff.agent.reading import Reading, ReadingError
from bailiff.agent.readings.pods import PodOnNode
from bailiff.clock import SteadyTime
from bailiff.decisions.pressure.extensions import MemoryAvailable
from bailiff.kinds.stats import MemoryStats

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from bailiff.agent.kubelet import Kubelet
    from bailiff.agent.log import Log
    from bailiff.agent.readings.pods import Layer
    from bailiff.agent.readings.summary import NodeReadings
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats, PodStats

# Seconds between two measurements of the volumes of pods, and for each.
_VOLUMES_EVERY = 60.0
_FOR_VOLUMES = 20.0
# Seconds between two questions to a kubelet, and until it is told of that it does not answer.
_ASK_EVERY = 10.0
_PASSES_WITHIN = 60.0
_KUBELET = "the kubelet, so that disks stand still"
# Not as of one that was not measured, which would go first.
_NOTHING = MemoryStats(usage_bytes=0, working_set_bytes=0, rss_bytes=0)


class KnownContainers(Protocol):
    """What the container runtime has told."""

    def of(self, uid: str) -> Mapping[str, str]:
        """Names of the containers of a pod that run, by their ids."""
        ...

    @property
    def layers(self) -> Mapping[str, Layer]:
        """What writable layers take, by ids of containers."""
        ...

    async def refresh(self) -> None:
        """Ask the runtime; what it does not answer stays as it was."""
        ...


class OwnSource:
    """See Source. What is read of /proc and cgroups is read in the event loop, where nobody waits.

    The node alone takes a millisecond, and 110 pods, of which a round asks only where somebody may
    have to go, a tenth of a second. What may take longer, the counting of files, is done in a
    thread.
    """

    def __init__(
        self,
        readings: NodeReadings,
        containers: KnownContainers | None,
        clock: Clock,
    ) -> None:
        """Prepare.

        Args:
            readings: of this node.
            containers: as the runtime has them; None: nobody tells.
            clock: of the instants of measurements.
        """
        self._readings = readings
        self._containers = containers
        # Else nothing would be new after a clock was put back.
        self._steady = SteadyTime(clock)
        self._measuring = asyncio.Lock()
        self._measurements: set[asyncio.Task[None]] = set()
        self._pods: tuple[Pod, ...] = ()

    def measure_by(self, readings: NodeReadings) -> None:
        """Measure by these from now on: where images lie has become known."""
        readings.take_over(self._readings)
        self._readings = readings

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """See Source."""
        self._pods = tuple(pods)
        now = self._steady.now()
        node = self._readings.whole_node(now)
        if node.memory is None:
            raise ReadingError("memory", "the node's memory could not be measured")
        return self._reading(node, now)

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source. What pods take of the disks is counted first."""
        self._pods = tuple(pods)
        await self._measure_disks()
        return await self.read(pods)

    @property
    def disks_lag(self) -> bool:
        """See Source."""
        return False

    def layout(self) -> FileSystemLayout | None:
        """See Source."""
        return self._readings.layout()

    def there(self, uids: Collection[str]) -> frozenset[str]:
        """See Source."""
        return self._readings.there(uids)

    def has_gone(self, uid: str) -> bool | None:
        """See Source."""
        there = self._readings.is_there(uid)
        return None if there is None else not there

    async def run(self) -> None:
        """Measure the volumes of pods once a minute, as the kubelet does, until cancelled."""
        try:
            while True:
                await self._measure_disks()
                await asyncio.sleep(_VOLUMES_EVERY)
        finally:
            for one in self._measurements:
                one.cancel()
            await asyncio.gather(*self._measurements, return_exceptions=True)

    async def _measure_disks(self) -> None:
        """Returns at once where it is cancelled; what is being measured ends soon after."""
        over = threading.Event()
        measuring = asyncio.create_task(self._measure_in_turn(over))
        self._measurements.add(measuring)
        measuring.add_done_callback(self._measurements.discard)
        try:
            await asyncio.shield(measuring)
        finally:
            # A thread cannot be cancelled; it looks here.
            over.set()

    async def _measure_in_turn(self, over: threading.Event) -> None:
        """One thread at a time: the next waits for the end of the one before, come what may."""
        async with self._measuring:
            if over.is_set():
                return
            if self._containers is not None:
                await self._containers.refresh()
            what = (self._known(), _FOR_VOLUMES, self._steady.now(), over.is_set)
            await asyncio.to_thread(self._readings.measure_volumes, *what)

    def _reading(self, node: NodeStats, now: datetime) -> Reading:
        available = self._readings.memory_available()
        told = None if available is None else MemoryAvailable(available_bytes=available, time=now)
        return Reading(node, partial(self._of_pods, now), told, without_huge_pages=True)

    def _of_pods(self, now: datetime) -> tuple[PodStats, ...]:
        layers = {} if self._containers is None else self._containers.layers
        found = self._readings.pods(self._known(), layers, now)
        running = {pod.metadata.uid for pod in self._pods if _has_own_cgroup(pod)}
        if running and not running & {one.pod_ref.uid for one in found}:
            # Without numbers all would go, the first of them first.
            why = "nothing is measured of any pod that runs: see --cgroup"
            raise ReadingError("unmeasured", why)
        return found

    def _known(self) -> list[PodOnNode]:
        containers = self._containers
        return [
            PodOnNode(
                pod.metadata.uid,
                pod.metadata.namespace,
                pod.metadata.name,
                {} if containers is None else containers.of(pod.metadata.uid),
            )
            for pod in self._pods
            if not pod.is_finished
        ]


def _has_own_cgroup(pod: Pod) -> bool:
    """It runs; that of a static pod has another UID than what shows it in the API."""
    return pod.status.phase == "Running" and pod.metadata.annotations.config_mirror is None


class FresherMemory:
    """A kubelet's summary, with memory and processes as they are now.

    A kubelet measures every ten seconds, and what it says of memory may be as old.
    """

    def __init__(
        self, kubelet: Kubelet, own: OwnSource, standing: Standing, clock: Clock, log: Log
    ) -> None:
        """Prepare: disks are the kubelet's to tell, everything else is measured here."""
        self._kubelet = kubelet
        self._own = own
        self._standing = standing
        self._clock = clock
        self._log = log
        self._told: Reading | None = None
        self._told_at = float("-inf")

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """See Source. Before the kubelet has answered its disks count as not measured."""
        return _fresher(self._told, await self._own.read(pods))

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source."""
        self._take(await self._kubelet.read_anew(pods))
        return await self.read(pods)

    @property
    def disks_lag(self) -> bool:
        """See Source: the cgroup of a pod is gone before the kubelet measures anew."""
        return True

    def layout(self) -> FileSystemLayout | None:
        """See Source: by the sizes that the kubelet tells."""
        return None

    def there(self, uids: Collection[str]) -> frozenset[str]:
        """See Source."""
        return self._own.there(uids)

    def has_gone(self, uid: str) -> bool | None:
        """See Source."""
        return self._own.has_gone(uid)

    async def run(self) -> None:
        """Ask the kubelet every ten seconds, until cancelled, so that no round waits for it."""
        while True:
            try:
                self._take(await self._kubelet.read(()))
            except ReadingError as error:
                self._lose(error)
            await asyncio.sleep(_ASK_EVERY)

    def _take(self, reading: Reading) -> None:
        """Go by this from now on; one whose pods cannot be read would fail in each round."""
        reading.pods()
        self._told, self._told_at = reading, self._clock.elapsed()
        self._standing.complain(_KUBELET, "")

    def _lose(self, error: ReadingError) -> None:
        """What it has told last goes on counting, and gets old; see Aging."""
        is_news = self._clock.elapsed() - self._told_at > _PASSES_WITHIN and (
            self._standing.complain(_KUBELET, error.message)
        )
        if is_news:
            self._log.warning("the kubelet does not answer", why=error.message)


def _fresher(told: Reading | None, own: Reading) -> Reading:
    if told is None:
        return own._replace(node=replace(own.node, fs=None, runtime=None))
    node = replace(own.node, fs=told.node.fs, runtime=told.node.runtime)

    def pods() -> Sequence[PodStats]:
        measured = {one.pod_ref.uid: one for one in own.pods()}
        known = [_with_memory(one, measured.pop(one.pod_ref.uid, None)) for one in told.pods()]
        # Who is left is newer than the kubelet's answer.
        return [*known, *measured.values()]

    return own._replace(node=node, pods=pods)


def _with_memory(told: PodStats, own: PodStats | None) -> PodStats:
    """Of a pod that has no cgroup any more the kubelet's number tells of what is free by now."""
    if own is None or own.memory is None:
        return replace(told, memory=_NOTHING, process_stats=None, swap=None)
    return replace(told, memory=own.memory, process_stats=own.process_stats, swap=own.swap)
