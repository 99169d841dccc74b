"""When the next node of a zone may be given up.

Source: RateLimitedTimedQueue in pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go, and
the token bucket of k8s.io/client-go/util/flowcontrol, with a burst of one (EvictionRateLimiterBurst
in node_lifecycle_controller.go).
"""

from __future__ import annotations

import math


class _Bucket:
    """One token at most, filled at `rate` a second; `at`: when `tokens` was right."""

    __slots__ = ("at", "rate", "tokens")

    def __init__(self, rate: float, at: float, tokens: float) -> None:
        self.rate = rate
        self.tokens = tokens
        self.at = at


class ZonePacer:
    """A bucket for each zone, full at first, as a zone that was quiet has it."""

    def __init__(self) -> None:
        """Know no zone yet."""
        self._buckets: dict[str, _Bucket] = {}
        # When others gave up a node of a zone last, of zones that are not paced yet.
        self._last: dict[str, float] = {}

    def set_rate(self, zone: str, rate: float, elapsed: float) -> None:
        """So many nodes a second from now on, 0 and up.

        A zone that had no token for the next node has none at the new rate, either (SwapLimiter).

        Args:
            zone: its name.
            rate: nodes a second.
            elapsed: seconds, never stepped.
        """
        bucket = self._buckets.get(zone)
        if bucket is None:
            passed = elapsed - self._last.pop(zone, -math.inf)
            tokens = 1.0 if math.isinf(passed) else min(1.0, passed * rate)
            self._buckets[zone] = _Bucket(rate, elapsed, tokens)
        elif bucket.rate != rate:
            self._fill(bucket, elapsed)
            bucket.tokens = 1.0 if bucket.tokens >= 1.0 else 0.0
            bucket.rate = rate

    def wait(self, zone: str, elapsed: float) -> float:
        """Seconds until a node of the zone may be given up; infinity: none, at this rate."""
        bucket = self._buckets.get(zone)
        if bucket is None or bucket.rate <= 0:
            return math.inf
        self._fill(bucket, elapsed)
        return (1.0 - bucket.tokens) / bucket.rate

    def take(self, zone: str, elapsed: float) -> bool:
        """Give up one node of the zone, if its turn has come."""
        if self.wait(zone, elapsed) > 0:
            return False
        self._buckets[zone].tokens -= 1.0
        return True

    def spent(self, zone: str, ago: float, elapsed: float) -> None:
        """A node of the zone was given up so many seconds ago, by whoever was at work then.

        Args:
            zone: its name.
            ago: seconds; less than 0 counts as 0.
            elapsed: seconds, never stepped.
        """
        ago, bucket = max(0.0, ago), self._buckets.get(zone)
        if bucket is None:
            # At which rate it fills up since then is known with the first look at all zones.
            self._last[zone] = max(self._last.get(zone, -math.inf), elapsed - ago)
            return
        self._fill(bucket, elapsed)
        bucket.tokens = min(bucket.tokens, ago * bucket.rate)

    def _fill(self, bucket: _Bucket, elapsed: float) -> None:
        passed = max(0.0, elapsed - bucket.at)
        # What is a hair short of a token by the digits of the clock is one.
        tokens = bucket.tokens + passed * bucket.rate
        bucket.tokens = 1.0 if tokens > 1.0 - 1e-9 else tokens
        bucket.at = elapsed
