"""Warnings for people that what bounded the worker bounds it less: in log, metric and an Event.

The Event is about the Lease by which the worker acts, or about a Namespace where it needs none: the
file of the policies may come from anywhere, and of a pause that was deleted nothing is left. It is
written by the worker that acts; the others log and count. Beside everything else: it is tried a few
times and then given up, and delays nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, NamedTuple

import structlog
from prometheus_client import Counter

from bailiff.actions.event_bodies import Regarding, event_body
from bailiff.cluster import EVENTS, AlreadyExistsError, ClusterError, FencedError
from bailiff.decisions import EventNote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.decisions.policies import PauseNotice

COMPONENT = "bailiff-worker"
# The policies are looked at every few seconds: more waiting than this were written by nobody.
_CAPACITY = 100
# Seconds between two tries of one Event, doubled with each, and how often.
_DELAY, _TRIES = 1.0, 5
# An object's name may have 253 characters, the suffix takes 17.
_LONGEST_PREFIX = 236
# Of a reason that somebody wrote, which may fill a ConfigMap.
_MAX_QUOTED = 200

log = structlog.get_logger(__name__)


class EventWriter:
    """Writes Events about one object of a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        instance: str,
        about: Callable[[], Regarding | None],
        *,
        dry_run: bool = False,
    ) -> None:
        """Prepare.

        Args:
            cluster: where to; fenced, so that one worker writes.
            instance: who reports them.
            about: the object, as of now; None: there is none, and nothing is written.
            dry_run: have the API server check them, and keep none.
        """
        self._cluster = cluster
        self._instance = instance
        self._about = about
        self._dry_run = dry_run

    async def write(self, note: EventNote, at: datetime) -> None:
        """Create the Event; one that is there already counts as created. Raises ClusterError."""
        about = self._about()
        if about is None:
            return
        name = f"{about.name[:_LONGEST_PREFIX]}.{_digest(about, note, at)}"
        body = event_body(name, about, note, at, self._instance, COMPONENT)
        try:
            await self._cluster.create(EVENTS, body, about.event_namespace, dry_run=self._dry_run)
        except AlreadyExistsError:
            # An earlier try whose answer was lost.
            return


class NewsMetrics:
    """What is counted of such news."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.weakenings = Counter(
            "bailiff_worker_policy_weakenings_total",
            "Changes that bound this worker less than before, by what was changed: policies, or a "
            "pause that ended because its ConfigMap was deleted.",
            ["what"],
            registry=registry,
        )
        for what in ("policies", "pause"):
            self.weakenings.labels(what)


class _Entry(NamedTuple):
    note: EventNote
    at: datetime


class PolicyNews:
    """Tells of policies that were weakened, and of a pause that was deleted."""

    def __init__(
        self, clock: Clock, registry: CollectorRegistry, writer: EventWriter | None = None
    ) -> None:
        """Start with nothing to tell.

        Args:
            clock: tells when something was noted.
            registry: for the metric.
            writer: of Events; None: none are written.
        """
        self._clock = clock
        self._writer = writer
        self._entries: asyncio.Queue[_Entry] = asyncio.Queue(_CAPACITY)
        self._metrics = NewsMetrics(registry)

    def weakened(self, texts: Sequence[str], file: str) -> None:
        """The policies that came into force are weaker than those before, in these ways."""
        log.warning("policies weakened", file=file, how=list(texts))
        message = f"{len(texts)} of the policies of {file} weakened: {'; '.join(texts)}"
        self._tell("policies", "PoliciesWeakened", message)

    def pause_deleted(self, notice: PauseNotice, config_map: str) -> None:
        """A notice that was in force is gone with its ConfigMap."""
        said = notice.describe()[:_MAX_QUOTED]
        log.warning("pause ended: its ConfigMap was deleted", config_map=config_map, said=said)
        message = f"ConfigMap {config_map} was deleted, and evictions go on that it held: {said}"
        self._tell("pause", "PauseDeleted", message)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            entry = await self._entries.get()
            if self._writer is not None:
                await self._write(self._writer, entry)

    def _tell(self, what: str, reason: str, message: str) -> None:
        self._metrics.weakenings.labels(what).inc()
        note = EventNote(type="Warning", reason=reason, message=message)
        if not self._entries.full():
            self._entries.put_nowait(_Entry(note, self._clock.now()))

    async def _write(self, writer: EventWriter, entry: _Entry) -> None:
        for number in range(_TRIES):
            try:
                return await writer.write(*entry)
            except FencedError:
                # Another worker acts, and tells.
                return None
            except ClusterError as error:
                log.warning("event not written", reason=entry.note.reason, error=str(error))
            await asyncio.sleep(_DELAY * 2**number)
        return None


def _digest(about: Regarding, note: EventNote, at: datetime) -> str:
    """16 hexadecimal digits: the same for each try of one Event."""
    parts = (about.uid, note.reason, note.message, at.isoformat())
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
