"""Settings of what holds for all evictors together: budgets over time, and gangs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from bailiff.decisions.policies.fields import (
    LabelSelector,
    NamespaceName,
    ObjectName,
    Settings,
)
from bailiff.kinds.names import LABEL_PATTERN, MAX_LABEL

# A month; of what is counted for longer the store would have to keep too much.
MAX_SPAN = 31 * 24 * 3600
MAX_EVICTIONS = 10_000
# Of the counts in their ConfigMap, about 16,000 evictions. It could hold 1 MiB, and each eviction
# writes all of it.
MAX_BYTES = 512 * 1024
# What budgets may fill of that which count apart, all together: whoever has many namespaces is not
# to fill it for the others.
MAX_BYTES_APART = MAX_BYTES // 2


class Per(StrEnum):
    """What a budget counts apart: all pods together, or those of each namespace, node or zone."""

    CLUSTER = "Cluster"
    NAMESPACE = "Namespace"
    NODE = "Node"
    ZONE = "Zone"


class OverTimeBudget(Settings, frozen=True, kw_only=True):
    """At most so many evictions in any span of so many seconds, or evictions from so many nodes.

    Attributes:
        name: a DNS label; the key of the ConfigMap under which they are counted.
        evictions: how many.
        nodes: instead of `evictions`: from how many nodes, however many pods go from each.
        seconds: how long the span is.
        per: what is counted apart.
        namespaces: pods of these only; none: of all.
        pod_selector: pods with such labels only; absent: all.
    """

    name: Annotated[str, Meta(pattern=LABEL_PATTERN, max_length=MAX_LABEL)]
    evictions: Annotated[int, Meta(ge=1, le=MAX_EVICTIONS)] | None = None
    nodes: Annotated[int, Meta(ge=1, le=MAX_EVICTIONS)] | None = None
    seconds: Annotated[int, Meta(ge=1, le=MAX_SPAN)]
    per: Per = Per.CLUSTER
    namespaces: Annotated[tuple[NamespaceName, ...], Meta(max_length=1000)] = ()
    pod_selector: LabelSelector | None = None

    @property
    def most(self) -> int:
        """How many evictions, or nodes; 0 where neither is said, which no file may."""
        return self.evictions or self.nodes or 0


class Store(Settings, frozen=True):
    """The ConfigMap that holds the counts, for all replicas of webhook and worker.

    Attributes:
        namespace: of the ConfigMap.
        name: of the ConfigMap; it is created where there is none.
    """

    namespace: NamespaceName = "kube-system"
    name: ObjectName = "bailiff-evictions"


class Unreadable(StrEnum):
    """What happens to evictions that a budget counts while the counts cannot be read or written.

    REFUSE: they wait. ALLOW: they go, and nobody counts them.
    """

    REFUSE = "Refuse"
    ALLOW = "Allow"


class OverTime(Settings, frozen=True):
    """Budgets over time, kept together by all replicas of the webhook and the worker.

    Attributes:
        budgets: all of those that select a pod hold.
        store: see there.
        unreadable: see there.
    """

    budgets: Annotated[tuple[OverTimeBudget, ...], Meta(min_length=1, max_length=100)]
    store: Store = Store()
    unreadable: Unreadable = Unreadable.REFUSE

    @property
    def bytes_apart(self) -> int:
        """What each of the budgets that count apart may fill: all as much."""
        apart = sum(one.per is not Per.CLUSTER for one in self.budgets)
        return MAX_BYTES_APART // max(1, apart)


class Gangs(Settings, frozen=True):
    """A gang goes whole or not at all.

    A gang is the pods of a PodGroup (scheduling.k8s.io) whose disruptionMode is `all`. One of them
    goes only while every other one that is still there may go, too. There is nothing to set.
    """
