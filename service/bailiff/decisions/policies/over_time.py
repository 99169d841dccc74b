"""Budgets over time: at most N evictions, or nodes, in any span, counted by all who evict. Pure.

Here: whose eviction counts where. What is counted, and whether there is room: `over_time_counts`.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.policies.over_time_settings import Per
from bailiff.decisions.policies.selectors import selects
from bailiff.kinds import LABELS_NOT_KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.policies.over_time_settings import OverTime, OverTimeBudget
    from bailiff.kinds import Pod

# Of a UID; by 64 bits two pods of one column are taken for one once in 10^15 evictions.
_DIGEST_BYTES = 8
# Before the key of a column of nodes: no name of a namespace, node or zone has a slash. So whoever
# counts pods under the same name, as before a change of the policies, does not take them for some.
_OF_NODES = "nodes/"


class Place(NamedTuple):
    """Where an eviction is counted.

    Attributes:
        budget: its name.
        key: the namespace, node or zone; empty where the budget counts all pods together.
        most: see OverTimeBudget, as the next two.
        most_bytes: of the ConfigMap that the budget may fill, if it counts apart.
        by_node: nodes are counted, and not evictions.
    """

    budget: str
    key: str
    most: int
    seconds: int
    per: Per
    most_bytes: int
    by_node: bool = False

    @property
    def column(self) -> str:
        """Under which it is counted in the book."""
        return f"{_OF_NODES}{self.key}" if self.by_node else self.key

    def __str__(self) -> str:
        what = "nodes" if self.by_node else "evictions"
        one = f" of {self.per.value.lower()} {self.key or '<none>'}"
        where = "" if self.per is Per.CLUSTER else one
        return f"budget {self.budget} ({self.most} {what}{where} in {self.seconds} s)"


class Way(Enum):
    """How a pod is to go.

    BY_UID: now, and no other pod can go in its place. BY_NAME: now, or whichever pod has its name
    by then. SUCCESSOR: by its name, when it is ending already: so if anybody, another pod. LATER:
    not yet, while others of its gang go: its place is kept.
    """

    BY_UID = "by UID"
    BY_NAME = "by name"
    SUCCESSOR = "successor"
    LATER = "later"


class Wish(NamedTuple):
    """A pod that is to be counted.

    Attributes:
        pod: the digest of its UID, by which it is counted where it goes by that.
        places: in which columns.
        way: how it is to go.
        node: the digest of its node's name, by which that is counted.
    """

    pod: str
    places: tuple[Place, ...]
    way: Way = Way.BY_UID
    node: str = ""

    def at(self, place: Place) -> Wish:
        """As it is counted there: where nodes are, by its node, however it goes."""
        return self._replace(pod=self.node, way=Way.BY_UID) if place.by_node else self

    @property
    def kept_as(self) -> str:
        """What a place is counted by that is kept for it."""
        return digest_of(f"kept for {self.pod}")

    def tried_as(self, number: int) -> str:
        """What a try to evict it by its name is counted by; the first is 0."""
        return digest_of(f"{number} by the name of {self.pod}")


def wish_of(pod: Pod, zone: str, over_time: OverTime, way: Way = Way.BY_UID) -> Wish | None:
    """What counts an eviction of the pod, and where; None: nobody can tell, without its labels.

    Args:
        pod: who is to go.
        zone: of its node; empty where it has none.
        over_time: the budgets.
        way: how it is to go.
    """
    labels = pod.metadata.labels
    if labels is LABELS_NOT_KEPT and any(one.pod_selector for one in over_time.budgets):
        return None
    share = over_time.bytes_apart
    places = [_place(one, pod, zone, share) for one in over_time.budgets if _selects(one, pod)]
    uid = pod.metadata.uid
    # Where no node has taken it yet, any may before it goes.
    node = digest_of(pod.spec.node_name or f"any, for {uid}")
    return Wish(digest_of(uid), tuple(places), way, node)


def witnesses(wishes: Sequence[Wish]) -> Sequence[Wish]:
    """Those of whom it is to be known that they are counted, to know it of all.

    The first, with whom the others of its gang are counted. But a node may be so for any other
    pod: where nothing else is counted, all of them.
    """
    by_pod = any(not place.by_node for wish in wishes[:1] for place in wish.places)
    return wishes[:1] if by_pod else wishes


# Each of a gang is looked for again and again.
@lru_cache(maxsize=20_000)
def digest_of(uid: str) -> str:
    """By which a pod, or a node by its name, is known in the book: 16 hexadecimal digits."""
    return hashlib.blake2b(uid.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _selects(budget: OverTimeBudget, pod: Pod) -> bool:
    metadata = pod.metadata
    if budget.namespaces and metadata.namespace not in budget.namespaces:
        return False
    return budget.pod_selector is None or selects(budget.pod_selector, metadata.labels)


def _place(budget: OverTimeBudget, pod: Pod, zone: str, most_bytes: int) -> Place:
    key = _key(budget.per, pod, zone)
    by_node = budget.nodes is not None
    return Place(budget.name, key, budget.most, budget.seconds, budget.per, most_bytes, by_node)


def _key(per: Per, pod: Pod, zone: str) -> str:
    match per:
        case Per.CLUSTER:
            return ""
        case Per.NAMESPACE:
            return pod.metadata.namespace
        case Per.NODE:
            return pod.spec.node_name
        case Per.ZONE:
            return zone
