"""While the counts of budgets over time hold somebody they are read again, once a minute for all.

Whoever waits for a place waits by what was read last, and asks nobody until it says that he may go.
So nobody would see that the ConfigMap has been deleted, or put right.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.decisions.policies import Cause
from bailiff.tally import TallyError

if TYPE_CHECKING:
    from bailiff.worker.gate.consent import Shared
    from bailiff.worker.gate.gate import Gate

# Seconds.
_EVERY = 60.0

log = structlog.get_logger(__name__)


class Recounts:
    """Reads the counts by which the gate goes."""

    def __init__(self, gate: Gate, shared: Shared | None) -> None:
        """Read nothing yet.

        Args:
            gate: goes by what the tally has seen last.
            shared: has the tally; None: nothing is counted.
        """
        self._gate = gate
        self._tally = None if shared is None else shared.tally

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(_EVERY)
            await self._look()

    async def _look(self) -> None:
        settings, tally = self._gate.facts.policies.over_time, self._tally
        if settings is None or tally is None or not self._gate.counts()[Cause.OVER_TIME.value]:
            return
        seen = tally.seen(settings.store)
        try:
            await tally.read(settings.store)
        except TallyError as error:
            # What was read last holds until it is over.
            log.warning("counts of evictions not read again", error=str(error))
            return
        if tally.seen(settings.store) != seen:
            self._gate.counts_changed()
