"""What the rules of the policies may look at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal

from msgspec import Struct

from bailiff.decisions.policies.blast import Blast
from bailiff.decisions.policies.breaker import BreakerState
from bailiff.decisions.policies.over_time_columns import Book
from bailiff.decisions.policies.pause import PauseNotice
from bailiff.decisions.policies.publisher import Publisher
from bailiff.kinds import Node, Pod


class Unknown(Enum):
    """What has not been read yet; not to be taken for absent."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


class Circumstances(Struct, frozen=True, kw_only=True, gc=False):
    """What the rules may look at, at the moment an eviction would begin.

    A fact that no policy in force needs may be left out.

    Attributes:
        pod: who would be evicted.
        node: where it runs; None: not known.
        zone: of the node; empty where it has none.
        namespace_labels: of the pod's namespace; None: not known.
        pause: the notice, or None where nothing is paused.
        zone_breaker: what the breaker of the zone says; None: not known.
        cluster_breaker: what the breaker of the cluster says; None: not known.
        blast: what the cause that evicts the pod does besides; NO_BLAST where its system names
            none; None: not known.
        publisher: who published the ResourceSlice for whose taint the pod goes; None: it goes for
            something else.
        gang: the gang that the pod is of; None: its PodGroup lets its pods go one by one.
        book: what budgets over time have counted, as far as is known.
    """

    pod: Pod
    node: Node | None = None
    zone: str = ""
    namespace_labels: Mapping[str, str] | None = None
    pause: PauseNotice | Literal[Unknown.UNKNOWN] | None = UNKNOWN
    zone_breaker: BreakerState | None = None
    cluster_breaker: BreakerState | None = None
    blast: Blast | None = None
    publisher: Publisher | None = None
    gang: Gang | Literal[Unknown.UNKNOWN] | None = UNKNOWN
    book: Book | Literal[Unknown.UNKNOWN] = UNKNOWN


class Gang(Struct, frozen=True, kw_only=True, gc=False):
    """Pods that go all or not at all.

    Attributes:
        name: of the PodGroup.
        others: the circumstances of its other pods that are still there: that have not ended, and
            are not terminating.
    """

    name: str
    others: tuple[Circumstances, ...] = ()
