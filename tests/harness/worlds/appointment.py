"""An election without a Lease."""

from __future__ import annotations

import asyncio

from bailiff.worker import Shard
from bailiff.worker.lead.election import ElectionListener


class Appointment:
    """An election that a test decides."""

    holder = "somebody"
    renewed_at = None

    def __init__(self, *, leads: bool = False, shard: Shard | None = None) -> None:
        self.leads = leads
        self._shard = shard or Shard()
        self.released = 0
        self.is_idle = lambda: True
        self.listener: ElectionListener

    def complaints(self) -> list[str]:
        return []

    def may_act(self) -> bool:
        return self.leads

    async def run(self, listener: ElectionListener) -> None:
        self.listener = listener
        await asyncio.Event().wait()

    async def release(self) -> None:
        self.released += 1
        assert self.is_idle()

    def appoint(self) -> None:
        self.leads = True
        self.listener.new_leader()
        self.listener.started_leading(self._shard)
