"""Is the mirror to be believed? Not when a watch has been in trouble for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock
    from bailiff.cluster import WatchHealth


class Freshness:
    """How far each watch is to be believed; silence alone is no trouble, see WatchHealth."""

    def __init__(self, watches: Mapping[str, WatchHealth], clock: Clock, limit: float) -> None:
        """Look at watches.

        Args:
            watches: the health of each, by resource.
            clock: the one that they use.
            limit: seconds of trouble that are still believed. A dead connection is found within
                90 s (ClusterSettings.watch_idle_timeout) and counts from its last byte, so
                anything above that is wrong.
        """
        self._watches = watches
        self._clock = clock
        self._limit = limit

    def silence(self, resource: str) -> float:
        """Seconds since the API server last said anything to a watch; 0 before its first word."""
        last = self._watches[resource].last_contact
        return 0.0 if last is None else max(0.0, self._clock.monotonic() - last)

    def age(self, resource: str) -> float:
        """Seconds by which the mirror of a resource may lie behind; 0 while its watch is well."""
        return self._watches[resource].age(self._clock.monotonic())

    def complaints(self) -> list[str]:
        """What has been wrong for too long, for people, with the last error; empty if nothing."""
        return [
            f"the watch of {resource} {_trouble(health)} for {self.age(resource):.0f} s"
            f"{_after(health)}"
            for resource, health in self._watches.items()
            if self.age(resource) > self._limit
        ]

    def errors(self) -> list[str]:
        """The last error of each watch that is not well, however short that is; for people."""
        return [
            f"{resource}: {health.last_error}"
            for resource, health in self._watches.items()
            if health.last_error is not None
        ]


def _trouble(health: WatchHealth) -> str:
    return "has not sent all objects" if health.connected else "has not been open"


def _after(health: WatchHealth) -> str:
    return f": {health.last_error}" if health.last_error is not None else ""
