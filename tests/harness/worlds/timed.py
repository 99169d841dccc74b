"""A world whose API server has a clock of its own, and tells it with every answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from email.utils import format_datetime

from bailiff.cluster import ClusterClock, Request
from bailiff.cluster.exchanges import Exchange
from tests.harness.clocks import START
from tests.harness.worlds.world import World


class TimedWorld(World):
    """The worker goes by the clock of the API server, which nothing that is done here steps.

    Attributes:
        machine: its clocks, which may be stepped, and may sleep; see LoopClock.
        held_up: seconds that have passed without the worker's machine noticing, as those of a
            virtual machine that was paused.
    """

    def worker_clock(self) -> ClusterClock:
        self.machine = self.clock
        self.held_up = 0.0
        self.cluster_clock = ClusterClock(self.machine)
        return self.cluster_clock

    def server_time(self) -> datetime:
        return START + timedelta(seconds=self.machine.elapsed() + self.held_up)

    def answer(self, seconds: float = 0.0) -> None:
        """An answer comes to a request that was sent so long ago."""
        date = format_datetime(self.server_time().replace(microsecond=0), usegmt=True)
        self.cluster_clock.answered(Exchange("GET", "nodes", 200, seconds, date))

    async def send(self, request: Request, within: float | None = None) -> bytes:
        try:
            return await super().send(request, within)
        finally:
            self.answer(self.latency)
