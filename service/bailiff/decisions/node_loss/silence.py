"""Since when a node is lost, by whoever watches it, in time that no clock can be stepped by.

A node lives as long as its signs of life change: the renewal of its Lease, and the heartbeat of its
Ready condition. What they say is of the node's own clock, and is only compared with what they said
before, never with ours. How long they stand still is elapsed time, as in
pkg/controller/nodelifecycle/node_lifecycle_controller.go (probeTimestamp), and so is the time that
a lost node has: a clock that is stepped makes nobody go early, and holds nobody up.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.instants import moved
from bailiff.decisions.node_loss.standing import LOST, NodeState, ready_condition

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.kinds import Node
    from bailiff.kinds.lease import Lease
    from bailiff.kinds.node_status import NodeCondition

# Seconds by which the wall clock may drift from elapsed time before the instant that is told moves.
_DRIFT = 2.0


class Moment(NamedTuple):
    """One instant by both kinds of time.

    Attributes:
        now: by the wall clock, in UTC.
        elapsed: seconds since some fixed point, never stepped.
    """

    now: datetime
    elapsed: float


class Signs(NamedTuple):
    """What a node says of itself, by its own clock.

    Attributes:
        renewed: of its Lease; None: it has none.
        heartbeat: of its Ready condition, which its kubelet writes; None: it has none.
    """

    renewed: datetime | None
    heartbeat: datetime | None


class Glance(NamedTuple):
    """What one look at a node says.

    Attributes:
        state: how it stands.
        lives: its signs of life are newer than `silent_after`, whatever its Ready condition says.
    """

    state: NodeState
    lives: bool


class Vigil:
    """One node that is watched.

    Attributes:
        uid: of the node.
        state: as it was seen last.
        signs: likewise.
        transition: when its Ready condition changed, by the clock of whoever changed it.
        lives: its signs of life are newer than `silent_after`, whatever its Ready condition says.
        is_known: whether it lives is known: it has given a sign of life since the first look, or
            none for `silent_after`. Before that it is only believed, and nothing is done about it.
        sign_at: elapsed seconds of its last sign of life; minus infinity: none was seen.
        flipped: at this look its Ready condition says what it said before, and has said otherwise
            in between: whatever was counted is over.
    """

    def __init__(self, uid: str) -> None:
        """A node that has not been looked at yet."""
        self.uid = uid
        self.state = NodeState.READY
        self.signs = Signs(None, None)
        self.transition: datetime | None = None
        self.lives = self.is_known = self.flipped = False
        self.sign_at = -math.inf
        self._seen = self._leased = False
        self._first_at = math.inf
        self._floor = -math.inf
        self._status = ""
        self._lost_at: float | None = None
        self._told: datetime | None = None

    def expect_lease(self) -> None:
        """It is known to have had a Lease; its kubelet makes another one if that is deleted."""
        self._leased = True

    def condemn(self, node: Node, lease: Lease | None) -> None:
        """It is known to have been silent before the first look, and has not lived since."""
        self.signs, self._seen = _signs(ready_condition(node), lease), True
        self._first_at = -math.inf

    def see(
        self, node: Node, lease: Lease | None, moment: Moment, settings: NodeLossSettings
    ) -> NodeState:
        """Look at it; its state by now.

        At the first look signs of life prove nothing, since they may be old. So a node whose Ready
        condition is True is believed for `silent_after`, and one whose is not is lost at once,
        though for as long nobody knows whether its kubelet lives.

        Args:
            node: as the API server has it.
            lease: of the node; None: there is none.
            moment: of the look.
            settings: as told.
        """
        ready = ready_condition(node)
        status, signs = _status(ready), _signs(ready, lease)
        is_sign = self._seen and _is_newer(signs, self.signs)
        self.sign_at = self._last_sign(status, moment.elapsed, is_sign=is_sign)
        self._first_at = min(self._first_at, moment.elapsed)
        self.signs, self._seen = signs, True
        self._flip(status, None if ready is None else ready.last_transition_time)
        self._leased = self._leased or signs.renewed is not None
        self.lives = moment.elapsed - self.sign_at < settings.silent_after
        self.state = _state(status, leased=self._leased, lives=self.lives)
        by_condition_alone = not self._leased and self.state is NodeState.READY
        is_long_seen = moment.elapsed - self._first_at >= settings.silent_after
        self.is_known = self.is_known or is_sign or is_long_seen or by_condition_alone
        if self.flipped or self.state not in LOST:
            self._lost_at = self._told = None
        if self.state in LOST and self._lost_at is None:
            self._lost_at = moment.elapsed
        return self.state

    def _flip(self, status: str, transition: datetime | None) -> None:
        """Take in what the condition says; source: readyTransitionTimestamp upstream."""
        same = status == self._status and transition is not None and self.transition is not None
        self.flipped = same and transition != self.transition
        self._status, self.transition = status, transition

    def peek(
        self, node: Node, lease: Lease | None, elapsed: float, settings: NodeLossSettings
    ) -> Glance:
        """What `see` would say of this, of which nothing is kept: it may be newer than the rest."""
        ready = ready_condition(node)
        status, signs = _status(ready), _signs(ready, lease)
        is_sign = self._seen and _is_newer(signs, self.signs)
        alive = elapsed - self._last_sign(status, elapsed, is_sign=is_sign) < settings.silent_after
        leased = self._leased or signs.renewed is not None
        return Glance(_state(status, leased=leased, lives=alive), alive)

    def _last_sign(self, status: str, elapsed: float, *, is_sign: bool) -> float:
        if not self._seen:
            return elapsed if status == "True" else -math.inf
        return elapsed if is_sign else self.sign_at

    def lost_for(self, elapsed: float) -> float:
        """Seconds for which it is lost; 0: it is not."""
        return 0.0 if self._lost_at is None else max(0.0, elapsed - self._lost_at)

    def lost_since(self, moment: Moment) -> datetime | None:
        """The instant since which it is lost, by the wall clock as that is now; None: it is not.

        It stays the same as long as the wall clock and elapsed time go together.
        """
        if self._lost_at is None:
            return None
        since = moved(moment.now, timedelta(0, self._lost_at - moment.elapsed))
        if self._told is None or abs((since - self._told).total_seconds()) > _DRIFT:
            self._told = since
        return self._told

    def resume(self, seconds: float, elapsed: float) -> None:
        """It has been lost for so long already, as another worker has seen, or this one before.

        What was before its time started over stays forgotten.
        """
        if self._lost_at is not None:
            told = max(self._floor, elapsed - max(0.0, seconds))
            self._lost_at, self._told = min(self._lost_at, told), None

    def start_anew(self, elapsed: float, *, unheard: bool = False) -> None:
        """Its time starts over, if it is lost; else it is as if it had just been heard of.

        Args:
            elapsed: seconds, never stepped.
            unheard: nothing was heard of any node, so that it is not known any more whether it
                lives.
        """
        self._floor = elapsed
        if unheard:
            self.is_known, self._first_at = False, elapsed
        if self._lost_at is None:
            self.sign_at = elapsed
        else:
            self._lost_at, self._told = elapsed, None


def _status(ready: NodeCondition | None) -> str:
    """Of its Ready condition; a node that has none is not heard of."""
    return "Unknown" if ready is None else ready.status


def _signs(ready: NodeCondition | None, lease: Lease | None) -> Signs:
    renewed = None if lease is None else lease.spec.renew_time
    return Signs(renewed, None if ready is None else ready.last_heartbeat_time)


def _state(status: str, *, leased: bool, lives: bool) -> NodeState:
    if status == "True":
        # Without a Lease nobody hears of it more often than once in some minutes. One that had a
        # Lease would make it anew if it was deleted.
        return NodeState.READY if lives or not leased else NodeState.SILENT
    if status == "False":
        return NodeState.NOT_READY
    return NodeState.LEASE_RENEWED if lives else NodeState.UNKNOWN


def _is_newer(signs: Signs, before: Signs) -> bool:
    """Whether any of them is there, and is not what it was; one that goes away is no sign."""
    renewed, heartbeat = signs
    is_renewed = renewed is not None and renewed != before.renewed
    return is_renewed or (heartbeat is not None and heartbeat != before.heartbeat)
