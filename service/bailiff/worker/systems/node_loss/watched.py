"""What is kept of one node that is watched for its loss."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.node_loss.facts import NodeLossFacts
from bailiff.decisions.node_loss.memory import NodeLossMemory
from bailiff.decisions.node_loss.proof import contradiction_in, is_held_by_distrust
from bailiff.decisions.node_loss.silence import Vigil
from bailiff.decisions.node_loss.standing import LOST

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
        answer: what the fence said last.
        heard_at: elapsed seconds when it did.
        refuted: why the fence is asked once more, which had said that it is off: it has given a
            sign of life after that, and may just have been switched on. Empty: it has not.
        proof: the answer that is gone by: the node was looked at after it.
        distrust: why the fence is not believed until the node is back; empty: it is.
        contradiction: why what is known of it cannot be; empty: it can.
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
        self.distrust = ""
        self.marked: set[PodMark] = set()
        self.forget_loss()

    def forget_loss(self) -> None:
        """Its time starts over, or it is back."""
        self.forget_turn()
        self.contradiction = self.distrust
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
        self.answer: OffProof | None = None
        self.heard_at = 0.0
        self.refuted = ""
        self.proof: OffProof | None = None

    def come_back(self) -> None:
        """It lives: whoever has spoken of another machine is believed again."""
        self.distrust = ""
        self.forget_loss()

    @property
    def is_lost(self) -> bool:
        """As it was seen last."""
        return self.vigil.state in LOST

    @property
    def is_off(self) -> bool:
        """Whether the fence says so, and is believed."""
        return self.proof is not None and self.proof.off and not self.distrust

    @property
    def is_to_be_looked_at(self) -> bool:
        """Live, before anything else is done: its turn has come, or the fence says that it is off.

        Nobody goes by the word of a fence before the node was looked at after it.
        """
        if self.turn_at is None:
            return False
        return not self.given_up or (self.is_said_to_be_off and not self.distrust)

    @property
    def is_said_to_be_off(self) -> bool:
        """The fence says so, and nobody has looked at the node since."""
        return self.answer is not None and self.answer.off and self.answer is not self.proof

    def hear(self, answer: OffProof, elapsed: float) -> None:
        """Take in what the fence says; that a machine is off counts once the node was looked at."""
        self.answer, self.heard_at = answer, elapsed
        if not answer.off:
            self.proof, self.refuted = answer, ""

    def doubt(self, node: Node) -> bool:
        """Take in whether what is known of it can be, after a look; whether that is another.

        A machine that is off gives no sign of life after that. The first one is taken for that of a
        machine that was switched on, and the fence is asked again; the second refutes the fence.
        """
        before = self.contradiction, self.distrust
        says_off = self.answer is not None and self.answer.off
        if says_off and self.vigil.sign_at > self.heard_at and not self.distrust:
            told = contradiction_in(node, NodeLossFacts(proof=self.answer), lives=True)
            self.distrust = told if self.refuted else ""
            self.refuted, self.answer, self.proof = told, None, None
        self.contradiction = self.against(node, lives=self.vigil.lives)
        return before != (self.contradiction, self.distrust)

    def against(self, node: Node, *, lives: bool) -> str:
        """Why what is known of it cannot be; empty: it can.

        Whoever says of a node that lives that its machine is off is believed no more until the node
        is back. A person who has said so by the taint may have been a minute early, and is believed
        once it does not live.

        Args:
            node: as it is now: it may have been tainted since the last look.
            lives: likewise.
        """
        if self.distrust and is_held_by_distrust(node, lives=lives):
            return self.distrust
        if self.refuted and lives:
            return self.refuted
        return contradiction_in(node, NodeLossFacts(proof=self._believed), lives=lives)

    @property
    def _believed(self) -> OffProof | None:
        return None if self.distrust else self.proof

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
            contradiction=self.against(node, lives=lives),
            proof=self._believed,
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
        since, vigil = self.vigil.lost_since(moment), self.vigil
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
            fenced=self.proof.by if self.proof is not None and self.is_off else "",
            distrust=self.distrust[:_TOLD],
            after=after,
        )
