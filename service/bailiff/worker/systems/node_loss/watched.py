"""What is kept of one node that is watched for its loss."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.memory import NodeLossMemory
from bailiff.decisions.node_loss.proof import contradiction_in
from bailiff.decisions.node_loss.silence import Vigil

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import EventNote
    from bailiff.decisions.node_loss.facts import OffProof, ZoneCount
    from bailiff.decisions.node_loss.report import StuckPod
    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.decisions.node_loss.silence import Moment
    from bailiff.kinds import Node
    from bailiff.kinds.daemon_set import DaemonSet
    from bailiff.kinds.volume_claim import PersistentVolumeClaim

_SECOND = timedelta(seconds=1)
# Events of a node that wait to be written; the oldest go first where there are more.
_EVENTS = 16


class WatchedNode:
    """One node.

    Attributes:
        name: of the node.
        vigil: since when it is lost.
        released_at: when its turn came, by the pace of its zone; None: it has not.
        verified: it was looked at live after that, and its pods go.
        proof: what the fence said last; None: it was not asked.
        contradiction: why what is known of it cannot be; empty: it can.
        tainted: the taint out-of-service there is ours.
        daemon_sets: of the namespaces of its pods that nobody manages.
        claims: those of its pods.
        events: about the node, to be written.
        told: reasons of the Events about it that were told.
        stuck: pods that were deleted and do not go.
        marked: pods that were marked, by UID, and with what.
    """

    def __init__(self, name: str, uid: str) -> None:
        """A node of which nothing is known yet."""
        self.name = name
        self.vigil = Vigil(uid)
        self.events: deque[EventNote] = deque(maxlen=_EVENTS)
        self.tainted = False
        self.stuck: tuple[StuckPod, ...] = ()
        self.marked: set[tuple[str, str]] = set()
        self.forget_loss()

    def forget_loss(self) -> None:
        """It is back, or its time starts over; what is on the node of ours is not forgotten."""
        self.released_at: datetime | None = None
        self.verified = False
        self.proof: OffProof | None = None
        self.contradiction = ""
        self.daemon_sets: tuple[DaemonSet, ...] = ()
        self.claims: tuple[PersistentVolumeClaim, ...] = ()
        self.told: set[str] = set()
        self.stuck = ()
        self.marked.clear()

    @property
    def is_lost(self) -> bool:
        """As it was seen last."""
        return self.vigil.state.is_lost

    @property
    def is_off(self) -> bool:
        """Whether the fence says so."""
        return self.proof is not None and self.proof.off

    def against(self, node: Node) -> str:
        """Why what is known of it cannot be; empty: it can.

        Whoever says of a node that lives that its machine is off is believed no more until the node
        is back. A person who has said so by the taint may have been a minute early.

        Args:
            node: as it is now: it may have been tainted since the last look.
        """
        if self.contradiction and self.is_off:
            return self.contradiction
        facts = NodeLossFacts(proof=self.proof)
        return contradiction_in(node, facts, lives=self.vigil.lives)

    def facts(
        self,
        node: Node,
        settings: NodeLossSettings,
        zones: tuple[ZoneCount, ...],
        moment: Moment,
    ) -> NodeLossFacts:
        """The section of a question about it."""
        return NodeLossFacts(
            settings=settings,
            lost_since=self.vigil.lost_since(moment),
            zones=zones,
            released=self.verified,
            contradiction=self.against(node),
            proof=self.proof,
            daemon_sets=self.daemon_sets,
            claims=self.claims,
        )

    def note(self, moment: Moment) -> NodeLossMemory | None:
        """What its annotation is to say; None: nothing."""
        since, vigil = self.vigil.lost_since(moment), self.vigil
        if since is None:
            return None
        released = None if self.released_at is None else self.released_at.replace(microsecond=0)
        return NodeLossMemory(
            uid=vigil.uid,
            # To the next second: a restart is not to come early by a part of one.
            since=(since + _SECOND).replace(microsecond=0),
            state=vigil.state.value,
            renewed=vigil.signs.renewed,
            transition=vigil.transition,
            released=released,
            fenced=self.proof.by if self.proof is not None and self.proof.off else "",
            tainted=self.tainted,
        )
