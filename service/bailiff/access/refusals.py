"""The log lines of requests that are not let in: who, what and why, at a limited rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.log_limit import LogLimit

if TYPE_CHECKING:
    from bailiff.access.callers import Caller
    from bailiff.access.errors import AccessError
    from bailiff.clock import Clock

# Seconds for one more line, and lines at once after a rest. A line tells which caller lacks which
# right, so there are more of them than at the edge: enough to see who it is, and too few to fill a
# disk by asking.
_SECONDS, _BURST = 1.0, 20
# Characters of what the caller chose.
_LONGEST = 256

log = structlog.get_logger(__name__)


class RefusalLog:
    """Writes a line for each refusal, as long as there are few of them."""

    def __init__(self, clock: Clock) -> None:
        """Nothing was refused yet."""
        self._limit = LogLimit(clock.elapsed, _SECONDS, _BURST)

    def write(self, error: AccessError, caller: Caller | None, address: str, asked: str) -> None:
        """Tell of one; how many were left out since the last line is told with the next.

        Args:
            error: why.
            caller: who, where that is known.
            address: it comes from, in full: who looks for it wants to know which.
            asked: the method and the path, without the query.
        """
        left_out = self._limit.left_out()
        if left_out is None:
            return
        log.warning(
            "request refused",
            reason=error.reason,
            why=str(error.__cause__ or error),
            user=caller.name[:_LONGEST] if caller else "",
            peer=address[:_LONGEST],
            asked=asked[:_LONGEST],
            left_out=left_out,
        )
