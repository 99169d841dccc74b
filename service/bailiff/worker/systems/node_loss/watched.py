"""What is kept of one node that is watched for its loss."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.memory import NodeLossMemory
from bailiff.decisions.node_loss.silence import Vigil
from bailiff.decisions.node_loss.standing import LOST
from bailiff.decisions.node_loss.testimony import FenceTestimony

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions import EventNote
    from bailiff.decisions.node_loss.facts import ZoneCount
    from bailiff.decisions.node_loss.report import StuckPod
    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.decisions.node_loss.silence import Moment
    from bailiff.kinds import Node
    from bailiff.kinds.daemon_set import DaemonSet
    from bailiff.kinds.volume_claim import PersistentVolumeClaim

_SECOND = timedelta(seconds=1)
# Events of a node that wait to be written; the oldest go first where there are more.
_EVENTS = 16
# Characters of a reason in the annotation, which is read up to 1,024.
_TOLD = 300


class PodMark(NamedTuple):
    """Something that is written of a pod of a lost node.

    Attributes:
        namespace: of the pod.
        name: likewise.
        uid: likewise.
        what: `reason`, `notReady` or `stuck`.
    """

    namespace: str
    name: str
    uid: str
    what: str


class WatchedNode:
    """One node.

    Attributes:
        name: of the node.
        zone: its zone.
        vigil: since when it is lost.
        turn_at: when its turn came, by the pace of its zone; None: it has not.
        given_up: it was looked at live after that, and its pods go.
        asked_at: elapsed seconds when the fence was first asked; None: it was not.
        fence: what the fence has said of its machine.
        contradiction: why what is known of it cannot be, as of the last look; empty: it can.
        daemon_sets: of the namespaces of its pods that nobody manages.
        claims: those of its pods.
        events: about the node, to be written.
        told: reasons of the Events about it that were told.
        stuck: pods that were deleted and do not go.
        to_mark: what is to be written of its pods, as the last round had it.
        marked: what was written of them.
    """

    def __init__(self, name: str, uid: str) -> None:
        """A node of which nothing is known yet."""
        self.name = name
        self.zone = ""
        self.vigil = Vigil(uid)
        self.events: deque[EventNote] = deque(maxlen=_EVENTS)
        self.fence = FenceTestimony()
        self.marked: set[PodMark] = set()
        self.forget_loss()

    def forget_loss(self) -> None:
        """Its time starts over, or it is back."""
        self.forget_turn()
        self.contradiction = self.fence.distrust
        self.daemon_sets: tuple[DaemonSet, ...] = ()
        self.claims: tuple[PersistentVolumeClaim, ...] = ()
        self.told: set[str] = set()
        self.stuck: tuple[StuckPod, ...] = ()
        self.to_mark: dict[PodMark, str] = {}
        self.marked.clear()
        self.events.clear()

    def forget_turn(self) -> None:
        """Another worker may have led meanwhile, and have heard otherwise."""
        self.turn_at: datetime | None = None
        self.given_up = False
        self.asked_at: float | None = None
        self.fence.forget()

    def come_back(self) -> None:
        """It lives: whoever has spoken of another machine is believed again."""
        self.fence.distrust = ""
        self.forget_loss()

    @property
    def is_lost(self) -> bool:
        """As it was seen last."""
        return self.vigil.state in LOST

    @property
    def is_to_be_looked_at(self) -> bool:
        """Live, before anything else is done: its turn has come, or the fence says that it is off.

        Nobody goes by the word of a fence before the node was looked at after it.
        """
        if self.turn_at is None:
            return False
        return not self.given_up or (self.fence.is_off_unseen and not self.fence.distrust)

    def doubt(self, node: Node) -> bool:
        """Take in whether what is known of it can be, after a look; whether that is another."""
        before = self.contradiction, self.fence.distrust
        self.fence.weigh(node, self.vigil.sign_at)
        self.contradiction = self.fence.against(node, lives=self.vigil.lives)
        return before != (self.contradiction, self.fence.distrust)

    def facts(
        self,
        node: Node,
        settings: NodeLossSettings,
        zones: tuple[ZoneCount, ...],
        moment: Moment,
        *,
        lives: bool,
    ) -> NodeLossFacts:
        """The section of a question about it."""
        return NodeLossFacts(
            settings=settings,
            lost_since=self.vigil.lost_since(moment),
            lives=lives,
            zones=zones,
            released=self.given_up,
            contradiction=self.fence.against(node, lives=lives),
            proof=self.fence.believed,
            daemon_sets=self.daemon_sets,
            claims=self.claims,
        )

    def note(self, moment: Moment, *, after: float, counts: bool) -> NodeLossMemory | None:
        """What its annotation is to say; None: nothing.

        Args:
            moment: of the look.
            after: seconds that it has before its pods go.
            counts: its time goes on; it does not where its zone is down.
        """
        since, vigil, proof = self.vigil.lost_since(moment), self.vigil, self.fence.proof
        if since is None:
            return None
        turn = None if self.turn_at is None else self.turn_at.replace(microsecond=0)
        return NodeLossMemory(
            uid=vigil.uid,
            # To the next second: a restart is not to come early by a part of one.
            since=(since + _SECOND).replace(microsecond=0) if counts else None,
            state=vigil.state.value,
            silent=not vigil.lives,
            renewed=vigil.signs.renewed,
            transition=vigil.transition,
            released=turn if counts else None,
            fenced=proof.by if proof is not None and self.fence.is_off else "",
            distrust=self.fence.distrust[:_TOLD],
            after=after,
        )
