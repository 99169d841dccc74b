"""What an agent counts; upstream's metrics keep their names and buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.agent.fates import Fate
    from bailiff.decisions.pressure.report import PressureReport

# Seconds from a notice of the kernel to the beginning of the round that it makes.
_SOON = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5, 30)


# That the pods were listed for the first time, and that the agent is to end.
_NOT_OF_THE_KERNEL = {"pods", "end"}
_FREED = ("container", "sandbox", "image")


class AgentMetrics:
    """All of them.

    Attributes:
        mirror_age: is to be told by who follows the API server.
    """

    def __init__(
        self,
        since_round: Callable[[], float],
        *,
        on_paper: bool,
        registry: CollectorRegistry | None = None,
    ) -> None:
        """Register.

        Args:
            since_round: seconds since a round has ended.
            on_paper: nobody is evicted, so that nothing counts evictions.
            registry: where they go; None: into one of their own.
        """
        self.registry = registry = registry or CollectorRegistry()
        self._on_paper = on_paper
        self._rounds = Counter(
            "bailiff_agent_rounds",
            "Rounds that were begun, by what: time, or a notice of the kernel by its way.",
            ["by"],
            registry=registry,
        )
        self._notice = Histogram(
            "bailiff_agent_notice_seconds",
            "Time from a notice of the kernel to the beginning of the round that it makes, the "
            "clean-up of the round before included.",
            buckets=_SOON,
            registry=registry,
        )
        self._unknown = Counter(
            "bailiff_agent_unknown_rounds",
            "Rounds in which nothing could be decided, by the reason.",
            ["reason"],
            registry=registry,
        )
        self._evictions = Counter(
            "kubelet_evictions",
            "Cumulative number of pod evictions by eviction signal.",
            ["eviction_signal"],
            registry=None if on_paper else registry,
        )
        self._attempts = Counter(
            "bailiff_agent_attempts",
            "Attempts to evict, by signal and fate: evicted, stopped (the API server was away), "
            "gone, refused, failed; onPaper: in a shadow or a dry run.",
            ["eviction_signal", "fate"],
            registry=registry,
        )
        self._available = Gauge(
            "bailiff_agent_available",
            "Available amount of a signal in bytes, inodes or processes, at the last round.",
            ["eviction_signal"],
            registry=registry,
        )
        self._met = Gauge(
            "bailiff_agent_threshold_met",
            "1 if a threshold of this signal was met at the last round, else 0.",
            ["eviction_signal"],
            registry=registry,
        )
        self._freed = Counter(
            "bailiff_agent_freed",
            "Containers, sandboxes and images that were removed to free the node, by fate.",
            ["what", "fate"],
            registry=registry,
        )
        # From nought, so that the first is seen as a rise.
        for what in _FREED:
            for fate in ("onPaper",) if on_paper else ("freed", "failed"):
                self._freed.labels(what, fate)
        self.mirror_age = Gauge(
            "bailiff_agent_mirror_age_seconds",
            "Seconds by which what is known of the node and its pods may lie behind the API "
            "server; 0 while its watches are well, and where no API server is asked.",
            registry=registry,
        )
        Gauge(
            "bailiff_agent_since_round_seconds",
            "Time since a round has ended; a clean-up may take minutes.",
            registry=registry,
        ).set_function(since_round)

    def begun(self, by: Iterable[str], ago: float) -> None:
        """A round, or a look while the node is freed, begins."""
        ways = tuple(by)
        for one in ways or ("time",):
            self._rounds.labels(one).inc()
        if set(ways) - _NOT_OF_THE_KERNEL:
            self._notice.observe(ago)

    def unknown(self, reason: str) -> None:
        """It could not be decided."""
        self._unknown.labels(reason).inc()

    def judged(self, report: PressureReport) -> None:
        """What it said."""
        met: dict[str, bool] = {}
        # Of what is not measured any more nothing is told.
        self._available.clear()
        self._met.clear()
        for one in report.thresholds:
            signal = one.threshold.signal.value
            met[signal] = met.get(signal, False) or one.met
            if one.available is not None:
                self._available.labels(signal).set(one.available)
        for signal, is_met in met.items():
            self._met.labels(signal).set(int(is_met))

    def evicted(self, signal: str, fate: Fate) -> None:
        """An attempt has ended."""
        self._attempts.labels(signal, "onPaper" if self._on_paper else fate.value).inc()
        if fate.value in ("evicted", "stopped"):
            self._evictions.labels(signal).inc()

    def freed(self, what: str, fate: str) -> None:
        """A container, a sandbox or an image was removed, or could not be."""
        self._freed.labels(what, fate).inc()
