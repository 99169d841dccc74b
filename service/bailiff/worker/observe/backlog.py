"""What is to come and what holds it back, counted whenever the metrics are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bailiff.decisions.policies import CLUSTER, BreakerLevel, Cause
from bailiff.worker.execute.outcomes import RETRIES, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import Metric

    from bailiff.worker.gate import Gate
    from bailiff.worker.timers.pending import PendingEvictions

_LEVELS = {BreakerLevel.NORMAL: 0, BreakerLevel.SLOW: 1, BreakerLevel.STOPPED: 2}
# A budget's word has the name of its cause, whether a policy holds the pod besides or not.
_RETRIES = {outcome.value: outcome.value for outcome in RETRIES} | {
    Outcome.BLOCKED.value: Cause.BUDGET.value,
    Outcome.UNCOUNTED.value: Cause.OVER_TIME.value,
}


class Backlog(Collector):
    """The metrics of what is pending and does not run."""

    def __init__(self, pending: PendingEvictions, gate: Gate) -> None:
        self._pending = pending
        self._gate = gate
        # What `count_timers` of the pending ones says, where somebody has counted already.
        self.timers: tuple[int, int] | None = None

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: a registry that has this need not count."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """See Collector."""
        backlog = GaugeMetricFamily(
            "bailiff_worker_backlog",
            "Evictions that do not run yet, by cause: waiting for their time; due, and waiting for "
            "a free place; the policy that holds them; or the outcome of the last attempt.",
            labels=["cause"],
        )
        for cause, count in self.counts().items():
            backlog.add_metric([cause], count)
        yield backlog
        yield from self._breakers()

    def counts(self) -> dict[str, int]:
        """How many, by cause; all causes are there."""
        waiting, due = self.timers or self._pending.count_timers()
        counts = {"waiting": waiting, "due": due} | dict.fromkeys(Cause, 0)
        counts |= dict.fromkeys(_RETRIES.values(), 0)
        for outcome, count in self._pending.retrying.items():
            counts[_RETRIES[outcome]] += count
        for cause, count in self._gate.counts().items():
            counts[cause] += count
        return counts

    def _breakers(self) -> Iterator[Metric]:
        self._gate.judge_breakers()
        zones = self._gate.facts.zones
        yield GaugeMetricFamily(
            "bailiff_worker_cluster_breaker_state",
            "State of the cluster's breaker: 0 normal, 1 slows evictions down, 2 stops evictions.",
            _LEVELS[zones.state(CLUSTER).level],
        )
        family = GaugeMetricFamily(
            "bailiff_worker_breaker_state",
            "State of a zone's breaker: 0 normal, 1 slows evictions down, 2 stops evictions.",
            labels=["zone"],
        )
        for zone, state in zones.states.items():
            if zone != CLUSTER:
                family.add_metric([zone], _LEVELS[state.level])
        yield family
