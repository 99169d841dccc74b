"""Device taints in a worker: slices, claims and rules are followed, statuses of rules written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace
from prometheus_client import Counter, Gauge, Histogram

from bailiff.decisions import Round
from bailiff.decisions.device_taints import (
    DEVICE_TAINTS,
    SYSTEM,
    TERMS,
    blamed_slice,
    has_claims,
)
from bailiff.decisions.policies import Publisher
from bailiff.worker.observe.metrics import DELETION_BUCKETS
from bailiff.worker.systems.device_taints.devices import Devices, Kind
from bailiff.worker.systems.device_taints.following import DeviceFollowing
from bailiff.worker.systems.device_taints.rule_status import RuleStatusWriter
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from prometheus_client import CollectorRegistry

    from bailiff.decisions import Finding, Options, Scene
    from bailiff.decisions.device_taints import DeviceTaintIndex
    from bailiff.kinds import Pod
    from bailiff.worker.systems.system import Parts, Work, Writer
    from bailiff.worker.timers.eviction import Eviction


class Follow(Protocol):
    """How devices are kept in step with a cluster: by a DeviceFollowing, or by a test's watches."""

    def __call__(self, devices: Devices) -> Work:
        """What to run for that."""
        ...


class DeviceTaintsInWorker(SystemInWorker):
    """What taints of devices mean for the pods that use them."""

    name = SYSTEM
    condition = TERMS.condition
    by_node = DEVICE_TAINTS.by_node

    def __init__(self, parts: Parts, follow: Follow | None = None) -> None:
        """Listen to the pods, of which those that name claims are kept.

        Args:
            parts: of the worker; without a source nobody follows devices, and no pod is evicted by
                their taints, unless `follow` says how.
            follow: see there; None: as the cluster of the source serves them.
        """
        settings = parts.settings
        self.devices = Devices(settings.options, parts.marks)
        self.metrics = DeviceTaintMetrics(parts.registry, on_paper=settings.on_paper)
        self.rule_status = RuleStatusWriter(parts, self.devices, self.metrics.rule_status_writes)
        self._follow: Work | None = None
        self._options, self._clock = settings.options, parts.clock
        self._explaining = replace(settings.options, explain=True)
        if not settings.options.device_taint_eviction:
            self.devices.switch_off("--no-device-taint-eviction")
        elif follow is not None:
            self._follow = follow(self.devices)
        elif parts.source is not None:
            self._follow = DeviceFollowing(*parts.source, self.devices).run
        parts.mirror.listen_to_pods(self.devices)
        self._export(parts)

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        """See SystemInWorker. Before everything has been listed nothing is said of anybody."""
        if not self.devices.ready:
            return None
        options = self._explaining if explain else self._options
        return _ByIndex(self.devices.index, scene.now, options)

    def followers(self) -> Mapping[str, Work]:
        """See SystemInWorker."""
        return {} if self._follow is None else {"devices": self._follow}

    def writers(self) -> Mapping[str, Writer]:
        """See SystemInWorker."""
        return {"rule status": self.rule_status}

    def elected(self) -> None:
        """See SystemInWorker."""
        self.rule_status.look_at_all()

    def look_again(self) -> None:
        """See SystemInWorker."""
        self.rule_status.look_again()

    def publisher(self, pod: Pod) -> Publisher | None:
        """See SystemInWorker."""
        index = self.devices.index
        why = index.eviction(pod, self._options)
        if why is None:
            return None
        found = blamed_slice(why, index.slices, pod.spec.node_name, self._clock.now())
        if found is None:
            return None
        name, spec = found.metadata.name, found.spec
        return Publisher(driver=spec.driver, node=spec.node_name, resource_slice=name)

    def evicted(self, eviction: Eviction, late: float) -> None:
        """See SystemInWorker."""
        self.metrics.deletions.inc()
        self.metrics.deletion_duration.observe(late)
        self.devices.evicted.ours(eviction.pod)

    @property
    def synced(self) -> bool:
        """See SystemInWorker; true too where nothing is followed."""
        return self.devices.synced

    @property
    def is_taking_in(self) -> bool:
        """See SystemInWorker."""
        return self.devices.is_taking_in

    @property
    def sees(self) -> bool:
        """See SystemInWorker."""
        return self.devices.ready

    def complaints(self) -> list[str]:
        """See SystemInWorker."""
        return self.devices.complaints()

    def describe(self) -> dict[str, Any]:
        """See SystemInWorker."""
        return self.devices.describe()

    def _export(self, parts: Parts) -> None:
        self.metrics.ready.set_function(lambda: self.devices.ready)
        for kind in Kind:
            parts.metrics.mirrored.labels(kind.value).set_function(
                partial(self.devices.count, kind)
            )


class _ByIndex(Round):
    """The index that is kept, at one instant."""

    def __init__(self, index: DeviceTaintIndex, now: datetime, options: Options) -> None:
        self._index = index
        self._now = now
        self._options = options

    def of(self, pod: Pod) -> Finding | None:
        # It need not be there any more: who sees it go asks why.
        if not has_claims(pod):
            return None
        return self._index.decide(pod, self._now, self._options)


class DeviceTaintMetrics:
    """What is counted of device taints; upstream's metrics keep their names and buckets."""

    def __init__(self, registry: CollectorRegistry, *, on_paper: bool) -> None:
        """Register; on paper nothing that counts deletions."""
        real = None if on_paper else registry
        self.deletions = Counter(
            "device_taint_eviction_controller_pod_deletions_total",
            "Total number of Pods deleted by DeviceTaintEvictionController since its start.",
            registry=real,
        )
        self.deletion_duration = Histogram(
            "device_taint_eviction_controller_pod_deletion_duration_seconds",
            "Latency, in seconds, between the time when a device taint effect has been activated "
            "and a Pod's deletion via DeviceTaintEvictionController.",
            buckets=DELETION_BUCKETS,
            registry=real,
        )
        self.ready = Gauge(
            "bailiff_worker_device_taints",
            "1 while pods are evicted by the taints of their devices; 0 where that is switched "
            "off, the cluster serves no devices, does not let us see them, or has not listed them.",
            registry=registry,
        )
        self.rule_status_writes = Counter(
            "bailiff_worker_rule_status_writes_total",
            "Writes of the status of DeviceTaintRules by fate: written, gone, replaced, conflict, "
            "denied, overloaded, unreachable, or fenced because another worker leads.",
            ["fate"],
            registry=registry,
        )
