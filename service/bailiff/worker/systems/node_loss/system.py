"""Lost nodes in a worker: Leases are followed, and pods evicted whose node does not come back.

Theory of operation. Every five seconds all nodes are looked at, as upstream's monitor does; lost
ones every second. A node that is lost for its time gets a turn by the pace of its zone. Then the
fence is asked (`Fencer`), and it is looked at live, with its Lease (`Keeper`); if it is still lost
its pods are said to go from then on. What any look finds otherwise takes that back.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bailiff.decisions import EventNote, Round, Scene
from bailiff.decisions.node_loss.findings import DOUBTED, READY, SYSTEM, unheard
from bailiff.decisions.node_loss.judging import NodeLossRound
from bailiff.decisions.node_loss.needs import has_own_taint, is_out_of_service
from bailiff.decisions.node_loss.report import NodeLossReport
from bailiff.decisions.node_loss.silence import Moment
from bailiff.decisions.node_loss.words import CONTRADICTION_REASON
from bailiff.worker.systems.node_loss.fleet import Fleet
from bailiff.worker.systems.node_loss.keeper import Keeper
from bailiff.worker.systems.node_loss.leases import NodeLeases
from bailiff.worker.systems.node_loss.marker import Marker
from bailiff.worker.systems.node_loss.metrics import STATES, NodeLossMetrics
from bailiff.worker.systems.system import SystemInWorker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions import Finding
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.meta import Value
    from bailiff.worker.systems.node_loss.settings import NodeLossMode
    from bailiff.worker.systems.node_loss.watched import WatchedNode
    from bailiff.worker.systems.system import Parts, Work, Writer
    from bailiff.worker.timers.eviction import Eviction

# Seconds between two looks: at lost nodes, and at all (nodeMonitorPeriod), or a tenth of what makes
# a node silent.
_LOOK_EVERY, _LOOK_AT_ALL_EVERY = 1.0, 5.0
_OF_SILENCE = 0.1
# Seconds without a word of any Lease after which it is rather the watch that is silent: a kubelet
# renews its own every 10 s (nodeLeaseRenewInterval).
_DEAF_AFTER = 25.0
# Seconds after which the pods of a node that is given up are looked at once more: one that was
# deleted may be stuck by then, of which no object tells.
_JUDGE_EVERY = 10.0


class NodeLossInWorker(SystemInWorker):
    """What the node lifecycle controller did before there were taints, with more restraint."""

    name = SYSTEM

    def __init__(self, parts: Parts, mode: NodeLossMode) -> None:
        """Watch no node yet.

        Args:
            parts: of the worker. Its mirror has to keep what binds pods, and the status and labels
                of nodes, see Keep.
            mode: the operator's.
        """
        self._parts = parts
        self._mode = mode
        self._explaining = replace(parts.settings.options, explain=True)
        self.leases = NodeLeases(parts.clock)
        self.fleet = Fleet(mode.settings, self.leases, fenced=mode.fence is not None)
        self.metrics = NodeLossMetrics(parts.registry, on_paper=parts.settings.on_paper)
        writes = self.metrics.writes
        self.keeper = Keeper(parts, mode, self.fleet, self.leases, writes)
        self.marker = Marker(parts, mode, self.fleet, writes)
        self._every = min(_LOOK_AT_ALL_EVERY, _OF_SILENCE * mode.settings.silent_after)
        self._looked_at_all = -self._every
        self._deaf = False
        self._judged_at: dict[str, float] = {}
        for state in STATES:
            self.metrics.nodes.labels(state).set_function(partial(self._count, state))
        self.metrics.stuck.set_function(lambda: len(self.fleet.stuck()))

    # What the worker asks.

    def prepare(self, scene: Scene, *, explain: bool) -> Round | None:
        """See SystemInWorker. The node may be newer than what was looked at."""
        node, moment = scene.node, self._moment()
        if node is None:
            return None
        watched = self.fleet.get(node.metadata.name)
        if watched is None or watched.vigil.uid != node.metadata.uid or not watched.is_lost:
            return _READY
        if self._deaf or not watched.vigil.is_known:
            return _NOT_KNOWN
        settings = self._mode.settings
        now = self.fleet.glance(node, watched, moment.elapsed)
        if not now.state.is_lost:
            return _READY
        zones = self.fleet.zones.around(watched.zone)
        facts = watched.facts(node, settings, zones, moment, lives=now.lives)
        pods = (*scene.pods, *(scene.neighbours or ()))
        options = self._explaining if explain else self._parts.settings.options
        return NodeLossRound(node, pods, facts, scene.now, options)

    def evaluated(self, node: Node, report: Value | None) -> None:
        """See SystemInWorker."""
        watched = self.fleet.get(node.metadata.name)
        if watched is None:
            return
        if not isinstance(report, NodeLossReport):
            # It is back, or nobody knows: what was to be written of its pods is not true any more.
            watched.to_mark.clear()
            return
        watched.stuck = report.stuck
        notes = [one for one in _notes(node, report, watched) if one.reason not in watched.told]
        if notes:
            watched.told.update(one.reason for one in notes)
            watched.events.extend(notes)
            self.keeper.ask_for(watched.name)
        self.marker.judged(watched, report)

    def followers(self) -> Mapping[str, Work]:
        """See SystemInWorker."""
        source = self._parts.source
        leases = {} if source is None else {"leases": partial(self.leases.follow, source.watches)}
        return {"looks": self._look_around_forever, **leases}

    def writers(self) -> Mapping[str, Writer]:
        """See SystemInWorker."""
        fencer = self.keeper.fencer
        asking = {} if fencer is None else {"fence": fencer}
        return {"nodes": self.keeper, "pods": self.marker, **asking}

    def forget_node(self, name: str) -> None:
        """See SystemInWorker."""
        self.fleet.drop(name)
        self._judged_at.pop(name, None)

    def elected(self) -> None:
        """See SystemInWorker. Whoever led before knows since when nodes are lost."""
        moment = self._moment()
        for watched in self.fleet.lost:
            node = self._parts.mirror.node(watched.name)
            watched.forget_turn()
            if node is not None and watched.vigil.is_known:
                self.fleet.recall(node, watched, moment)
            self.keeper.ask_for(watched.name)
        # Those that have come back carry what another has written still.
        for node in self._parts.mirror.nodes():
            if node.metadata.annotations.node_loss or has_own_taint(node):
                self.keeper.ask_for(node.metadata.name)

    def lost(self) -> None:
        """See SystemInWorker."""
        self.fleet.forget()
        self._judged_at.clear()

    def evicted(self, eviction: Eviction, late: float) -> None:  # noqa: ARG002 - the port's
        """See SystemInWorker."""
        forced = eviction.finding.grace_period_seconds == 0
        self.metrics.evictions.labels("forced" if forced else "deleted").inc()

    @property
    def synced(self) -> bool:
        """See SystemInWorker."""
        return self._parts.source is None or self.leases.synced

    def complaints(self) -> list[str]:
        """See SystemInWorker."""
        # What is known of one node alone, which may be hostile, makes no worker unready.
        if not self._deaf:
            return []
        why = f"no Lease of any node was renewed for {self.leases.silence:.0f} s"
        return [f"nobody is evicted from lost nodes: {why}"]

    def describe(self) -> dict[str, Any]:
        """See SystemInWorker."""
        return self.fleet.describe(self._moment())

    # The rounds of looks.

    async def _look_around_forever(self) -> None:
        await self._parts.mirror.listed.wait()
        while True:
            self.look()
            await asyncio.sleep(_LOOK_EVERY)

    def look(self) -> None:
        """Look at lost nodes, or at all; give those their turn whose it is."""
        if not (self.synced and self._parts.mirror.synced) or self._is_deaf():
            return
        moment = self._moment()
        if moment.elapsed - self._looked_at_all >= self._every:
            self._looked_at_all = moment.elapsed
            for name in self.fleet.see_all(self._parts.mirror.nodes(), moment):
                self._changed(name)
        else:
            self._look_at_lost(moment)
        if not self._parts.election.may_act():
            return
        for watched in self.fleet.due(self._our_node, self._parts.held_shard.count, moment):
            self.keeper.ask_for(watched.name)
        self._judge_again(moment)

    def _is_deaf(self) -> bool:
        """Whether no Lease is heard of at all; all that was counted before starts over after it."""
        before, self._deaf = self._deaf, self.leases.silence >= _DEAF_AFTER
        if before is not self._deaf:
            if before:
                self.fleet.start_anew(self._moment())
            for watched in self.fleet.lost:
                self._changed(watched.name)
        return self._deaf

    def _look_at_lost(self, moment: Moment) -> None:
        for watched in self.fleet.lost:
            node = self._parts.mirror.node(watched.name)
            if node is None:
                self.fleet.drop(watched.name)
            elif self.fleet.see(node, moment)[1]:
                self._changed(watched.name)

    def _changed(self, name: str) -> None:
        """It is lost now, or back, or seen for the first time."""
        if self._parts.marks.owns(name):
            self._parts.marks.look_at_node(name)
            self.keeper.ask_for(name)

    def _judge_again(self, moment: Moment) -> None:
        for watched in self.fleet.lost:
            before = self._judged_at.get(watched.name, 0.0)
            if moment.elapsed - before >= _JUDGE_EVERY and self._parts.marks.owns(watched.name):
                self.keeper.remind_of(watched)
                self._judged_at[watched.name] = moment.elapsed
                self._parts.marks.look_at_node(watched.name)

    def _our_node(self, name: str) -> Node | None:
        return self._parts.mirror.node(name) if self._parts.marks.owns(name) else None

    def _moment(self) -> Moment:
        return Moment(self._parts.clock.now(), self._parts.clock.elapsed())

    def _count(self, state: str) -> int:
        """Of the nodes that are ours: another worker tells of all others."""
        lost = [one for one in self.fleet.lost if self._parts.marks.owns(one.name)]
        match state:
            case "ready":
                ours = sum(map(self._parts.marks.owns, self.fleet.names))
                return ours - len(lost)
            case "released":
                return sum(one.given_up for one in lost)
            case "contradicted":
                return sum(bool(one.contradiction) for one in lost)
            case _:
                return len(lost)


def _notes(node: Node, report: NodeLossReport, watched: WatchedNode) -> tuple[EventNote, ...]:
    """Events about the node, each to be told once as long as it is lost.

    That it contradicts itself is told once that is sure: the sign of life of a machine that was
    switched off a moment ago may be of before.
    """
    if report.reason != DOUBTED:
        return report.events
    if not (watched.fence.distrust or is_out_of_service(node)):
        return ()
    return (EventNote(type="Warning", reason=CONTRADICTION_REASON, message=report.message),)


class _AllStay(Round):
    """The same of every pod."""

    def __init__(self, finding: Finding) -> None:
        self._finding = finding

    def of(self, pod: Pod) -> Finding:  # noqa: ARG002 - as of Round
        return self._finding


_READY = _AllStay(READY)
_NOT_KNOWN = _AllStay(unheard("it is not known whether the node's kubelet lives"))
