"""How fast one client may ask one API server: slower when it is refused, faster when it is not.

As TCP finds out what a network carries (RFC 5681), the client finds out what the server takes.
The number of requests under way grows by about one a round trip while they are answered, and is
halved when one is refused (429, 502, 503, no connection) or not answered in time. After a refusal
nothing is sent for as long as the server asked, or for a backoff; then one request goes ahead, and
the others follow when it has been answered. client-go leaves this to each caller (rest/request.go
waits and sends again, one request at a time, whatever the others met): 2,000 evictions would be
2,000 refusals a second.

A refusal now and then is noise, as a connection that broke, or one of several API servers that is
about to end. Where most were answered lately and others are under way, the next of them to be
answered ends the wait; where none is, one goes ahead after a tenth of a second. TCP would crawl
where one in ten is lost, and this client does not. That goes for a Retry-After of one second too,
which kube-apiserver says to whomever it refuses (pkg/server/filters/maxinflight.go): it counts for
all once two in a row are refused, or many. A longer one says that the server has refused many
already (pkg/util/flowcontrol/dropped_requests_tracker.go), and counts for all at once.

A PodDisruptionBudget that refuses an eviction, also with 429, says nothing about the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster.errors import (
    AdmissionDeniedError,
    ClusterError,
    ConfigError,
    DisruptionBudgetError,
    FencedError,
    RequestTimeoutError,
    TooManyRequestsError,
    UnreachableError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.clock import Clock

# Seconds without requests after a refusal that names no time: doubled with each that follows.
_FIRST_WAIT = 0.1
# Two requests a second find out that the server is back, and are no burden to any.
_LONGEST_WAIT = 0.5
# Who would wait longer than this is told so instead: an attempt, or a caller of the decision API,
# has its own use for the time. Seconds.
_PATIENCE = 10.0
# Whatever the server asks for, it is asked again after this. Seconds.
_MOST_ASKED = 60.0
# What the server asks of whomever it refuses, in seconds; more says that it is in trouble.
_CUSTOMARY = 1.0
# While less than this share of the latest requests is refused, a refusal is noise.
_NOISE = 0.3
# What the latest one counts for in that share: about the last twenty count.
_WEIGHT = 0.05
# Waits are this much longer at random, so that clients that were refused together come apart.
_JITTER = 1.1
# Time-outs leave this share of the requests: a hanging admission webhook lets the deletes of its
# own pods time out, and all others must not stand behind those.
_LEFT_BY_TIMEOUTS = 0.25
_GATEWAY_TIMEOUT = 504
_UNAVAILABLE = (502, 503)

log = structlog.get_logger(__name__)


class Pace:
    """Lets requests go ahead, first come, first served. Belongs to one event loop."""

    def __init__(self, clock: Clock, most: int, rng: random.Random | None = None) -> None:
        """Start without any restraint.

        Args:
            clock: for waits, which are monotonic.
            most: requests under way at once, 1 and up.
            rng: for the jitter of waits.
        """
        self._clock = clock
        self._most = most
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._limit = float(most)
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._running = 0
        # A round begins with a refusal that is no noise. Only what was sent since tells more.
        self._round = 0
        self._running_in_round = 0
        # In a row, with no answer between them.
        self._refusals = 0
        # One request goes ahead, and the others wait for its answer.
        self._probing = False
        self._refused_share = 0.0
        # The last refusal holds everybody only until another request under way is answered.
        self._doubtful = False
        self._held_until = float("-inf")
        self._slowed = 0

    @property
    def limit(self) -> int:
        """How many requests may be under way at once, from 1 to `most`."""
        return 1 if self._probing else int(self._limit)

    def held(self) -> float:
        """Seconds from now for which nothing is sent; 0 if requests may go."""
        return max(0.0, self._held_until - self._clock.monotonic())

    @contextlib.asynccontextmanager
    async def turn(self, what: str) -> AsyncIterator[None]:
        """Wait for the turn of one request; what becomes of it inside sets the pace.

        Args:
            what: the request in words, for the error.

        Raises:
            TooManyRequestsError: not sent, since nothing is for more than 10 s; `retry_after`
                says for how long.
        """
        await self._wait(what)
        begun = self._round
        try:
            yield
        except ClusterError as error:
            self._judge(error, begun)
            raise
        else:
            self._answered(begun)
        finally:
            self._running -= 1
            self._running_in_round -= begun == self._round
            self._changed.set()

    async def _wait(self, what: str) -> None:
        # One request looks whether it may go, the others queue behind it: the lock is fair.
        async with self._turn:
            while (held := self.held()) or not self._has_room():
                if held > _PATIENCE:
                    raise TooManyRequestsError(
                        f"{what}: not sent, the API server asked to be left alone for {held:.0f} s",
                        status=429,
                        retry_after=held,
                    )
                await self._change_within(held or None)
            self._running += 1
            self._running_in_round += 1

    async def _change_within(self, seconds: float | None) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _has_room(self) -> bool:
        # What was sent before the last refusal does not keep the one that goes ahead from going.
        return self._running < self._most and self._running_in_round < self.limit

    def _judge(self, error: ClusterError, begun: int) -> None:
        if _is_refusal(error):
            self._refused(error, begun)
        elif isinstance(error, RequestTimeoutError) or error.status == _GATEWAY_TIMEOUT:
            self._slow_down(error, begun, least=max(1.0, self._most * _LEFT_BY_TIMEOUTS))
        elif not isinstance(error, FencedError | ConfigError):
            self._answered(begun)

    def _answered(self, begun: int) -> None:
        if begun != self._round:
            return
        self._refusals = 0
        self._probing = False
        self._refused_share *= 1 - _WEIGHT
        if self._doubtful:
            self._doubtful = False
            self._held_until = float("-inf")
        if self._limit < self._most:
            self._limit = min(self._limit + 1.0 / self._limit, float(self._most))
            if self._limit == self._most:
                log.info("the API server takes all requests again", slowed=self._slowed)
                self._slowed = 0

    def _refused(self, error: ClusterError, begun: int) -> None:
        asked = error.retry_after or 0.0
        if begun == self._round:
            self._hold(_FIRST_WAIT * 2.0 ** min(self._refusals, 10), _LONGEST_WAIT)
            self._refusals += 1
            # One that goes ahead tells whether the trouble is over, and nothing of how great it is.
            if not self._probing:
                self._weigh(error, asked, begun)
        if self._refusals > 1 or not self._is_noise(asked):
            self._hold(asked, _MOST_ASKED)

    def _weigh(self, error: ClusterError, asked: float, begun: int) -> None:
        self._refused_share += _WEIGHT * (1 - self._refused_share)
        noise = self._is_noise(asked)
        self._doubtful = noise and self._running_in_round > 1
        if not self._doubtful:
            # Of one that was alone nobody knows whether fewer would have been taken.
            self._slow_down(error, begun, least=self._limit if noise else 1.0)
            self._probing = True

    def _is_noise(self, asked: float) -> bool:
        return self._refused_share < _NOISE and asked <= _CUSTOMARY

    def _hold(self, seconds: float, most: float) -> None:
        until = min(seconds * self._rng.uniform(1.0, _JITTER), most)
        self._held_until = max(self._held_until, self._clock.monotonic() + until)

    def _slow_down(self, error: ClusterError, begun: int, least: float) -> None:
        """Halve the requests under way: once a round, since one cause refuses many of them."""
        if begun != self._round:
            return
        if self._limit == self._most:
            # Once, not with every refusal of an outage.
            log.warning("requests are slowed down", error=error.message)
        self._slowed += 1
        self._limit = max(self._limit / 2.0, min(least, self._limit))
        self._round += 1
        self._running_in_round = 0


def _is_refusal(error: ClusterError) -> bool:
    if isinstance(error, DisruptionBudgetError | AdmissionDeniedError):
        return False
    refused = isinstance(error, TooManyRequestsError | UnreachableError)
    return refused or error.status in _UNAVAILABLE
