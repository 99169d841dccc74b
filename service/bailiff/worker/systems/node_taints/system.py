"""Node taints in a worker: followed with the nodes, written down where they carry no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from prometheus_client import Counter, Histogram

from bailiff.decisions.node_taints import NODE_TAINTS, SYSTEM, TERMS, NodeTaints
from bailiff.worker.observe.metrics import DELETION_BUCKETS
from bailiff.worker.systems.node_taints.annotator import Annotator
from bailiff.worker.systems.node_taints.first_seen import FirstSeen
from bailiff.worker.systems.node_taints.undated_taints import UndatedTaints
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import CollectorRegistry

    from bailiff.decisions import Round, Scene
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.meta import Value
    from bailiff.worker.systems.system import Parts, Writer
    from bailiff.worker.timers.eviction import Eviction


class NodeTaintsInWorker(SystemInWorker):
    """What NoExecute taints of nodes mean for their pods."""

    name = SYSTEM
    condition = TERMS.condition
    by_node = NODE_TAINTS.by_node

    def __init__(self, parts: Parts) -> None:
        """Listen to the nodes."""
        settings = parts.settings
        self.first_seen = FirstSeen(parts.clock)
        self.metrics = NodeTaintMetrics(parts.registry, on_paper=settings.on_paper)
        self.annotator = Annotator(parts, self.first_seen, self.metrics.annotations)
        self._options = settings.options
        self._explaining = replace(settings.options, explain=True)
        self._mirror = parts.mirror
        self._undated: UndatedTaints | None = None
        parts.mirror.listen_to_nodes(self.first_seen)

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        """See SystemInWorker. The pods of a node that is gone are pod garbage collection's."""
        node = scene.node
        if node is None:
            return None
        options = self._explaining if explain else self._options
        since = self.first_seen.since(node)
        return NodeTaints(node, scene.now, options=options, since=since)

    def evaluated(self, node: Node, report: Value | None) -> None:  # noqa: ARG002 - it has none
        """See SystemInWorker."""
        if self.first_seen.wanted_note(node) is not None:
            self.annotator.remind(node.metadata.name)

    def writers(self) -> Mapping[str, Writer]:
        """See SystemInWorker."""
        return {"annotator": self.annotator}

    def evicted(self, eviction: Eviction, late: float) -> None:  # noqa: ARG002 - counted alike
        """See SystemInWorker."""
        self.metrics.deletions.inc()
        self.metrics.deletion_duration.observe(late)

    def look_around(self) -> None:
        """See SystemInWorker."""
        if self._undated is None:
            self._undated = UndatedTaints(self._mirror)
        else:
            self._undated.forget_gone()

    def start_is_unknown(self, pod: Pod) -> bool:
        """See SystemInWorker."""
        return self._undated is not None and self._undated.on(pod.spec.node_name)


class NodeTaintMetrics:
    """What is counted of node taints; upstream's metrics keep their names and buckets."""

    def __init__(self, registry: CollectorRegistry, *, on_paper: bool) -> None:
        """Register; on paper nothing that counts deletions."""
        real = None if on_paper else registry
        self.deletions = Counter(
            "taint_eviction_controller_pod_deletions_total",
            "Total number of Pods deleted by TaintEvictionController since its start.",
            registry=real,
        )
        self.deletion_duration = Histogram(
            "taint_eviction_controller_pod_deletion_duration_seconds",
            "Latency, in seconds, between the time when a taint effect has been activated for the "
            "Pod and its deletion via TaintEvictionController.",
            buckets=DELETION_BUCKETS,
            registry=real,
        )
        self.annotations = Counter(
            "bailiff_worker_node_annotations_total",
            "Writes of when a node's untimed taints were first seen, by fate: written, outdated "
            "because somebody else wrote, failed, or fenced because another worker leads.",
            ["fate"],
            registry=registry,
        )
