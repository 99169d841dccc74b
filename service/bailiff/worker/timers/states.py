"""The life of an eviction as a table: what may happen to it, through whom, and what it is then.

`PendingEvictions` moves entries by this table alone. What is not in it cannot happen: it would be a
fault of ours, and is told at once instead of being carried on with.

DONE keeps evaluations from evicting a pod a second time before the mirror has seen it go. It is
no end: an answer may have been made up on the way, a delete may be swallowed. So DONE lapses where
the mirror goes on showing the pod, alive. A pod that is seen to be terminating is as good as gone,
and yet still there: its entry stays DONE, without a timer, until it is gone (`LEAVE`, `FORGET`), so
that whoever counts what a cause evicts goes on counting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class State(Enum):
    """What an entry does.

    WAITING: for its deadline, or for its next try. HELD: it is due, and the gate has it. RUNNING:
    an attempt is made. DONE: it needs none any more, as far as an answer tells.
    """

    WAITING = "waiting"
    HELD = "held"
    RUNNING = "running"
    DONE = "done"

    # Of an enumeration it would be computed from the name, each time.
    __hash__ = object.__hash__


class LifecycleError(Exception):
    """Something happened to an entry that its state does not allow; a fault of the program."""


class Who(Enum):
    """Who may cause a move, by module."""

    EVALUATOR = "evaluator"
    GATE = "gate"
    EXECUTOR = "executor"
    LEADERSHIP = "leadership"


@dataclass(frozen=True, eq=False)
class Move:
    """Something that happens to an entry.

    Attributes:
        name: of the method of PendingEvictions through which it happens.
        by: who may cause it.
        to: what the entry is then, by what it was; None: there is none (any more). A state that
            is not named does not allow it.
    """

    name: str
    by: tuple[Who, ...]
    to: Mapping[State | None, State | None]

    def after(self, state: State | None) -> State | None:
        """What follows.

        Raises:
            LifecycleError: it cannot happen in this state.
        """
        try:
            return self.to[state]
        except KeyError:
            was = "no entry" if state is None else state.value
            raise LifecycleError(f"{self.name} of an eviction that is {was}") from None


_WAITING, _HELD, _RUNNING, _DONE = State
_EVALUATOR = (Who.EVALUATOR,)
_GATE = (Who.GATE,)
_EXECUTOR = (Who.EXECUTOR,)

# The pod is to go.
ENTER = Move("schedule", _EVALUATOR, {None: _WAITING})
# It is still to go, at the same time. One that runs is no longer revoked or gone; the gate looks
# again at one that is held.
UPDATE = Move(
    "schedule",
    _EVALUATOR,
    {_WAITING: _WAITING, _HELD: _HELD, _RUNNING: _RUNNING, _DONE: _DONE},
)
# It is to go at another time: a new entry takes its place.
REPLACE = Move("schedule", _EVALUATOR, {_WAITING: None, _HELD: None})
# It was evicted, does not go, and is now to be gone at once: a new entry takes its place.
HASTEN = Move("schedule", _EVALUATOR, {_DONE: None})
# The pod may stay. One that runs is not tried again.
REVOKE = Move("revoke", _EVALUATOR, {_WAITING: None, _HELD: None, _RUNNING: _RUNNING, _DONE: _DONE})
# The pod is terminating, by our hand or another's. One that runs is not tried again.
LEAVE = Move("leave", _EVALUATOR, {_WAITING: None, _HELD: None, _RUNNING: _RUNNING, _DONE: _DONE})
# The pod is gone, has finished, or another worker looks after it from now on. One that runs is not
# tried again.
FORGET = Move(
    "forget",
    (*_EVALUATOR, Who.LEADERSHIP),
    {_WAITING: None, _HELD: None, _RUNNING: _RUNNING, _DONE: None},
)
# It is due, or DONE has lapsed; through the gate, while that stands open.
TAKE = Move("take", _GATE, {_WAITING: _RUNNING, _DONE: _RUNNING})
# The same where there are policies: the gate decides when it begins.
HAND_OVER = Move("hand_over", _GATE, {_WAITING: _HELD, _DONE: _HELD})
BEGIN = Move("begin", _GATE, {_HELD: _RUNNING})
# There are no policies any more: it falls due once more, at once.
RELEASE = Move("release", _GATE, {_HELD: _WAITING})
# No further attempt is needed.
OVER = Move("settle_over", _EXECUTOR, {_RUNNING: _DONE})
# It is tried again, after a while or at its deadline, which has not come after all.
RETRY = Move("settle_retry", _EXECUTOR, {_RUNNING: _WAITING})
PUT_OFF = Move("settle_put_off", _EXECUTOR, {_RUNNING: _WAITING})
# The pod may stay, or is gone: so the attempt has found, or the mirror has told meanwhile.
DROP = Move("settle_dropped", _EXECUTOR, {_RUNNING: None})

MOVES = (
    ENTER,
    UPDATE,
    REPLACE,
    HASTEN,
    REVOKE,
    LEAVE,
    FORGET,
    TAKE,
    HAND_OVER,
    BEGIN,
    RELEASE,
    OVER,
    RETRY,
    PUT_OFF,
    DROP,
)
