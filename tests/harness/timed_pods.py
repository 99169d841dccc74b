"""Pods that are to go within seconds of a taint, and a watch of its own that sees them go."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from bailiff.clock import SystemClock
from bailiff.cluster import PODS, Changed, Deleted, ListWatch, Replaced
from tests.harness.api import uid_of
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.working import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from bailiff.cluster import Cluster
    from bailiff.kinds import Pod
    from tests.harness.api import Bench

PODS_COUNT = 200
# Seconds that the last of them tolerates the taint.
LONGEST = 6
_AT_A_TIME = 20


class Witness:
    """An independent watch.

    Attributes:
        left: when each pod, by UID, was first seen on its way out.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.left: dict[str, float] = {}
        self._watch = ListWatch(cluster, PODS, SystemClock())

    async def run(self) -> None:
        """Look on until cancelled."""
        async with contextlib.aclosing(self._watch.events()) as events:
            async for event in events:
                match event:
                    case Replaced(items=items):
                        self._saw(items)
                    case Changed(object=pod):
                        self._saw([pod])
                    case Deleted(object=pod):
                        self._saw([pod], gone=True)

    def _saw(self, pods: Iterable[Pod], *, gone: bool = False) -> None:
        for pod in pods:
            if gone or pod.is_terminating:
                self.left.setdefault(pod.metadata.uid, time.monotonic())


class TimedPods:
    """The pods, on one node.

    Attributes:
        node: its name.
        due: by UID, seconds after the taint, 1 to LONGEST.
        tainted: when the node was.
    """

    def __init__(self, bench: Bench, witness: Witness) -> None:
        self._bench = bench
        self._witness = witness

    async def set_up(self) -> None:
        """Make node and pods."""
        self.node = await self._bench.node()
        gate = asyncio.Semaphore(_AT_A_TIME)

        async def make(number: int) -> tuple[str, int]:
            async with gate:
                seconds = 1 + number * LONGEST // PODS_COUNT
                tolerations = [tolerating(seconds)]
                name = f"pod-{number}"
                pod = await self._bench.pod(name, node=self.node, tolerations=tolerations)
                return uid_of(pod), seconds

        self.due = dict(await asyncio.gather(*(make(number) for number in range(PODS_COUNT))))

    async def doom(self) -> None:
        """Taint the node, and wait until some pods have left, and others not."""
        self.tainted = time.monotonic()
        await self._bench.taint(self.node, taint(KEY))
        await until(lambda: self.gone)

    @property
    def gone(self) -> int:
        """How many have left."""
        return sum(uid in self._witness.left for uid in self.due)

    async def all_gone(self) -> None:
        """Wait for that."""
        await until(lambda: self.gone == len(self.due), within=90)

    def early(self) -> list[str]:
        """Those that left before their time."""
        left, tainted = self._witness.left, self.tainted
        return [uid for uid, seconds in self.due.items() if left[uid] - tainted < seconds]


@contextlib.asynccontextmanager
async def witnessed_pods(
    cluster: Cluster, bench: Bench
) -> AsyncIterator[tuple[TimedPods, Witness]]:
    """The pods, and the watch that sees them."""
    witness = Witness(cluster)
    pods = TimedPods(bench, witness)
    await pods.set_up()
    watching = asyncio.create_task(witness.run())
    try:
        yield pods, witness
    finally:
        watching.cancel()
