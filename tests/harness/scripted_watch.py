"""A ListWatch of pods on virtual time, against a scripted cluster."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from random import Random
from typing import Any, cast

from bailiff import cluster as k8s
from bailiff.cluster import Changed, Cluster, Replaced, Unreadable, WatchEvent
from bailiff.kinds import Pod
from tests.harness.clocks import LoopClock
from tests.harness.fake_cluster import FakeCluster
from tests.harness.watching import CountedWatch


def event(kind: str, version: int, name: str = "a", **metadata: Any) -> bytes:
    own = {"name": name, "namespace": "n", "resourceVersion": str(version)} | metadata
    return json.dumps({"type": kind, "object": {"metadata": own}}).encode() + b"\n"


def mark(version: int) -> bytes:
    return event("BOOKMARK", version, annotations={"k8s.io/initial-events-end": "true"})


def refusal(code: int, retry_after: float | None = None) -> k8s.ClusterError:
    kinds = {410: k8s.ExpiredError, 422: k8s.InvalidError, 429: k8s.TooManyRequestsError}
    return kinds.get(code, k8s.ServerError)("no", status=code, retry_after=retry_after)


async def run(
    fake: FakeCluster, seconds: float = 5000
) -> tuple[CountedWatch, list[WatchEvent[Pod]]]:
    """All events of so many virtual seconds."""
    watch = CountedWatch(cast("Cluster", fake), LoopClock(), random=Random(7))
    seen: list[WatchEvent[Pod]] = []
    try:
        async with asyncio.timeout(seconds), aclosing(watch.events()) as events:
            async for one in events:
                seen.append(one)  # noqa: PERF401 - what came before the time is up must stay
    except TimeoutError:
        pass
    return watch, seen


def told(events: list[WatchEvent[Pod]]) -> list[str]:
    def one(event: WatchEvent[Pod]) -> str:
        if isinstance(event, Replaced):
            return "=" + ",".join(sorted(pod.metadata.name for pod in event.items))
        if isinstance(event, Unreadable):
            return "?" + event.metadata.name
        return ("+" if isinstance(event, Changed) else "-") + event.object.metadata.name

    return [one(event) for event in events]
