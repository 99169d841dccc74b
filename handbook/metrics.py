"""The reference of metrics: all that the code registers, by the process that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry

from bailiff.access.metrics import AccessMetrics
from bailiff.agent.metrics import AgentMetrics
from bailiff.bootstrap.tracing import count_spans
from bailiff.clock import SystemClock
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.policy_file import PolicyMetrics
from bailiff.rest_api.metrics import Metrics as RestMetrics
from bailiff.serving.refusals import Refusals
from bailiff.serving.tls import TlsMetrics
from bailiff.webhooks.metrics import AdmissionMetrics
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
from bailiff.worker.systems.node_loss.metrics import NodeLossMetrics
from bailiff.worker.systems.pressure.metrics import PressureMetrics
from handbook.text import one_line, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client import Metric
    from prometheus_client.registry import Collector

HEAD = """<!-- Written by `make reference`: do not edit. -->
# Metrics

This page lists every metric of Bailiff, by the process whose `/metrics` shows it. `make reference`
writes the page from the code. A process shows Python's own metrics as well (`python_*`,
`process_*`). [Monitoring](../operate/monitoring.md) tells how to scrape them, and which alerts to
set. The values of `outcome` and of `cause` are explained in [outcomes](outcomes.md).
"""


class Family(NamedTuple):
    """A metric, as a scrape names it.

    Attributes:
        name: with `_total` where it is a counter.
        kind: counter, gauge or histogram.
        labels: their names.
        text: what it counts.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    text: str


def of_serve(registry: CollectorRegistry) -> None:
    """Register what `bailiff serve` shows, with all that can be switched on."""
    RestMetrics(registry)
    GrpcMetrics(registry)
    AdmissionMetrics(registry)
    of_ports(registry)
    PolicyMetrics(registry)


def of_worker(registry: CollectorRegistry) -> None:
    """The same of `bailiff worker`, with the systems that are off by default."""
    clock = SystemClock()
    Worker(ShadowActions(Comparison(clock)), clock, registry, WorkerSettings())
    PressureMetrics(registry, on_paper=False)
    NodeLossMetrics(registry, on_paper=False)
    for kind in (ApiMetrics, WatchMetrics, PolicyMetrics, NewsMetrics):
        kind(registry)
    of_ports(registry)


def of_paper(registry: CollectorRegistry) -> None:
    """What a worker shows in the place of attempts in a dry run and as a shadow."""
    registry.register(WorkerMetrics(CollectorRegistry(), on_paper=True).attempts)


def of_agent(registry: CollectorRegistry) -> None:
    """What `bailiff agent` shows."""
    AgentMetrics(lambda: 0.0, on_paper=False, registry=registry)
    count_spans(registry)


def of_ports(registry: CollectorRegistry) -> None:
    """What both processes show of their ports: refusals, certificates, who asks; and of traces."""
    Refusals(registry)
    count_spans(registry)
    TlsMetrics(registry)
    registry.register(AccessMetrics())


PROCESSES: dict[str, tuple[Callable[[CollectorRegistry], None], ...]] = {
    "bailiff serve": (of_serve,),
    "bailiff worker": (of_worker, of_paper),
    "bailiff agent": (of_agent,),
}


def families(process: str) -> list[Family]:
    """All metrics of a process, by name."""
    registries = [CollectorRegistry() for _ in PROCESSES[process]]
    for register, registry in zip(PROCESSES[process], registries, strict=True):
        register(registry)
    found = (one for registry in registries for one in in_registry(registry))
    return sorted(found, key=lambda one: one.name)


def page() -> str:
    """The whole page."""
    heads = ("metric", "type", "meaning")
    parts = (f"## {name}\n\n{table(heads, map(_row, families(name)))}" for name in PROCESSES)
    return "\n".join([HEAD, *parts])


def _row(one: Family) -> tuple[str, str, str]:
    labels = f"{{{','.join(one.labels)}}}" if one.labels else ""
    return f"`{one.name}{labels}`", one.kind, one_line(one.text)


def _collectors(registry: CollectorRegistry) -> list[Collector]:
    # The library tells what was registered in no other way.
    return [*registry._collector_to_names]  # noqa: SLF001


def in_registry(registry: CollectorRegistry) -> Iterator[Family]:
    """The metrics of a registry, those that have counted nothing as well."""
    for collector in _collectors(registry):
        # A metric without samples tells its labels itself alone.
        labels = getattr(collector, "_labelnames", None)
        for one in collector.collect():
            yield _family(one, labels)


def _family(one: Metric, labels: tuple[str, ...] | None) -> Family:
    name = f"{one.name}_total" if one.type == "counter" else one.name
    own = labels if labels is not None else vars(one).get("_labelnames", ())
    return Family(name, one.type, tuple(own), one.documentation)
