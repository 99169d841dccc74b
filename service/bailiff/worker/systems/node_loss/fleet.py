"""All nodes that are watched: how they stand, and whose turn it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions.node_loss.judging import evicting_taint
from bailiff.decisions.node_loss.memory import memory_of
from bailiff.decisions.node_loss.pace import ZonePacer
from bailiff.decisions.node_loss.standing import LOST
from bailiff.decisions.node_loss.zones import Zones, count_zones, pace_of, zone_of
from bailiff.worker.systems.node_loss.watched import WatchedNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.decisions.node_loss.memory import NodeLossMemory
    from bailiff.decisions.node_loss.report import StuckPod
    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.decisions.node_loss.silence import Glance, Moment
    from bailiff.kinds import Node
    from bailiff.worker.systems.node_loss.leases import NodeLeases

# Nodes that are named in /v1/queue, at most.
_NAMED = 100


class Fleet:
    """Watched nodes by name, and the pace of their zones.

    Attributes:
        zones: as of the last look at all.
    """

    def __init__(self, settings: NodeLossSettings, leases: NodeLeases, *, fenced: bool) -> None:
        """Watch no node yet; `fenced`: there is a fence to ask, also where taints evict."""
        self._settings = settings
        self._fenced = fenced
        self._leases = leases
        self._nodes: dict[str, WatchedNode] = {}
        self._lost: dict[str, WatchedNode] = {}
        self._pacer = ZonePacer()
        self.zones = Zones((), settings)

    def get(self, name: str) -> WatchedNode | None:
        """One, if it has been looked at."""
        return self._nodes.get(name)

    @property
    def names(self) -> Iterable[str]:
        """Of those that are watched."""
        return self._nodes.keys()

    @property
    def lost(self) -> list[WatchedNode]:
        """Those that are lost, in the order in which they were found to be."""
        return list(self._lost.values())

    def drop(self, name: str) -> None:
        """The node is gone."""
        self._nodes.pop(name, None)
        self._lost.pop(name, None)

    def forget(self) -> None:
        """Watch them anew, by what their annotations say: others may have acted meanwhile."""
        self._nodes.clear()
        self._lost.clear()

    def see(self, node: Node, moment: Moment) -> tuple[WatchedNode, bool]:
        """Look at a node; whether how it stands is another, or is known for the first time."""
        name, uid = node.metadata.name, node.metadata.uid
        watched = self._nodes.get(name)
        is_first = watched is None or watched.vigil.uid != uid
        if watched is None or is_first:
            watched = self._nodes[name] = WatchedNode(name, uid)
            self._lost.pop(name, None)
            self._read_note(node, watched, moment)
        watched.zone = zone_of(node)
        vigil = watched.vigil
        before, was_known, lived = vigil.state, vigil.is_known, vigil.lives
        state = vigil.see(node, self._leases.of(name), moment, self._settings)
        if vigil.is_known and not was_known:
            self.recall(node, watched, moment)
        if vigil.flipped:
            watched.come_back()
        news = state is not before or vigil.is_known is not was_known or vigil.flipped
        if state in LOST:
            self._lost[name] = watched
            news |= watched.doubt(node) or vigil.lives is not lived
            if vigil.lives and not lived:
                # It may be ready as well, which a watch that hangs has not told: look once more.
                watched.given_up = False
        elif self._lost.pop(name, None) is not None:
            watched.come_back()
        return watched, news

    def see_all(self, nodes: Iterable[Node], moment: Moment) -> list[str]:
        """Look at all nodes; the names of those that changed."""
        seen = [(node, *self.see(node, moment)) for node in nodes]
        counts = count_zones((node, not one.is_lost) for node, one, _ in seen)
        before, self.zones = self.zones.down, Zones(counts, self._settings)
        changed = [watched.name for _, watched, news in seen if news]
        return changed + self._after_zones_were_down(before, moment)

    def counts(self, watched: WatchedNode) -> bool:
        """Whether the node's time goes on; it does not where its zone is down."""
        return watched.zone not in self.zones.down

    def due(
        self, node_of: Callable[[str], Node | None], shards: int, moment: Moment
    ) -> list[WatchedNode]:
        """Those whose turn comes now; each is given its turn by that.

        Args:
            node_of: by name; None: it is gone, or not ours.
            shards: into which the nodes are parted, each with a worker that has its part of the
                pace.
            moment: of the look.
        """
        waiting = [one for one in self._lost.values() if self._waits(one, moment)]
        waiting.sort(key=lambda one: -one.vigil.lost_for(moment.elapsed))
        found = []
        # Zones that give nobody a turn at this look, however many of their nodes wait.
        spent = set(self.zones.down)
        for watched in waiting:
            zone = watched.zone
            node = None if zone in spent else node_of(watched.name)
            # Where taints evict a turn is good for the fence alone: what it says of the machine
            # releases pods that are being deleted and do not go.
            if node is None or (self._is_left(node) and not self._fenced):
                continue
            rate = pace_of(zone, self.zones.around(zone), self._settings).rate / shards
            self._pacer.set_rate(zone, rate, moment.elapsed)
            if self._pacer.take(zone, moment.elapsed):
                watched.turn_at = moment.now
                found.append(watched)
            else:
                spent.add(zone)
        return found

    def glance(self, node: Node, watched: WatchedNode, elapsed: float) -> Glance:
        """How a node stands this moment, of which nothing is kept; it may be newer than a look."""
        lease = self._leases.of(watched.name)
        return watched.vigil.peek(node, lease, elapsed, self._settings)

    def _waits(self, watched: WatchedNode, moment: Moment) -> bool:
        over = watched.vigil.lost_for(moment.elapsed) >= self._settings.after
        may = watched.vigil.is_known and not watched.contradiction
        return over and may and watched.turn_at is None

    def _is_left(self, node: Node) -> bool:
        """Whether its taints evict from it anyway."""
        return bool(evicting_taint(node)) and not self._settings.beside_taints

    def _read_note(self, node: Node, watched: WatchedNode, moment: Moment) -> None:
        """What another worker has noted, or this one before it was started anew: at the first look.

        It is recalled as soon as it is known whether the node lives.
        """
        memory = memory_of(node.metadata.annotations.node_loss)
        if memory is None:
            return
        lease = self._leases.of(watched.name)
        self._count_turn(node, memory, moment)
        if memory.had_lease_of(node):
            watched.vigil.expect_lease()
        if memory.condemns(node, lease):
            watched.vigil.condemn(node, lease)

    def _count_turn(self, node: Node, memory: NodeLossMemory, moment: Moment) -> None:
        """A turn that the zone has given, whatever has become of the node since."""
        if memory.released is not None:
            ago = (moment.now - memory.released).total_seconds()
            self._pacer.spent(zone_of(node), ago, moment.elapsed)

    def recall(self, node: Node, watched: WatchedNode, moment: Moment) -> None:
        """Go on where another worker has stopped, or this one before it was started anew."""
        memory, vigil = memory_of(node.metadata.annotations.node_loss), watched.vigil
        if memory is None or memory.uid != vigil.uid or not watched.is_lost:
            return
        self._count_turn(node, memory, moment)
        # Whatever else has changed since: it is not back.
        watched.fence.distrust = watched.fence.distrust or memory.distrust
        if not memory.holds_of(node, self._leases.of(watched.name), vigil.state, moment.now):
            return
        vigil.resume(memory.lost_for(moment.now), moment.elapsed)
        if memory.released is not None and vigil.lost_for(moment.elapsed) >= self._settings.after:
            watched.turn_at = memory.released

    def _after_zones_were_down(self, before: frozenset[str], moment: Moment) -> list[str]:
        """The time of all nodes of a zone starts over where none was ready, and one is now.

        Upstream does so where that was so of all zones (handleDisruption). Ours evicts nobody from
        one zone that is down either, and what is cut off together does not come back at once: whose
        time was over would go while others of its zone are back already. As long as a zone is down
        that is noted on its nodes, too, for whoever is started meanwhile.
        """
        changed = before ^ self.zones.down
        if not changed:
            return []
        self.start_anew(moment, before - self.zones.down)
        return [one.name for one in self._lost.values() if one.zone in changed]

    def start_anew(self, moment: Moment, zones: frozenset[str] | None = None) -> None:
        """The time of every lost node starts over, and all others are believed for a while.

        Args:
            moment: of the look.
            zones: of these alone; None: of all, since nothing was heard of any of them.
        """
        for watched in self._nodes.values():
            if zones is None or watched.zone in zones:
                watched.vigil.start_anew(moment.elapsed, unheard=zones is None)
                if watched.is_lost:
                    watched.forget_loss()

    def describe(self, moment: Moment) -> dict[str, Any]:
        """See SystemInWorker."""
        lost = {one.name: self._told(one, moment) for one in self._lost.values()}
        stuck = {one.pod.namespace + "/" + one.pod.name: one.message for one in self.stuck()}
        return {
            "nodes": len(self._nodes),
            "lost": {"count": len(lost), "nodes": _first(lost)},
            "stuck": {"count": len(stuck), "pods": _first(stuck)},
            "zones": {one.name: [one.ready, one.not_ready] for one in self.zones.all[:_NAMED]},
        }

    def stuck(self) -> list[StuckPod]:
        """Pods that were deleted and do not go, of all lost nodes."""
        return [pod for one in self._lost.values() for pod in one.stuck]

    def _told(self, watched: WatchedNode, moment: Moment) -> dict[str, Any]:
        since, released = watched.vigil.lost_since(moment), watched.turn_at
        told: dict[str, Any] = {
            "state": watched.vigil.state.value,
            "since": None if since is None else since.isoformat(),
            "released": None if released is None else released.isoformat(),
        }
        if watched.contradiction:
            told["contradiction"] = watched.contradiction
        proof = watched.fence.proof
        if proof is not None:
            at = None if proof.at is None else proof.at.isoformat()
            told["fence"] = {"off": proof.off, "at": at, "message": proof.message}
        return told


def _first(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in sorted(found)[:_NAMED]}
