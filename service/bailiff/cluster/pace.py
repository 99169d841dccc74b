"""How fast one client may ask one API server: slower when it is refused, faster when it is not.

As TCP finds out what a network carries (RFC 5681), the client finds out what the server takes.
The number of requests under way grows by about one a round trip while they are answered, and is
halved when one is refused (429, 502, 503, no connection) or not answered in time. After a refusal
nothing is sent for as long as the server asked, or for a backoff; then one request goes ahead, and
the others follow when it has been answered. client-go leaves this to each caller (rest/request.go
waits and sends again, one request at a time, whatever the others met): 2,000 evictions would be
2,000 refusals a second.

A refusal now and then is noise, as a connection that broke, or one of several API servers that is
about to end. While few are refused the next answer to what is under way ends the wait; where
nothing is, one goes ahead at once. TCP would crawl where one in ten is lost, and this client does
not. That goes for a Retry-After of one second too, which kube-apiserver says to whomever it refuses
(pkg/server/filters/maxinflight.go): it counts for all once two in a row are refused, or many. A
longer one says that the server has refused many already
(pkg/util/flowcontrol/dropped_requests_tracker.go), and counts for all at once.

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

# Seconds without requests after a refusal that names no time and is no noise: doubled with each
# that follows.
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
# While less than this share of the latest requests is refused, a refusal is noise. Connections that
# break are noise for longer: of three API servers one may be away, and nobody is spared by leaving
# the other two alone.
_NOISE = 0.3
_NOISE_BROKEN = 0.5
# How many of the latest requests count in that share: so many times the limit, as refusals mostly
# come sooner than the answers to what was sent with them, and twenty at least.
_ROUNDS = 5.0
_FEWEST = 20.0
# Seconds after which another request goes ahead where the first has no answer: it may be a list of
# everything, or hang in a webhook.
_NEXT_PROBE = 1.0
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
        # What was sent before a round began tells nothing more: one cause refuses many of them.
        self._round = 0
        self._running_in_round = 0
        # In a row, with no answer between them.
        self._refusals = 0
        # Waits since the last answer; while there are any one request goes ahead, and the others
        # wait for its answer.
        self._waits = 0
        self._sent_at = float("-inf")
        self._refused_share = 0.0
        self._backoff_until = float("-inf")
        # By refusals that may be noise: until another request under way is answered.
        self._doubted_until = float("-inf")
        self._slowed = 0

    @property
    def limit(self) -> int:
        """How many requests may be under way at once, from 1 to `most`."""
        return 1 if self._waits else int(self._limit)

    def backoff(self) -> float:
        """Seconds from now for which nothing is sent; 0 if requests may go."""
        now = self._clock.monotonic()
        return max(0.0, self._backoff_until - now, self._doubted_until - now)

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
            while (wait := self.backoff()) or not self._has_room():
                if wait > _PATIENCE:
                    raise TooManyRequestsError(
                        f"{what}: not sent, the API server asked to be left alone for {wait:.0f} s",
                        status=429,
                        retry_after=wait,
                    )
                await self._change_within(wait or self._until_next_probe())
            self._running += 1
            self._running_in_round += 1
            self._sent_at = self._clock.monotonic()

    async def _change_within(self, seconds: float | None) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _has_room(self) -> bool:
        # What was sent before the last refusal does not keep the one that goes ahead from going.
        if self._running >= self._most:
            return False
        return self._running_in_round < self.limit or self._until_next_probe() == 0.0

    def _until_next_probe(self) -> float | None:
        """Seconds until another may go ahead; None where that does not come by waiting."""
        if not self._waits or self._running >= self._most:
            return None
        return max(0.0, self._sent_at + _NEXT_PROBE - self._clock.monotonic())

    def _judge(self, error: ClusterError, begun: int) -> None:
        if _is_refusal(error):
            self._refused(error, begun)
        elif isinstance(error, RequestTimeoutError) or error.status == _GATEWAY_TIMEOUT:
            self._timed_out(error, begun)
        elif not isinstance(error, FencedError | ConfigError):
            self._answered(begun)

    def _answered(self, begun: int) -> None:
        if begun != self._round:
            return
        self._refusals = 0
        self._waits = 0
        self._refused_share *= 1.0 - self._weight()
        self._doubted_until = float("-inf")
        if self._limit < self._most:
            self._limit = min(self._limit + 1.0 / self._limit, float(self._most))
            if self._limit == self._most:
                log.info("the API server takes all requests again", slowed=self._slowed)
                self._slowed = 0

    def _timed_out(self, error: ClusterError, begun: int) -> None:
        if begun != self._round:
            return
        # One that goes ahead tells whether the trouble is over, and nothing of how great it is.
        if not self._waits:
            self._slow_down(error, least=max(1.0, self._most * _LEFT_BY_TIMEOUTS))
        self._begin_round()

    def _refused(self, error: ClusterError, begun: int) -> None:
        current = begun == self._round
        weighed = current and not self._waits
        self._refusals += current
        if weighed:
            self._refused_share += self._weight() * (1.0 - self._refused_share)
        noise = self._is_noise(error)
        until = self._clock.monotonic() + self._wait_after(error, noise, current)
        if weighed and noise and self._running_in_round > 1:
            self._doubted_until = max(self._doubted_until, until)
            return
        self._backoff_until = max(self._backoff_until, until)
        self._waits += current
        if weighed:
            # Of noise that was alone nobody knows whether fewer would have been taken.
            if not noise:
                self._slow_down(error, least=1.0)
            self._begin_round()

    def _weight(self) -> float:
        """What the latest request counts for in the share of those refused."""
        return 1.0 / max(_ROUNDS * self._limit, _FEWEST)

    def _is_noise(self, error: ClusterError) -> bool:
        if (error.retry_after or 0.0) > _CUSTOMARY or self._refusals > max(1.0, self._limit / 2.0):
            return False
        broken = isinstance(error, UnreachableError)
        return self._refused_share < (_NOISE_BROKEN if broken else _NOISE)

    def _wait_after(self, error: ClusterError, noise: bool, current: bool) -> float:
        asked = error.retry_after or 0.0 if self._refusals > 1 or not noise else 0.0
        wait = max(self._own_wait(noise) if current else 0.0, asked)
        return min(wait * self._rng.uniform(1.0, _JITTER), _MOST_ASKED)

    def _own_wait(self, noise: bool) -> float:
        if not self._waits and noise and self._running_in_round <= 1:
            # Whether it is noise is found out by the next, which goes ahead at once.
            return 0.0
        return min(_FIRST_WAIT * 2.0 ** min(max(self._waits - 1, 0), 10), _LONGEST_WAIT)

    def _slow_down(self, error: ClusterError, least: float) -> None:
        """Halve the requests under way, but leave so many."""
        limit = max(self._limit / 2.0, min(least, self._limit))
        if limit < self._limit == self._most:
            # Once, not with every refusal.
            log.warning("requests are slowed down", error=error.message)
        self._slowed += limit < self._limit
        self._limit = limit

    def _begin_round(self) -> None:
        self._round += 1
        self._running_in_round = 0


def _is_refusal(error: ClusterError) -> bool:
    if isinstance(error, DisruptionBudgetError | AdmissionDeniedError):
        return False
    refused = isinstance(error, TooManyRequestsError | UnreachableError)
    return refused or error.status in _UNAVAILABLE
