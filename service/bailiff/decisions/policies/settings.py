"""The policies of a worker: what an operator may ask for beyond what Kubernetes does.

Every one is off by default, so that the default is parity. `reading.read` fills them from a file,
and tells what the types alone cannot.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from bailiff.decisions.policies.fields import (
    Count,
    Fraction,
    LabelSelector,
    Name,
    NamespaceName,
    ObjectName,
    Rate,
    Seconds,
    Settings,
)
from bailiff.decisions.policies.over_time_settings import Gangs, OverTime


class EvictionApi(Settings, frozen=True):
    """Evict through the Eviction API, so that PodDisruptionBudgets hold.

    Attributes:
        deadline_seconds: that long after its deadline a pod which its budget still protects is
            deleted all the same. Absent: never, the budget has the last word.
    """

    deadline_seconds: Seconds | None = None


class Limit(Settings, frozen=True):
    """How fast, and how many at a time; what is absent is not limited.

    Attributes:
        per_second: evictions begun a second, in the long run.
        burst: evictions that may begin at once after a rest. 1: evenly spaced.
        concurrency: evictions under way at a time.
    """

    per_second: Rate | None = None
    burst: Count = 1
    concurrency: Count | None = None


class Limits(Settings, frozen=True):
    """Limits, all of which hold at once.

    Attributes:
        total: for this worker, which is its shard of the nodes.
        per_node: for the pods of any one node.
        per_namespace: for the pods of any one namespace.
        per_zone: for the pods on the nodes of any one zone (topology.kubernetes.io/zone).
        per_slice_publisher: for the pods that go for the taints of devices in the ResourceSlices of
            any one publisher, see `publisher.Publisher`: of one driver on one node.
        per_slice_driver: for those of all publishers of any one driver.
    """

    total: Limit | None = None
    per_node: Limit | None = None
    per_namespace: Limit | None = None
    per_zone: Limit | None = None
    per_slice_publisher: Limit | None = None
    per_slice_driver: Limit | None = None


class DrainOrder(StrEnum):
    """Which of the pods that are due goes first.

    DUE: the one that fell due first. PRIORITY: pods that are neither critical nor a DaemonSet's
    before those that are; among them the lower priority first, then the younger.
    """

    DUE = "Due"
    PRIORITY = "Priority"


class Breaker(Settings, frozen=True):
    """Slows down and stops where so many nodes fail that the fault is likely not theirs.

    A node fails while it carries the NoExecute taint node.kubernetes.io/not-ready or
    node.kubernetes.io/unreachable. The idea is upstream's
    (pkg/controller/nodelifecycle: zone states, secondary eviction rate); the fractions are ours.

    Attributes:
        slow_at: from this fraction of failing nodes on, evictions are slowed down.
        slow_per_second: to that rate, in each zone, or in the cluster.
        stop_at: from this fraction on there are none; above `slow_at`.
        min_nodes: zones, and clusters, of fewer nodes are never slowed down or stopped.
        min_failing: fewer failing nodes never slow down or stop anything; upstream has 3.
    """

    slow_at: Fraction = 0.3
    slow_per_second: Rate = 0.1
    stop_at: Fraction = 0.55
    min_nodes: Count = 3
    min_failing: Count = 3


class Breakers(Settings, frozen=True):
    """Where breakers are.

    Attributes:
        zone: one in each zone, for its own nodes.
        cluster: one for all nodes together.
    """

    zone: Breaker | None = None
    cluster: Breaker | None = None


class Exclusion(Settings, frozen=True):
    """Pods that this worker never evicts.

    Attributes:
        namespaces: all pods of these.
        namespace_selector: all pods of namespaces with such labels.
        pod_selector: pods with such labels, in any namespace.
    """

    namespaces: Annotated[tuple[NamespaceName, ...], Meta(max_length=1000)] = ()
    namespace_selector: LabelSelector | None = None
    pod_selector: LabelSelector | None = None


class Weekday(StrEnum):
    """A day of the week."""

    MONDAY = "Mon"
    TUESDAY = "Tue"
    WEDNESDAY = "Wed"
    THURSDAY = "Thu"
    FRIDAY = "Fri"
    SATURDAY = "Sat"
    SUNDAY = "Sun"


# The hours of a window.
OPENS = r"^([01]\d|2[0-3]):[0-5]\d$"
CLOSES = r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$"


class Window(Settings, frozen=True):
    """Hours in which evictions may begin.

    Attributes:
        days: on which the window opens; none: on all.
        start: HH:MM when it opens.
        end: HH:MM when it closes; before `start`: on the next day. 24:00 is midnight.
        time_zone: an IANA name, as Europe/Berlin.
    """

    start: Annotated[str, Meta(pattern=OPENS)]
    end: Annotated[str, Meta(pattern=CLOSES)]
    days: tuple[Weekday, ...] = ()
    time_zone: Name = "UTC"


class BlastRadius(Settings, frozen=True):
    """Waits for a person where one cause would evict too much.

    A cause is a taint by its key, value and effect, on however many nodes, or a DeviceTaintRule.
    Its pods are those that it evicts now or later. They wait until the node they run on carries the
    annotation `bailiff.dev/acknowledged-taints`, which lists causes as `key=value:NoExecute`,
    `device taint key=value:NoExecute` or `DeviceTaintRule NAME`, with commas.

    Attributes:
        max_pods: more pods than these need to be acknowledged.
        max_namespace_fraction: so does more than this fraction of the pods of a namespace, for
            the pods of that namespace.
        min_namespace_pods: namespaces of fewer pods have no fraction to exceed.
    """

    max_pods: Count | None = None
    max_namespace_fraction: Fraction | None = None
    min_namespace_pods: Count = 5


class Pause(Settings, frozen=True):
    """A switch that stops all evictions: a ConfigMap, which `bailiff pause` writes too.

    Attributes:
        namespace: of the ConfigMap.
        name: of the ConfigMap. While it does not exist, nothing is paused.
    """

    namespace: NamespaceName
    name: ObjectName = "bailiff-pause"


class Policies(Settings, frozen=True):
    """All policies; those that are absent are off.

    Attributes:
        eviction_api: see there.
        limits: see there.
        drain_order: see there.
        breakers: see there.
        pause: see there.
        protection: heed the annotation `bailiff.dev/do-not-evict` of a pod: "true", or until when
            (RFC 3339).
        exclude: see there.
        own_slices_only: a pod goes for the taint of a device only where the ResourceSlice that
            taints it is of the pod's own node, or names no node.
        windows: evictions begin in these only; none: at any time.
        blast_radius: see there.
        over_time: see there.
        gangs: see there.
    """

    eviction_api: EvictionApi | None = None
    limits: Limits = Limits()
    drain_order: DrainOrder = DrainOrder.DUE
    breakers: Breakers = Breakers()
    pause: Pause | None = None
    protection: bool = False
    exclude: Exclusion = Exclusion()
    own_slices_only: bool = False
    windows: Annotated[tuple[Window, ...], Meta(max_length=100)] = ()
    blast_radius: BlastRadius | None = None
    over_time: OverTime | None = None
    gangs: Gangs | None = None


NO_POLICIES = Policies()
