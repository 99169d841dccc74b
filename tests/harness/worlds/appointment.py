"""An election without a Lease."""

from __future__ import annotations

import asyncio


class Appointment:
    """An election that a test decides."""

    holder = "somebody"
    renewed_at = None

    def __init__(self, *, leads: bool = False) -> None:
        self.leads = leads
        self.released = 0
        self.is_idle = lambda: True
        self._on_elected = lambda: None
        self._on_transition = lambda: None

    def may_act(self) -> bool:
        return self.leads

    async def run(self, on_elected, on_transition) -> None:
        self._on_elected, self._on_transition = on_elected, on_transition
        await asyncio.Event().wait()

    async def release(self) -> None:
        self.released += 1
        assert self.is_idle()

    def appoint(self) -> None:
        self.leads = True
        self._on_transition()
        self._on_elected()
