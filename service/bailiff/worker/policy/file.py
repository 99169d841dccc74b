"""The file that the policies are read from: read at the start, then looked at again and again.

What is compared is the content, not the time of the file: a mounted ConfigMap is swapped by a
symbolic link. Content that cannot be used changes nothing: the policies in force stay.

A file that is written in place may be seen half written, and where it ends between two sections it
is valid: without the pause, say, that was to follow. So a change counts once two looks in a row
have shown the same. At the start the first look counts: nothing is in force that could stay, and
who starts a worker has written its file before.
"""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING, TypeAlias

import structlog
from prometheus_client import Counter, Gauge

from bailiff.decisions.policies import Policies, PolicyError, fingerprint, read
from bailiff.decisions.policies.reading import MAX_BYTES
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock

# Seconds between two looks. The kubelet takes up to a minute to bring a changed ConfigMap.
LOOK_EVERY = 5.0

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
        self._look_every = look_every
        self._metrics = PolicyMetrics(registry)
        # What was taken or refused last.
        self._seen: _Sight = see(path)
        found = interpret(self._seen)
        if isinstance(found, str):
            raise PoliciesUnusableError(f"{path}: {found}")
        self.in_force = PoliciesInForce(file=str(path), policies=found, since=clock.now())
        self._metrics.count(applied=True)
        self._metrics.tell(found)

    async def run(self, apply: Callable[[Policies], None]) -> None:
        """Look until cancelled; `apply` is told of policies that are not those in force."""
        before = self._seen
        while True:
            await asyncio.sleep(self._look_every)
            sight = await asyncio.to_thread(see, self._path)
            if sight == before != self._seen:
                await self._take(sight, apply)
            before = sight

    async def _take(self, sight: _Sight, apply: Callable[[Policies], None]) -> None:
        self._seen = sight
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
    try:
        data = _read(path)
    except OSError as error:
        return error.strerror or str(error)
    return data if len(data) <= MAX_BYTES else f"larger than {MAX_BYTES} bytes"


def _read(path: Path) -> bytes:
    # Without O_NONBLOCK the opening of a FIFO waits for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        return os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)


def interpret(sight: _Sight) -> Policies | str:
    """The policies; as text, why there are none."""
    if isinstance(sight, str):
        return sight
    try:
        return read(sight)
    except PolicyError as error:
        return f"{error.path}: {error.reason}"
