"""What a worker asks of a system: the half of it that lives beside a cluster.

The pure half, in `bailiff.decisions`, says what is to become of a pod. This one knows what the
system has to follow for that, which pods to look at anew when something of it changes, and what it
writes besides evictions. The worker is given a list of them, and knows none by name: it asks each
for its finding of a pod, carries out the earliest, and tells the system whose finding it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.actions.ports import Actions
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.decisions import Round, Scene
    from bailiff.decisions.policies import Publisher
    from bailiff.kinds import Node, Pod, PodCondition
    from bailiff.kinds.meta import Value
    from bailiff.tracing import Tracer
    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.lead.election import Election
    from bailiff.worker.lead.sharding import HeldShard
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.mirror.watching import Watches
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.settings import WorkerSettings
    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.marks import Marks

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


class Source(NamedTuple):
    """Where a system finds objects that are neither pods nor nodes.

    Attributes:
        cluster: for requests; reads are not fenced.
        watches: opens what is to be followed.
    """

    cluster: Cluster
    watches: Watches


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
        held_shard: of the nodes, which this worker looks after.
        mirror: nodes and pods; `listen_to_nodes` and `listen_to_pods` tell of changes.
        marks: which nodes and pods are to be looked at anew.
        source: of what else there is; None: nothing else is followed.
        tracer: makes spans.
    """

    actions: Actions
    clock: Clock
    registry: CollectorRegistry
    metrics: WorkerMetrics
    settings: WorkerSettings
    election: Election
    held_shard: HeldShard
    mirror: Mirror
    marks: Marks
    source: Source | None = None
    tracer: Tracer = NO_TRACER


class SystemInWorker(ABC):
    """One system in one worker; what has a body here need not be said by each.

    Attributes:
        name: as its findings have it.
        condition: what its in-tree controller writes on a pod that it evicts; None: there is none,
            and a shadow holds nobody's deeds against its findings.
        by_node: its findings rest on the node, so that an eviction by it reads the node first where
            the watch of nodes may be behind. As its pure half has it; the safe answer, and the
            default of both, is yes.
        ranks: its findings of a pod may depend on the other pods of the node, so that the whole
            node is looked at when one of them changes, and shown to it before each attempt; see
            `ranks_on`.
    """

    name: str
    condition: PodCondition | None = None
    by_node: bool = True
    ranks: bool = False

    @abstractmethod
    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        """Get ready to be asked about the pods of a node.

        It is called whenever the node or one of its pods is looked at, and again before each
        attempt to evict. So it only looks: what a round leaves for the next one is taken over in
        `evaluated`.

        Args:
            scene: `node` is None where it is gone, or cannot be read. `pods` are all of the node
                that are known; of one pod alone, with `neighbours` None, only where no system of
                the worker ranks the pods of this node.
            explain: whether findings carry their trace.

        Returns:
            Whom to ask; None: there is nothing to say of any pod there. Its `report` comes back in
            `evaluated`; at its `holds_until` the node is looked at again.
        """

    def evaluated(self, node: Node, report: Value | None) -> None:  # noqa: B027 - nothing, unless a system says more
        """A node has been looked at with all its pods, and this system had a round of it.

        Args:
            node: as it was.
            report: what the round said besides; None: nothing.
        """

    def ranks_on(self, node: Node | None) -> bool:  # noqa: ARG002 - for those who can tell
        """Whether it ranks the pods of this node, None where it is not known; see System.

        One that cannot tell is shown all pods of all nodes, with each change of one of them.
        """
        return self.ranks

    def forget_node(self, name: str) -> None:  # noqa: B027 - as above
        """A node is gone; what was kept of it must not meet another that has its name.

        Told of nodes of all shards, whether they had a round or not. One that cannot be read is
        not gone, and nothing is said of it.
        """

    def lost(self) -> None:  # noqa: B027 - as above
        """Our shard of the nodes is another worker's from now on: nobody evicts or looks for us.

        What rounds have left for the next is to be dropped: whoever leads evicts meanwhile, and
        these nodes may be ours again. `ended` is not told of what was pending. A standby of the one
        shard there is goes on looking, and is told nothing. What writers were to write is their
        business, see Writer.
        """

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

    def publisher(self, pod: Pod) -> Publisher | None:  # noqa: ARG002 - for those who can tell
        """Who published the ResourceSlice for whose taint a pod goes; None: it is no slice's taint.

        The policies bound what one publisher evicts.
        """
        return None

    def overrides_policies(self, pod: Pod) -> bool:  # noqa: ARG002 - as above
        """Whether this pod goes though a policy would hold it; limits of how many at a time stay.

        Only where the operator has said so.
        """
        return False

    # What becomes of the evictions by this system. One that waits for its time, or is held by a
    # policy, has not begun.

    def began(self, eviction: Eviction) -> None:  # noqa: B027 - as above
        """An attempt is about to be made; `failed` or `ended` follows.

        It is told to this system though meanwhile another has the pod go.
        """

    def failed(self, eviction: Eviction, outcome: Outcome) -> None:  # noqa: B027 - as above
        """The attempt has come to this, and will be made again, unless the findings change."""

    def evicted(self, eviction: Eviction, late: float) -> None:  # noqa: B027 - as above
        """The API server has taken it, `late` seconds after it was due; `ended` follows."""

    def ended(self, eviction: Eviction, outcome: Outcome) -> None:  # noqa: B027 - as above
        """No attempt is to be made any more, whether one was or not.

        Args:
            eviction: of which this is told once, and once more where the pod lives on
                (SURVIVED) and was tried again.
            outcome: DELETED or MARKED: it was evicted. GONE, REPLACED, ENDED: it has gone, or goes,
                without us. KEPT: it may stay, be it that the system itself has said so. PUT_OFF: it
                has another deadline, and another entry.
        """

    @property
    def synced(self) -> bool:
        """Everything that it follows has been listed."""
        return True

    @property
    def is_taking_in(self) -> bool:
        """A change has been taken in in part, so that not all whom it evicts are known yet.

        Whoever counts what a change does waits. What is taken in in one go need not be told of: the
        marks that follow are.
        """
        return False

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
        """What is not known though it should be by now; for people (see VerdictLog)."""
        return []

    def describe(self) -> dict[str, Any]:
        """Its part of /v1/queue; empty: none."""
        return {}


def by_name(systems: Sequence[SystemInWorker]) -> dict[str, SystemInWorker]:
    """Systems by their names.

    Raises:
        ValueError: one would take the other's findings and evictions.
    """
    found = {system.name: system for system in systems}
    if len(found) < len(systems):
        raise ValueError("two systems of the worker have the same name")
    return found
