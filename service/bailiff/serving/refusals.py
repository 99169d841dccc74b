"""What was refused is counted, and told at a limited rate: strangers must not write our log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog
from prometheus_client import CollectorRegistry, Counter

from bailiff.log_limit import LogLimit
from bailiff.serving.bounds import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds from one line of a reason to its next. The lines of one reason differ by little but the
# address, so one of each shows what goes on.
_EVERY = 10.0

log = structlog.get_logger(__name__)


class Refusals:
    """Those of all HTTP ports of a process. To be used in one thread."""

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        every: float = _EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Count nothing yet.

        Args:
            registry: where the metric goes; None: nowhere.
            every: seconds from one line of a reason to its next.
            clock: seconds.
        """
        counter = Counter(
            "bailiff_http_refused",
            "Connections and requests that were refused or cut before an answer, by reason.",
            ("reason",),
            registry=registry,
        )
        # Made beforehand, so that all of them are there from the start, as 0.
        self._counters = {reason: counter.labels(reason.value) for reason in Reason}
        self._limit = LogLimit(clock, every)

    def count(self, reason: Reason, client: str = "", detail: str = "") -> None:
        """One more; told unless one for the same reason was told shortly before.

        Args:
            reason: why.
            client: the address of who asked.
            detail: what else helps to find the cause; nothing that is secret, and short.
        """
        self._counters[reason].inc()
        left_out = self._limit.left_out(reason)
        if left_out is not None:
            log.warning(
                "http refused", reason=reason.value, client=client, detail=detail, left_out=left_out
            )
