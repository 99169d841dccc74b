"""Every metric that a process of Bailiff tells, with its labels, as its registries have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from bailiff.access.metrics import AccessMetrics
from bailiff.agent.metrics import AgentMetrics
from bailiff.bootstrap.metrics import new_registry
from bailiff.clock import SystemClock
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.policy_file import PolicyMetrics
from bailiff.rest_api.metrics import Metrics
from bailiff.serving.refusals import Refusals
from bailiff.serving.tls import TlsMetrics
from bailiff.webhooks.metrics import AdmissionMetrics, Result
from bailiff.worker import (
    ApiMetrics,
    Comparison,
    ShadowActions,
    WatchMetrics,
    Worker,
    WorkerSettings,
)
from bailiff.worker.observe.metrics import WorkerMetrics
from bailiff.worker.policy.news import NewsMetrics
from bailiff.worker.systems.device_taints.system import DeviceTaintMetrics
from bailiff.worker.systems.node_loss.metrics import NodeLossMetrics
from bailiff.worker.systems.node_taints.system import NodeTaintMetrics
from bailiff.worker.systems.pressure.metrics import PressureMetrics

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the operator, or whoever scrapes, puts to each.
OF_THE_TARGET = {"namespace", "job", "pod", "instance"}
_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


def known() -> dict[str, set[str]]:
    """The labels of each series, by its name."""
    found: dict[str, set[str]] = {}
    for registry in (*_of_the_worker(), _of_the_api(), _of_the_agent(), new_registry()):
        for name, labels in _series(registry):
            found.setdefault(name, set()).update(labels)
    return found


def _series(registry: CollectorRegistry) -> Iterator[tuple[str, set[str]]]:
    for collector in list(registry._collector_to_names):
        kept: Any = collector
        if hasattr(kept, "_labelnames"):
            for suffix in _SUFFIXES[kept._type]:
                bounded = {"le"} if suffix == "_bucket" else set()
                yield kept._name + suffix, {*kept._labelnames, *bounded}
            continue
        # Those that are counted when they are read.
        for family in collector.collect():
            own = getattr(family, "_labelnames", ())
            for suffix in _SUFFIXES[family.type]:
                bounded = {"le"} if suffix == "_bucket" else set()
                yield family.name + suffix, {*own, *bounded}


def _of_the_worker() -> Iterator[CollectorRegistry]:
    """One that acts, and one that does not: attempts have another name there."""
    for on_paper in (False, True):
        registry, clock = CollectorRegistry(), SystemClock()
        WorkerMetrics(registry, on_paper=on_paper)
        for system in (NodeTaintMetrics, DeviceTaintMetrics, PressureMetrics, NodeLossMetrics):
            system(registry, on_paper=on_paper)
        for more in (ApiMetrics, PolicyMetrics, WatchMetrics, NewsMetrics):
            more(registry)
        bare = ShadowActions(Comparison(clock))
        registry.register(Worker(bare, clock, CollectorRegistry(), WorkerSettings()).backlog)
        yield registry


def _of_the_api() -> CollectorRegistry:
    registry = CollectorRegistry()
    GrpcMetrics(registry)
    TlsMetrics(registry)
    Refusals(registry)
    registry.register(AccessMetrics())
    # Their labels are told with what they have counted.
    Metrics(registry).observe("GET", "/version", 200, 0.1)
    AdmissionMetrics(registry).observe("validate/pods", Result.ALLOWED, 0.1)
    return registry


def _of_the_agent() -> CollectorRegistry:
    return AgentMetrics(lambda: 0.0, on_paper=False).registry
