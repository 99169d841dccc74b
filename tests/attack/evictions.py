"""Pods that fall due one after the other while the worker is attacked, and how late they go."""

from __future__ import annotations

import asyncio
import secrets
import time

from bailiff.cluster import Cluster
from tests.chaos.fleet import Fleet
from tests.harness.api import PODS

# Pods that fall due in one second, and seconds between two looks at them.
_PER_SECOND = 3
_LOOK_EVERY = 0.05
_NODES = 5
_PATIENCE = 20.0


class TimedPods:
    """The pods of one attack."""

    def __init__(self, cluster: Cluster) -> None:
        self._fleet = Fleet(cluster, f"timed-{secrets.token_hex(3)}")
        self._seen: dict[str, float] = {}

    async def set_up(self, seconds: int) -> None:
        """Pods that fall due during as many seconds from now on, and some after."""
        await self._fleet.set_up(_NODES)
        await self._fleet.spread(_PER_SECOND * seconds, self._fleet.nodes, seconds)
        await self._fleet.taint(self._fleet.nodes)

    async def run(self) -> None:
        """Look until all have gone, or for too long behind the last deadline."""
        last = max(map(self._fleet.deadline, self._fleet.pods.values()))
        while len(self._seen) < len(self._fleet.pods) and time.time() < last + _PATIENCE:
            await self._look()
            await asyncio.sleep(_LOOK_EVERY)

    def late(self) -> list[float]:
        """Seconds after its deadline, for each pod; infinite for one that has not gone."""
        gone = self._seen
        return [
            gone.get(uid, float("inf")) - self._fleet.deadline(pod)
            for uid, pod in self._fleet.pods.items()
        ]

    async def _look(self) -> None:
        listed = await self._fleet.cluster.list(PODS, namespace=self._fleet.namespace)
        now = time.time()
        staying = {
            pod["metadata"]["uid"]
            for pod in listed.items
            if "deletionTimestamp" not in pod["metadata"]
        }
        for uid in self._fleet.pods.keys() - staying:
            self._seen.setdefault(uid, now)
