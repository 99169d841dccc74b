"""Which ways a host has, looked for again and again: a cgroup may be made later, or anew."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bailiff.agent.notices.events import MemoryEvents
from bailiff.agent.notices.mark import UsageMarks
from bailiff.agent.notices.notifier import NODE, PODS, PODS_FOR_NODE, Ways
from bailiff.agent.notices.stalls import StallTrigger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from bailiff.agent.log import Log
    from bailiff.agent.notices.notifier import Marked, Notifier, Way
    from bailiff.agent.readings.summary import MemoryCgroups
    from bailiff.agent.settings import NoticeSettings

T = TypeVar("T")

# Seconds between two looks.
_LOOK_EVERY = 60.0


class WayFinder:
    """Finds every way that can be had; of one that cannot the log says why, once."""

    def __init__(
        self, cgroups: Callable[[], MemoryCgroups], settings: NoticeSettings, log: Log
    ) -> None:
        """Prepare.

        Args:
            cgroups: where the kernel can be asked, as that is now.
            settings: which ways are wanted.
            log: hears of what cannot be had.
        """
        self._cgroups = cgroups
        self._settings = settings
        self._log = log
        self._said: set[tuple[str, str]] = set()

    def find(self, known: Collection[str] = ()) -> Ways:
        """Those that can be had besides these, by the names that Notifier has them by."""
        marked: dict[tuple[str, str], Marked] = {}
        others: dict[str, Way] = {}
        where = self._cgroups()
        if self._settings.high_mark and not where.unified and where.node is not None:
            self._say("events", "memory.high is of cgroup v2, and this is v1")
        for of, cgroup in _by_mark(where).items():
            key = ("events" if where.unified else "usage", of)
            if ":".join(key) in known:
                continue
            made = self._try(":".join(key), partial(self._marked, cgroup, unified=where.unified))
            marked |= {} if made is None else {key: made}
        wanted = self._settings.stall_milliseconds and "stall" not in known
        for at, file in enumerate(where.pressure if wanted else (), 1):
            trigger = partial(StallTrigger, file, self._settings.stall_milliseconds)
            made_trigger = self._try("stall", trigger, told=at == len(where.pressure))
            if made_trigger is not None:
                others["stall"] = made_trigger
                break
        return Ways(marked, others)

    async def run(self, notifier: Notifier) -> None:
        """Have this one told in every way that is found later, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            found = self.find(notifier.names)
            if found.marked or found.others:
                notifier.add(found)
                self._log.info("the kernel tells in other ways now", notices=list(notifier.names))

    def _marked(self, cgroup: Path, *, unified: bool) -> Marked:
        if unified:
            return MemoryEvents(cgroup, lays_wire=self._settings.high_mark)
        return UsageMarks(cgroup)

    def _try(self, way: str, make: Callable[[], T], *, told: bool = True) -> T | None:
        try:
            return make()
        except OSError as error:
            if told:
                self._say(way, str(error))
            return None

    def _say(self, way: str, why: str) -> None:
        if (way, why) not in self._said:
            self._said.add((way, why))
            self._log.warning("the kernel cannot tell this way", way=way, error=why)


def _by_mark(where: MemoryCgroups) -> dict[str, Path]:
    """The cgroups that tell, by what their marks are of."""
    node, pods = where.node, where.pods
    if where.unified and node is not None and not (node / "memory.events.local").exists():
        # The root of cgroup v2, which tells nothing.
        return {} if pods is None else {PODS_FOR_NODE: pods}
    return {of: one for of, one in ((NODE, node), (PODS, pods)) if one is not None}
