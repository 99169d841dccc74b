"""What is taken of the worker for those who look at it: by its own loop, as immutable values."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

from bailiff.serving import Complaint, Verdicts
from bailiff.worker.mirror.slices import in_turns
from bailiff.worker.observe.listing import list_pending
from bailiff.worker.observe.wanted import Line, Report, Taken, line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prometheus_client import CollectorRegistry, Metric

    from bailiff.worker.mirror.freshness import Freshness
    from bailiff.worker.observe.queue_query import QueueQuery
    from bailiff.worker.observe.wanted import Wanted
    from bailiff.worker.policy.control import PolicyControl
    from bailiff.worker.shadow.comparison import Comparison
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.worker import Worker


# Of an API server's words.
_LONGEST = 500


class Complaining(Protocol):
    """Who may know that something is wrong."""

    def complaints(self) -> list[str]:
        """What is wrong, for people; empty if nothing is."""
        ...


_NONE: Mapping[str, Complaining] = {}


class Observed:
    """A worker and all that is told of it. Its event loop alone may call this."""

    def __init__(
        self,
        worker: Worker,
        registry: CollectorRegistry,
        freshness: Freshness,
        comparison: Comparison | None = None,
        policies: PolicyControl | None = None,
        alarms: Mapping[str, Complaining] = _NONE,
    ) -> None:
        """Prepare.

        Args:
            worker: whose.
            registry: all metrics of the process.
            freshness: of the worker's watches.
            comparison: what a shadow reports; None: it is none.
            policies: where there are any.
            alarms: who may complain, besides the freshness, the worker's systems and the policies,
                by a word that names what is wrong for whoever asks.
        """
        self._worker = worker
        self._registry = registry
        self._freshness = freshness
        self._comparison = comparison
        self._policies = policies
        told = _NONE if policies is None else {"policies": policies}
        watches: Mapping[str, Complaining] = {"watches": freshness}
        self._alarms = {**watches, **worker.systems, **alarms, **told}

    def verdicts(self) -> Verdicts:
        """What /healthz and /readyz say: ended tasks; nothing listed yet, or who complains."""
        health = _complaints("tasks", self._worker.liveness.complaints())
        return Verdicts(health, self._wrong())

    def _wrong(self) -> tuple[Complaint, ...]:
        if not self._worker.mirror.synced:
            missing = "nodes and pods have not been listed yet"
            return _complaints("lists", (missing, *self._freshness.errors()))
        told = (_complaints(check, one.complaints()) for check, one in self._alarms.items())
        return tuple(itertools.chain.from_iterable(told))

    async def take(self, wanted: Wanted) -> Taken:
        """This, as it is now; what takes long is done by slices."""
        what = await self._take(wanted)
        clock = self._worker.clock
        return Taken(what, clock.monotonic(), clock.now())

    async def _take(self, wanted: Wanted) -> Any:  # noqa: ANN401 - see Taken
        match wanted:
            case Report.METRICS:
                return await self._metrics()
            case Report.POLICIES:
                return None if self._policies is None else self._policies.describe()
            case Report.SHADOW:
                return None if self._comparison is None else self._comparison.report()
        among = self._named(wanted) if line_of(wanted) is Line.NAMED else None
        listing = await list_pending(self._worker.pending, wanted, among)
        return self._worker.role() | self._picture(), listing

    async def _metrics(self) -> tuple[Metric, ...]:
        backlog = self._worker.backlog
        # Of 150,000 that are due to count them takes longer than all the rest.
        backlog.timers = await in_turns(self._worker.pending.counting_timers())
        try:
            return tuple(self._registry.collect())
        finally:
            backlog.timers = None

    def _named(self, query: QueueQuery) -> Iterable[Eviction]:
        """Those of pods of this name: the one that there is, and what still runs."""
        key = (query.namespace, query.name)
        pod = self._worker.mirror.pod(key)
        pending = None if pod is None else self._worker.pending.get(pod.metadata.uid)
        running = {one.uid: one for one in self._running(key)}
        return (running if pending is None else {pending.uid: pending} | running).values()

    def _running(self, key: tuple[str, str]) -> Iterator[Eviction]:
        for one in self._worker.gate.running:
            if (one.pod.metadata.namespace, one.pod.metadata.name) == key:
                yield one

    def _picture(self) -> dict[str, Any]:
        mirror, systems = self._worker.mirror, self._worker.systems
        return {
            "synced": mirror.synced and all(one.synced for one in systems.values()),
            "notReady": [one._asdict() for one in self._wrong()],
            "nodes": mirror.node_count,
            "pods": mirror.pod_count,
            "systems": {name: one.describe() for name, one in systems.items()},
        }


def _complaints(check: str, details: Iterable[str]) -> tuple[Complaint, ...]:
    return tuple(Complaint(check, one[:_LONGEST]) for one in details)
