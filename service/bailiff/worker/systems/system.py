"""What a worker asks of a system: the half of it that lives beside a cluster.

The pure half, in `bailiff.decisions`, says what is to become of a pod. This one knows what the
system has to follow for that, which pods to look at anew when something of it changes, and what it
writes besides evictions. The worker is given a list of them, and knows none by name: it asks each
for its finding of a pod, carries out the earliest, and tells the system whose finding it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from bailiff.decisions import Finding
from bailiff.kinds import Pod

if TYPE_CHECKING:
    from datetime import datetime

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.kinds import Node, PodCondition
    from bailiff.worker.execute.actions import Actions
    from bailiff.worker.lead.election import Election
    from bailiff.worker.lead.sharding import HeldShard
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.settings import WorkerSettings
    from bailiff.worker.timers.evaluator import Marks
    from bailiff.worker.timers.eviction import Eviction

# A system that has been told of a node and an instant, ready to be asked about many of its pods;
# None: it has nothing to say of this one.
Ask: TypeAlias = Callable[[Pod], Finding | None]

# Runs until it is cancelled.
Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class Writer(Protocol):
    """Writes something besides evictions; mostly a Retrying."""

    async def run(self) -> None:
        """Write until cancelled, which comes after `drain`."""

    async def drain(self) -> None:
        """Return when all that is due to be written has been tried; may be cut short."""

    async def forget(self) -> None:
        """Drop what was to be written; return when no request for it is under way.

        Our shard of the nodes is another worker's, and we may get another one. Before this has
        returned we do not, so that nothing of the one shard is sent with the right to act for the
        next.
        """


@dataclass(frozen=True)
class Parts:
    """What of a worker all its systems may use.

    Attributes:
        actions: what is done to the cluster; fenced by the election.
        clock: for both kinds of time.
        registry: for metrics of the system's own.
        metrics: those that all systems share, labelled.
        settings: the operator's.
        election: whether this worker is the one to act.
        share: of the nodes, which this worker looks after.
        mirror: nodes and pods; `listen_to_nodes` and `listen_to_pods` tell of changes.
        marks: which nodes and pods are to be looked at anew.
    """

    actions: Actions
    clock: Clock
    registry: CollectorRegistry
    metrics: WorkerMetrics
    settings: WorkerSettings
    election: Election
    share: HeldShard
    mirror: Mirror
    marks: Marks


class SystemInWorker(ABC):
    """One system in one worker; what has a body here need not be said by each.

    Attributes:
        name: as its findings have it.
        condition: what its in-tree controller writes on a pod that it evicts; None: there is none,
            and a shadow holds nobody's deeds against its findings.
        by_node: its findings rest on the node, so that an eviction by it reads the node first where
            the watch of nodes may be behind.
    """

    name: str
    condition: PodCondition | None = None
    by_node: bool = False

    @abstractmethod
    def prepare(self, node: Node | None, now: datetime, *, explain: bool) -> Ask | None:
        """Get ready to be asked about the pods of a node.

        A finding that evicts is of a class that tells its terms (`Finding.eviction`).

        Args:
            node: None where it is gone, or cannot be read.
            now: the instant to decide for, with time zone.
            explain: whether findings carry their trace.

        Returns:
            Whom to ask; None: there is nothing to say of any pod there.
        """

    def evaluated(self, node: Node) -> None:  # noqa: B027 - nothing, unless a system says more
        """The pods of a node have been looked at, because of the node or in their turn."""

    def followers(self) -> Mapping[str, Work]:
        """Tasks by name that keep it in step with the cluster until they are cancelled."""
        return {}

    def writers(self) -> Mapping[str, Writer]:
        """What writes something besides evictions, by name; asked for once."""
        return {}

    def elected(self) -> None:  # noqa: B027 - as above
        """It is this worker's turn to act: write what another has not."""

    def look_again(self) -> None:  # noqa: B027 - as above
        """The periodic safety net: look at what is written besides evictions."""

    def evicted(self, eviction: Eviction, late: float) -> None:  # noqa: B027 - as above
        """The API server has taken an eviction by this system, `late` seconds after it was due."""

    @property
    def synced(self) -> bool:
        """Everything that it follows has been listed."""
        return True

    @property
    def sees(self) -> bool:
        """What its in-tree controller does can be judged: it would have a finding itself."""
        return True

    def look_around(self) -> None:  # noqa: B027 - as above
        """A shadow looks, the first time and every second: see `start_is_unknown`."""

    def start_is_unknown(self, pod: Pod) -> bool:  # noqa: ARG002 - for those who can tell
        """Nobody can say since when what evicts the pod is there: it was before the first look."""
        return False

    def complaints(self) -> list[str]:
        """What is not known though it should be by now; for people, and /readyz."""
        return []

    def describe(self) -> dict[str, Any]:
        """Its part of /v1/queue; empty: none."""
        return {}
