"""What counts evictions over time: a ConfigMap in memory, and wishes of made-up pods."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from msgspec.structs import replace

from bailiff.cluster import Cluster, ConflictError, NotFoundError
from bailiff.decisions.policies import (
    Circumstances,
    Hold,
    OverTime,
    OverTimeBudget,
    Store,
    Wish,
    read_book,
    wishes_of,
)
from bailiff.kinds import ConfigMap, ObjectMeta
from bailiff.tally import Tally
from tests.harness.clocks import LoopClock
from tests.harness.kinds import pod_of

_HERE = Store().namespace, Store().name


def budget(evictions: int = 2, seconds: int = 60, **settings: Any) -> OverTime:
    """The settings of one budget, called `b`."""
    one = OverTimeBudget(name="b", evictions=evictions, seconds=seconds)
    return OverTime(budgets=(one,), **settings)


def node_budget(nodes: int, seconds: int = 60) -> OverTime:
    """The settings of one budget of nodes, called `b`."""
    return OverTime(budgets=(OverTimeBudget(name="b", nodes=nodes, seconds=seconds),))


def wishes(settings: OverTime, name: str) -> list[Wish]:
    """What is to be counted before the pod of this name goes; its UID is its name."""
    pod = pod_of(name, "n1", namespace="shop", uid=name)
    found = wishes_of(Circumstances(pod=pod, gang=None), settings)
    assert not isinstance(found, Hold)
    return found


class OneConfigMap:
    """A cluster of nothing but the ConfigMap of the default settings, which others may write, too.

    Attributes:
        found: as it is; None: there is none.
        failures: what the next requests come to instead.
        latency: seconds for each request.
        reads, writes: how many were answered.
        sent: the data of the last write over another.
    """

    def __init__(self) -> None:
        self.found: ConfigMap | None = None
        self.failures: list[Exception] = []
        self.latency = 0.0
        self.reads = self.writes = 0
        self.sent: dict[str, str | None] = {}
        self._version = 0

    async def get(self, _resource: Any, name: str, namespace: str) -> ConfigMap:
        await self._arrive()
        self.reads += 1
        return self._there(namespace, name)

    async def create(self, _resource: Any, body: Any, namespace: str, **_: Any) -> ConfigMap:
        await self._arrive()
        assert (namespace, body["metadata"]["name"]) == _HERE
        if self.found is not None:
            raise ConflictError("there is one", status=409)
        return self.put(body["data"])

    async def patch(
        self, _resource: Any, name: str, namespace: str, body: Any, **_: Any
    ) -> ConfigMap:
        await self._arrive()
        assert (namespace, name) == _HERE
        found = self._there(namespace, name)
        seen = {"uid": found.metadata.uid, "resourceVersion": found.metadata.resource_version}
        if body["metadata"] != seen:
            raise ConflictError("another version", status=409)
        self.sent = body["data"]
        merged = {**found.data, **body["data"]}
        return self.put({key: text for key, text in merged.items() if text is not None})

    def put(self, data: dict[str, str]) -> ConfigMap:
        """As anybody may write it."""
        self.writes += 1
        self._version += 1
        uid = f"u{self._version}" if self.found is None else self.found.metadata.uid
        meta = ObjectMeta(name="bailiff-evictions", uid=uid, resource_version=str(self._version))
        self.found = ConfigMap(metadata=meta, data=data)
        return self.found

    def delete(self) -> None:
        """As anybody may delete it."""
        self.found = None

    def counted(self, name: str = "b") -> int:
        """How many evictions stand in it."""
        text = None if self.found is None else self.found.data.get(name)
        if text is None:
            return 0
        return sum(len(one.by_pod) for one in read_book({name: text})[name].columns.values())

    def _there(self, namespace: str, name: str) -> ConfigMap:
        if self.found is None or (namespace, name) != _HERE:
            details = {"group": "", "kind": "configmaps", "name": name}
            raise NotFoundError("none", status=404, reason="NotFound", details=details)
        return self.found

    async def _arrive(self) -> None:
        await asyncio.sleep(self.latency)
        if self.failures:
            raise self.failures.pop(0)


def other_store(settings: OverTime, name: str) -> OverTime:
    """The same, counted in another ConfigMap."""
    return replace(settings, store=replace(settings.store, name=name))


def tally_of(server: OneConfigMap) -> Tally:
    """Counts in it, on virtual time."""
    return Tally(cast("Cluster", server), LoopClock())


async def tries(tally: Tally, names: str, settings: OverTime | None = None) -> list[Hold | None]:
    """What all of these are told who ask at the same time; default: by a budget of two."""
    by = settings or budget(2)
    return await asyncio.gather(*(tally.count(wishes(by, name), by) for name in names))
