"""What an attempt to evict can come to, and what follows from it: one table.

No limit on tries: an eviction ends when the pod is gone, or may stay. That it is gone is believed
of an answer that says so of this very pod, and of the watch; of the answer only until the watch
contradicts it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from bailiff.cluster import (
    ClusterError,
    ConflictError,
    DisruptionBudgetError,
    FencedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from bailiff.cluster import Resource
    from bailiff.decisions.policies import EvictionApi


class Outcome(Enum):
    """How an attempt ended; the value is the metric label.

    DELETED: the API server has taken the delete. MARKED: the status says that it is evicted, and
    the object stays, as the terms of its eviction have it. GONE: there was no such pod any more.
    REPLACED: another pod has its name. ENDED: it has finished, or somebody else has deleted it.
    KEPT: it may stay after all. PUT_OFF: its time has not come, by a clock that was put right
    since the attempt began; it waits for it. FENCED: another worker leads, nothing was sent.
    BLOCKED: its PodDisruptionBudget does not let it go now. UNCOUNTED: it was not begun, since a
    budget over time has no place left for it, or its gang must wait. SURVIVED: DELETED, MARKED,
    GONE, REPLACED or ENDED, and the watch goes on showing the pod, alive; or its status was
    written, and the answer does not show it. The others, and the last four, are tried again, see
    RETRIES.
    """

    DELETED = "deleted"
    MARKED = "marked"
    GONE = "gone"
    REPLACED = "replaced"
    ENDED = "ended"
    KEPT = "kept"
    PUT_OFF = "putOff"
    FENCED = "fenced"
    CONFLICT = "conflict"
    OVERLOADED = "overloaded"
    BLOCKED = "blocked"
    UNCOUNTED = "uncounted"
    DENIED = "denied"
    UNREACHABLE = "unreachable"
    SURVIVED = "survived"


@dataclass(frozen=True)
class Retry:
    """Exponential backoff: `first` seconds doubled with every try up to `most`, 20 % jitter."""

    first: float
    most: float

    def delay(self, failures: int, asked: float | None, rng: random.Random) -> float:
        """Seconds to wait after so many of the kind; never less than the server asked for."""
        doubled = self.first * 2.0 ** min(max(failures - 1, 0), 30)
        delay = min(doubled, self.most) * rng.uniform(0.8, 1.2)
        return max(delay, asked or 0.0)


# Outcomes that are not here end the eviction.
RETRIES: dict[Outcome, Retry] = {
    # It waits for when this worker leads again; if it never does, the leader evicts.
    Outcome.FENCED: Retry(1, 1),
    # Somebody wrote at the same time: look again at once.
    Outcome.CONFLICT: Retry(0.05, 5),
    # The server sheds load and says for how long.
    Outcome.OVERLOADED: Retry(1, 60),
    # A PodDisruptionBudget says not now. It may let go any moment, mostly within minutes.
    Outcome.BLOCKED: Retry(5, 60),
    # The gate knows by now what holds it; or the counts cannot be read or written.
    Outcome.UNCOUNTED: Retry(0.1, 30),
    # A webhook or RBAC says no. People have to act; asking often does not help them.
    Outcome.DENIED: Retry(5, 300),
    # Down, cut off, or failing inside.
    Outcome.UNREACHABLE: Retry(0.2, 30),
    # The watch tells of a deletion within milliseconds; a watch that has to start again needs
    # seconds, and a look at each pod meanwhile would not help it.
    Outcome.SURVIVED: Retry(5, 60),
}

# Those by which the pod is evicted, and by us.
EVICTED = frozenset({Outcome.DELETED, Outcome.MARKED})

# Those by which it has gone, or goes, and nobody says by whom.
_WENT = frozenset({Outcome.GONE, Outcome.REPLACED, Outcome.ENDED})


def may_be_ours(outcome: Outcome, failures: Mapping[str, int] | None) -> bool:
    """Whether that a pod has gone may be our deed, though no answer has said so.

    Args:
        outcome: of its eviction.
        failures: how many attempts have failed, by what they came to. One that had no answer may be
            the one that was carried out.
    """
    unanswered = (failures or {}).get(Outcome.UNREACHABLE.value, 0)
    return outcome in _WENT and unanswered > 0


# Those that concern the pod alone, and may go on for long.
REFUSALS = frozenset({Outcome.BLOCKED.value, Outcome.DENIED.value})

_BY_ERROR: tuple[tuple[type[ClusterError], Outcome], ...] = (
    # A subclass stands before its parent.
    (FencedError, Outcome.FENCED),
    (UidMismatchError, Outcome.REPLACED),
    (ConflictError, Outcome.CONFLICT),
    (DisruptionBudgetError, Outcome.BLOCKED),
    (TooManyRequestsError, Outcome.OVERLOADED),
    # RBAC; and admission, which may deny with any code.
    (ForbiddenError, Outcome.DENIED),
    (UnauthorizedError, Outcome.DENIED),
    (InvalidError, Outcome.DENIED),
)


def deadline_of(due: float, api: EvictionApi | None) -> float:
    """When a pod that fell due then goes though its budget protects it; infinity: never."""
    seconds = None if api is None else api.deadline_seconds
    return math.inf if seconds is None else due + seconds


def classify(error: ClusterError, resource: Resource[Any], name: str) -> Outcome:
    """The outcome that an error of the cluster stands for.

    Args:
        error: the failure of a request.
        resource: that of the object which the attempt is about.
        name: of that object. A 404 that does not name it says nothing about it: a proxy, or a
            path that the API server does not serve (yet), answers 404 too.
    """
    if isinstance(error, NotFoundError):
        named = error.is_about(resource.group, resource.plural, name)
        return Outcome.GONE if named else Outcome.UNREACHABLE
    for kind, outcome in _BY_ERROR:
        if isinstance(error, kind):
            return outcome
    # What is left is 5xx and the network, and 4xx that nobody but a person can mend.
    if 400 <= error.status < 500:
        return Outcome.DENIED
    return Outcome.UNREACHABLE
