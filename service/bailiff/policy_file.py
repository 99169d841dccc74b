"""The file that the policies are read from: read at the start, then looked at again and again.

Content that cannot be used changes nothing: the policies in force stay. A file that is seen half
written may be valid where it ends between two sections: without the pause, say, that was to follow.
That is why a change counts only once two looks in a row have shown the same.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

import structlog
from prometheus_client import Counter, Gauge

from bailiff.decisions.policies import Policies, PolicyError, fingerprint, read
from bailiff.decisions.policies.reading import MAX_BYTES
from bailiff.file_watch import LOOK_EVERY, FileWatch
from bailiff.file_watch import see as see_file
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock

log = structlog.get_logger(__name__)


class PoliciesUnusableError(Exception):
    """The file holds no policies; the message says which file, where, and what is allowed."""


class PoliciesInForce(Value, frozen=True):
    """What holds, since when, and what came of the last change of the file.

    Attributes:
        file: where they come from.
        policies: those in force.
        since: when they came into force.
        error: why what the file holds now could not be used; empty if it is in force.
        failed_at: when that was found; absent without an error.
    """

    file: str
    policies: Policies
    since: Time
    error: str = ""
    failed_at: Time | None = None


# What a look has seen: the content, or why it could not be read.
_Sight: TypeAlias = "bytes | str"


class PolicyFile:
    """The policies of one file. Looked at in a thread: neither disk nor parser stops the worker."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        registry: CollectorRegistry,
        look_every: float = LOOK_EVERY,
    ) -> None:
        """Read them.

        Args:
            path: YAML or JSON; at most 256 KiB.
            clock: for `since`.
            registry: for metrics.
            look_every: seconds between two looks, above 0.

        Raises:
            PoliciesUnusableError: there are none to begin with.
        """
        self._path = path
        self._clock = clock
        self._metrics = PolicyMetrics(registry)
        self._watch = FileWatch(lambda: see(path), look_every)
        found = interpret(self._watch.seen)
        if isinstance(found, str):
            raise PoliciesUnusableError(f"{path}: {found}")
        self.in_force = PoliciesInForce(file=str(path), policies=found, since=clock.now())
        self._metrics.count(applied=True)
        self._metrics.tell(found)

    async def run(self, apply: Callable[[Policies], None]) -> None:
        """Look until cancelled; `apply` is told of policies that are not those in force."""
        while True:
            await self._take(await self._watch.change(), apply)

    async def _take(self, sight: _Sight, apply: Callable[[Policies], None]) -> None:
        found = await asyncio.to_thread(interpret, sight)
        if isinstance(found, str):
            self._refuse(found)
        else:
            self._accept(found, apply)

    def _refuse(self, error: str) -> None:
        log.error("policies not changed", file=str(self._path), error=error)
        self._metrics.count(applied=False)
        before = self.in_force
        self.in_force = PoliciesInForce(
            file=before.file,
            policies=before.policies,
            since=before.since,
            error=error,
            failed_at=self._clock.now(),
        )

    def _accept(self, found: Policies, apply: Callable[[Policies], None]) -> None:
        before = self.in_force
        changed = found != before.policies
        since = self._clock.now() if changed else before.since
        self.in_force = PoliciesInForce(file=before.file, policies=found, since=since)
        self._metrics.count(applied=True)
        log.info("policies read", file=str(self._path), changed=changed)
        if changed:
            self._metrics.tell(found, before.policies)
            apply(found)


class PolicyMetrics:
    """What is counted of reloads."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reloads = Counter(
            "bailiff_worker_policy_reloads_total",
            "Contents of the policies' file that were read, the first included, by result: "
            "applied, or failed and the policies in force kept.",
            ["result"],
            registry=registry,
        )
        self._current = Gauge(
            "bailiff_worker_policies_current",
            "1 while the policies in force are those that their file holds, 0 after a failure.",
            registry=registry,
        )
        self._info = Gauge(
            "bailiff_worker_policies_info",
            "1 for the policies in force, by a hash of what they say: the same for the same "
            "policies, however their file writes them.",
            ["hash"],
            registry=registry,
        )
        for result in ("applied", "failed"):
            self._reloads.labels(result)

    def tell(self, policies: Policies, before: Policies | None = None) -> None:
        """These are in force now, in place of others."""
        self._info.labels(fingerprint(policies)).set(1)
        if before is not None:
            self._info.remove(fingerprint(before))

    def count(self, *, applied: bool) -> None:
        """A content was read."""
        self._reloads.labels("applied" if applied else "failed").inc()
        self._current.set(applied)


def see(path: Path) -> _Sight:
    """The content of the file; as text, why it cannot be had. Blocks as long as a disk does."""
    return see_file(path, MAX_BYTES)


def interpret(sight: _Sight) -> Policies | str:
    """The policies; as text, why there are none."""
    if isinstance(sight, str):
        return sight
    try:
        return read(sight)
    except PolicyError as error:
        return f"{error.path}: {error.reason}"
