"""What an attempt to evict has come to, by what the API server has answered."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING

from bailiff.cluster.errors import (
    AdmissionDeniedError,
    BadRequestError,
    ClusterError,
    ConfigError,
    FencedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
    UnreachableError,
)

if TYPE_CHECKING:
    from bailiff.clock import Clock

# Of a proxy before an API server that is away, or of one whose etcd is: nobody's eviction is taken.
_NOBODY_BEHIND = (502, 503, 504)
# So often one pod's eviction fails in a way that may pass until others go in its place: a try is
# made every two seconds.
_PASSES_WITHIN = 6
# Seconds without a failure after which the next one is another one.
_ANOTHER_AFTER = 30.0
_MOST_KEPT = 256


class Fate(StrEnum):
    """What an attempt has come to.

    EVICTED: the API server has taken it. STOPPED: its containers were stopped, and the API server
    is to be told. GONE: there is no such pod any more. REFUSED: the API server, or who reviews
    evictions there, says no, or it has no container that could be stopped. FAILED: it stays, for
    now. ON_PAPER: nothing was done, since the agent is a shadow.
    """

    EVICTED = "evicted"
    STOPPED = "stopped"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"
    ON_PAPER = "onPaper"


class Answer(Enum):
    """What an error says of one pod's eviction.

    GONE: there is no such pod. AWAY: nobody answers. BUSY: nobody's eviction is taken at the
    moment, so that it is no reason for another to go. UNCLEAR: it may pass, or be of this pod. NO:
    this pod is not to go.
    """

    GONE = auto()
    AWAY = auto()
    BUSY = auto()
    UNCLEAR = auto()
    NO = auto()


# The first that fits: a webhook may say no with any code.
_ANSWERS: tuple[tuple[type[ClusterError] | tuple[type[ClusterError], ...], Answer], ...] = (
    (UidMismatchError, Answer.GONE),
    (AdmissionDeniedError, Answer.NO),
    ((UnreachableError, RequestTimeoutError), Answer.AWAY),
    ((UnauthorizedError, TooManyRequestsError, ConfigError, FencedError), Answer.BUSY),
    ((BadRequestError, ForbiddenError, InvalidError), Answer.NO),
)


def answer_in(error: ClusterError, name: str) -> Answer:
    """What an error says of the eviction of a pod of this name."""
    if isinstance(error, ServerError) and error.status in _NOBODY_BEHIND:
        return Answer.AWAY
    if isinstance(error, NotFoundError):
        # A proxy that knows no such path says nothing of the pod.
        return Answer.GONE if error.is_about("", "pods", name) else Answer.UNCLEAR
    return next((answer for kind, answer in _ANSWERS if isinstance(error, kind)), Answer.UNCLEAR)


class Unclear:
    """How often evictions have failed in a way that may pass: one that does not is a no."""

    def __init__(self, clock: Clock) -> None:
        """Nothing has failed yet; the clock counts the seconds."""
        self._clock = clock
        # How often, and when last.
        self._failed: dict[str, tuple[int, float]] = {}

    def failed(self, uid: str) -> Fate:
        """It has failed so once more.

        Returns:
            FAILED five times, then REFUSED.
        """
        elapsed = self._clock.elapsed()
        times, last = self._failed.pop(uid, (0, elapsed))
        times = 1 if elapsed - last > _ANOTHER_AFTER else times + 1
        if times >= _PASSES_WITHIN:
            return Fate.REFUSED
        self._failed[uid] = times, elapsed
        while len(self._failed) > _MOST_KEPT:
            del self._failed[next(iter(self._failed))]
        return Fate.FAILED

    def ended(self, uid: str) -> None:
        """It is decided, one way or the other."""
        self._failed.pop(uid, None)
