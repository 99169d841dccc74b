"""Is the mirror to be believed? It is stale when its watches have heard nothing for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock
    from bailiff.cluster import WatchHealth


class Freshness:
    """How long each watch has been silent."""

    def __init__(self, watches: Mapping[str, WatchHealth], clock: Clock, limit: float) -> None:
        """Look at watches.

        Args:
            watches: the health of each, by resource.
            clock: the one that they use.
            limit: seconds of silence that are still believed. A quiet cluster is asked every 90 s
                (ClusterSettings.watch_idle_timeout), so anything above twice that is wrong.
        """
        self._watches = watches
        self._clock = clock
        self._limit = limit

    def silence(self, resource: str) -> float:
        """Seconds since a watch last heard anything; 0 before its first word."""
        last = self._watches[resource].last_contact
        return 0.0 if last is None else max(0.0, self._clock.monotonic() - last)

    def complaints(self) -> list[str]:
        """What is wrong, for people; empty if nothing is."""
        return [
            f"the watch of {resource} has heard nothing for {self.silence(resource):.0f} s"
            for resource in self._watches
            if self.silence(resource) > self._limit
        ]
