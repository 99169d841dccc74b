"""What is done about a lost node itself: the last look before its pods go, its note, its taint.

Everything about one node is done by one hand, in one order, so that no two writes of one node
cross: the note that it is lost; once its turn has come the question to the fence, and then the look
at the live node, its Lease and its pods' bonds; the note of that; and when it is back, what takes
all of it away. What is to be done is looked up anew with each try.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import structlog

from bailiff.actions.event_bodies import Regarding
from bailiff.cluster import (
    NODES,
    ClusterError,
    ConflictError,
    FencedError,
    ForbiddenError,
    NotFoundError,
    Resource,
)
from bailiff.decisions.node_loss.memory import memory_of
from bailiff.decisions.node_loss.needs import (
    claim_names,
    controller_of,
    has_own_taint,
    is_out_of_service,
)
from bailiff.decisions.node_loss.silence import Moment
from bailiff.decisions.node_loss.words import CONTROLLER
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import NODE_LEASES
from bailiff.kinds.volume_claim import PersistentVolumeClaim
from bailiff.worker.systems.node_loss.fencer import Fencer
from bailiff.worker.systems.node_loss.leases import LEASES
from bailiff.worker.systems.node_loss.notes import NodeNotes
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Counter

    from bailiff.kinds import Node, Pod
    from bailiff.worker.systems.node_loss.fleet import Fleet
    from bailiff.worker.systems.node_loss.leases import NodeLeases
    from bailiff.worker.systems.node_loss.settings import NodeLossMode
    from bailiff.worker.systems.node_loss.watched import WatchedNode
    from bailiff.worker.systems.system import Parts

DAEMON_SETS = Resource("apps", "v1", "daemonsets", DaemonSet)
CLAIMS = Resource("", "v1", "persistentvolumeclaims", PersistentVolumeClaim)

_AT_A_TIME = 8
# DaemonSets of a namespace by whose selectors pods are looked at that nobody manages, each of them
# with each look at the node: whoever may make some there could have thousands.
_MOST_SETS = 100
# Seconds that the fence has to answer before the pods of a node go without its word.
_FENCE_HAS = 30.0
# Seconds until the second try, doubled with each further one, up to the last number.
_CONFLICT_DELAY = 0.1
_FAILURE_DELAY = 1.0
_MAX_DELAY = 60.0

log = structlog.get_logger(__name__)


class Keeper(Retrying[str]):
    """By the name of the node."""

    def __init__(
        self, parts: Parts, mode: NodeLossMode, fleet: Fleet, leases: NodeLeases, writes: Counter
    ) -> None:
        """Prepare.

        Args:
            parts: of the worker; without a source nobody is released, since nobody can look.
            mode: the operator's.
            fleet: the nodes.
            leases: of nodes, as last seen.
            writes: where they are counted, by what and fate.
        """
        super().__init__(parts.clock, at_a_time=_AT_A_TIME)
        self._parts = parts
        self._mode = mode
        self._fleet = fleet
        self._leases = leases
        self._writes = writes
        self._notes = NodeNotes(parts, writes)
        fence = mode.fence
        self.fencer = None if fence is None else Fencer(parts, fence, fleet, self.ask_for)
        self._written = "onPaper" if parts.settings.on_paper else "written"
        self._failing: set[str] = set()

    async def forget(self) -> None:
        """See Retrying."""
        await super().forget()
        self._failing.clear()

    def remind_of(self, watched: WatchedNode) -> None:
        """Have done what is to be done about it, if that was left undone: another led meanwhile."""
        if watched.is_to_be_looked_at:
            self.remind(watched.name)
        if self.fencer is not None:
            self.fencer.remind_of(watched)

    async def attempt(self, key: str, failures: int) -> Again | None:
        """See Retrying. Bounded by the time of each request."""
        watched, node = self._fleet.get(key), self._parts.mirror.node(key)
        if watched is None or node is None or node.metadata.uid != watched.vigil.uid:
            return None
        if not (self._parts.marks.owns(key) and self._parts.election.may_act()):
            return None
        try:
            again = await self._keep(node, watched)
        except FencedError:
            self._writes.labels("node", "fenced").inc()
            return None
        except NotFoundError:
            # It is gone, and the watch will tell.
            return None
        except ConflictError:
            self._writes.labels("node", "outdated").inc()
            return Again.doubled(_CONFLICT_DELAY, failures, _MAX_DELAY)
        except ClusterError as error:
            return self._failed(key, error, failures)
        self._failing.discard(key)
        return again

    async def _keep(self, node: Node, watched: WatchedNode) -> Again | None:
        await self._tell(node, watched)
        await self._note(node, watched)
        if not watched.is_to_be_looked_at:
            return None
        wait = self._until_the_fence_answers(watched)
        if wait > 0:
            return Again(wait, failed=False)
        # What the last look has found otherwise is written down.
        return None if await self._verify(watched) else Again(_FAILURE_DELAY)

    def _until_the_fence_answers(self, watched: WatchedNode) -> float:
        """Seconds for which its answer is waited for at most; it goes on asking beside that."""
        if self.fencer is None or watched.fence.answer is not None or watched.fence.distrust:
            return 0.0
        elapsed = self._parts.clock.elapsed()
        if watched.asked_at is None:
            watched.asked_at = elapsed
            self.fencer.ask_for(watched.name)
        return watched.asked_at + _FENCE_HAS - elapsed

    async def _verify(self, watched: WatchedNode) -> bool:
        """The last look before the first delete: is the node still as it seemed?"""
        answer, turn = watched.fence.answer, watched.turn_at
        await self._load_bonds(watched)
        node = await self._look(watched)
        self._parts.marks.look_at_node(watched.name)
        if node is None:
            log.info("a node was about to be given up, and is not lost", node=watched.name)
            return False
        watched.fence.proof = answer
        watched.doubt(node)
        await self._note(node, watched)
        if watched.turn_at is not turn:
            # It came back while that was written, or its time started over.
            return False
        watched.given_up = True
        log.warning(
            "a node is given up",
            node=watched.name,
            state=watched.vigil.state.value,
            seconds=round(watched.vigil.lost_for(self._parts.clock.elapsed())),
            contradiction=watched.contradiction,
            off=watched.fence.is_off,
        )
        return True

    async def _look(self, watched: WatchedNode) -> Node | None:
        """The node as the API server has it this moment; None: it lives, or is another."""
        source = self._parts.source
        if source is None:
            return None
        node = await source.cluster.get(NODES, watched.name)
        try:
            lease = await source.cluster.get(LEASES, watched.name, NODE_LEASES)
        except NotFoundError:
            lease = None
        if node.metadata.uid != watched.vigil.uid:
            return None
        if lease is not None:
            self._leases.put(lease)
        self._fleet.see(node, self._moment())
        return node if watched.is_lost and watched.turn_at is not None else None

    async def _load_bonds(self, watched: WatchedNode) -> None:
        """What binds its pods: DaemonSets for those that nobody manages, and claims of storage."""
        source = self._parts.source
        if source is None:
            return
        pods = list(self._parts.mirror.pods_on(watched.name))
        sets: list[DaemonSet] = []
        for namespace in _namespaces(one for one in pods if controller_of(one) is None):
            listed = await source.cluster.list(DAEMON_SETS, namespace=namespace)
            sets += listed.items[:_MOST_SETS]
        claims: list[PersistentVolumeClaim] = []
        for namespace, name in _claims(pods):
            # One that cannot be read counts as one that a single node may use.
            with contextlib.suppress(NotFoundError, ForbiddenError):
                claims.append(await source.cluster.get(CLAIMS, name, namespace))
        watched.daemon_sets, watched.claims = tuple(sets), tuple(claims)

    async def _note(self, node: Node, watched: WatchedNode) -> None:
        """Have taint and annotation say what is so, if they do not."""
        if not watched.vigil.is_known:
            # What another worker has noted may hold still.
            return
        after, counts = self._mode.settings.after, self._fleet.counts(watched)
        wanted = watched.note(self._moment(), after=after, counts=counts)
        text = node.metadata.annotations.node_loss
        there = memory_of(text)
        right = there is not None and wanted.says_the_same(there) if wanted else not text
        guard = node.metadata.resource_version
        tainted = self._wants_taint(node, watched)
        if self._mode.taints_fenced and tainted is not has_own_taint(node):
            await self._notes.taint(node, tainted=tainted)
            # That has made another version of it, which the UID has to guard alone.
            guard = ""
        if not right:
            await self._notes.write(node, wanted, guard)

    def _wants_taint(self, node: Node, watched: WatchedNode) -> bool:
        """Ours, by the word of the fence alone; that of somebody else is left as it is."""
        fence = watched.fence
        if fence.is_off:
            return not watched.contradiction and not is_out_of_service(node)
        # One that another worker has put there stays until the fence was asked anew.
        if self.fencer is None or watched.turn_at is None or watched.contradiction:
            return False
        return (fence.answer is None or fence.is_off_unseen) and has_own_taint(node)

    async def _tell(self, node: Node, watched: WatchedNode) -> None:
        meta = node.metadata
        about = Regarding(api_version="v1", kind="Node", name=meta.name, uid=meta.uid)
        while watched.events:
            note = watched.events.popleft()
            try:
                await self._parts.actions.report(about, note, self._parts.clock.now(), CONTROLLER)
            except FencedError:
                raise
            except ClusterError as error:
                # A courtesy, which is not worth a retry that would delay the rest.
                self._writes.labels("event", "failed").inc()
                log.info("event not written", node=meta.name, error=str(error))
            else:
                self._writes.labels("event", self._written).inc()

    def _failed(self, name: str, error: ClusterError, failures: int) -> Again:
        self._writes.labels("node", "failed").inc()
        if name not in self._failing:
            log.warning("lost node not looked after, trying again", node=name, error=str(error))
        self._failing.add(name)
        return Again.doubled(_FAILURE_DELAY, failures, _MAX_DELAY)

    def _moment(self) -> Moment:
        return Moment(self._parts.clock.now(), self._parts.clock.elapsed())


def _namespaces(pods: Iterable[Pod]) -> list[str]:
    return sorted({one.metadata.namespace for one in pods})


def _claims(pods: Iterable[Pod]) -> list[tuple[str, str]]:
    named = {(pod.metadata.namespace, name) for pod in pods for name in claim_names(pod)}
    return sorted(named)
