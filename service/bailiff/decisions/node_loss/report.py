"""What is said of a lost node besides its pods: how it stands, and what is written around it."""

from __future__ import annotations

from bailiff.decisions.decision import EventNote, ObjectReference
from bailiff.decisions.node_loss.standing import Standing
from bailiff.decisions.node_loss.zones import ZoneState
from bailiff.kinds import Taint
from bailiff.kinds.meta import Value


class StuckPod(Value, frozen=True):
    """A pod that was deleted and does not go, since nobody may force it.

    Attributes:
        pod: whom it concerns.
        message: why nobody may, and what would release it.
    """

    pod: ObjectReference
    message: str


class NodeLossReport(Value, frozen=True):
    """How a node stands, and what is done besides evicting.

    Attributes:
        standing: whether it is lost, since when, and when its pods may go.
        zone: its zone; empty: it has none.
        zone_state: how that stands.
        rate: nodes a second that are given up there; 0: none.
        taints: those that follow from the node's conditions, whether it has them or not.
        proof: who says that its machine is off; empty: nobody.
        acts: its pods go now.
        events: to record on the node before its pods go.
        to_mark: pods whose `status.reason` and `status.message` are to tell that the node is lost,
            and do not yet; those that stay are among them, as upstream has it.
        to_mark_not_ready: pods that say that they are ready, which on a lost node nobody knows.
        stuck: those that were deleted and do not go.
        reason: what holds for the pods of the node in general, in one word.
        message: the same for people.
    """

    standing: Standing
    zone: str = ""
    zone_state: ZoneState = ZoneState.NORMAL
    rate: float = 0.0
    taints: tuple[Taint, ...] = ()
    proof: str = ""
    acts: bool = False
    events: tuple[EventNote, ...] = ()
    to_mark: tuple[ObjectReference, ...] = ()
    to_mark_not_ready: tuple[ObjectReference, ...] = ()
    stuck: tuple[StuckPod, ...] = ()
    reason: str = ""
    message: str = ""
