"""One eviction: by the API server, or, where that is away, by stopping the pod's containers.

The order of the requests is that of the worker's attempt (bailiff/worker/execute/attempt.py): the
condition, the delete, then the phase, since a pod that has ended is deleted without any grace.
"""

from __future__ import annotations

import asyncio
import contextlib
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from bailiff.cluster.errors import (
    ClusterError,
    ConflictError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    UidMismatchError,
    UnreachableError,
)
from bailiff.decisions.events import eviction_event

if TYPE_CHECKING:
    from bailiff.actions.ports import PodActions
    from bailiff.agent.log import Log
    from bailiff.clock import Clock
    from bailiff.decisions.decision import EvictionTerms, Finding
    from bailiff.kinds import Pod

# Seconds for all requests of an eviction, after which the containers are stopped where that may be.
_FOR_REQUESTS = 15.0
_PHASE_TRIES = 3
_AWAY = (UnreachableError, RequestTimeoutError, ServerError)
_GONE = (NotFoundError, UidMismatchError)


class Fate(StrEnum):
    """What an attempt has come to.

    EVICTED: the API server has taken it. STOPPED: its containers were stopped, and the API server
    is to be told. GONE: there is no such pod any more. FAILED: it stays, for now.
    """

    EVICTED = "evicted"
    STOPPED = "stopped"
    GONE = "gone"
    FAILED = "failed"


class Stopper(Protocol):
    """Who stops a pod's containers without the API server."""

    async def stop(self, pod: Pod, grace_period_seconds: int) -> bool:
        """Whether all of them were stopped; raises nothing but what is a fault of ours."""
        ...


class Evictor:
    """Evicts one pod at a time."""

    def __init__(
        self, actions: PodActions | None, stopper: Stopper | None, clock: Clock, log: Log
    ) -> None:
        """Prepare.

        Args:
            actions: on the API server; None: there is none.
            stopper: where containers may be stopped without it; None: they may not.
            clock: for the instants that are written.
            log: hears of each.
        """
        self._actions = actions
        self._stopper = stopper
        self._clock = clock
        self._log = log

    async def evict(self, pod: Pod, found: Finding, *, hard: bool) -> Fate:
        """Try once, and end within half a minute and the grace period.

        Args:
            pod: who goes.
            found: with the terms of its eviction.
            hard: it goes by a hard threshold, so that it may be stopped without the API server.
        """
        terms = found.terms
        if terms is None:
            raise ValueError(f"{pod.key} is to go, and there are no terms for it")
        try:
            fate = await self._by_api(pod, found, terms)
        except _GONE:
            return Fate.GONE
        except _AWAY as error:
            self._log.warning("not evicted", pod=pod.key, error=str(error))
            return await self._by_runtime(pod, found) if hard else Fate.FAILED
        except ClusterError as error:
            self._log.warning("not evicted", pod=pod.key, error=str(error))
            return Fate.FAILED
        if fate is Fate.EVICTED:
            self._log.info("evicted", pod=pod.key, uid=pod.metadata.uid, why=found.message.strip())
        return fate

    async def tell(self, pod: Pod, found: Finding) -> bool:
        """Tell the API server of a pod whose containers were stopped; whether that is done."""
        terms = found.terms
        try:
            if terms is not None:
                await self._by_api(pod, found, terms)
        except _GONE:
            return True
        except ClusterError:
            return False
        self._log.info("told of an eviction", pod=pod.key, uid=pod.metadata.uid)
        return True

    async def _by_api(self, pod: Pod, found: Finding, terms: EvictionTerms) -> Fate:
        if self._actions is None:
            raise UnreachableError("no API server is known")
        now = self._clock.now()
        try:
            async with asyncio.timeout(_FOR_REQUESTS):
                current = await self._actions.set_status(pod, terms, now)
                if current.is_finished and not terms.keeps_pod:
                    # It has ended by itself, and uses nothing any more.
                    return Fate.GONE
                if not terms.keeps_pod:
                    await self._actions.delete(current, found.grace_period_seconds)
                    await self._set_phase(current, terms)
        except TimeoutError as error:
            text = f"{pod.key}: not evicted within {_FOR_REQUESTS:g} s"
            raise RequestTimeoutError(text) from error
        return Fate.EVICTED

    async def _set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        """The delete is taken, so a phase that cannot be written is no failure."""
        if not terms.phase or self._actions is None:
            return
        for _ in range(_PHASE_TRIES):
            try:
                await self._actions.set_phase(pod, terms)
            except ConflictError:
                # Its kubelet writes at the same time.
                continue
            except ClusterError as error:
                self._log.info("phase not written", pod=pod.key, error=str(error))
            return

    async def _by_runtime(self, pod: Pod, found: Finding) -> Fate:
        if self._stopper is None:
            return Fate.FAILED
        grace = found.grace_period_seconds or 1
        if not await self._stopper.stop(pod, grace):
            return Fate.FAILED
        why = found.message.strip()
        self._log.warning("containers stopped", pod=pod.key, uid=pod.metadata.uid, why=why)
        return Fate.STOPPED

    async def record(self, pod: Pod, found: Finding) -> None:
        """The Event of an eviction: a courtesy, which is worth no retry."""
        terms = found.terms
        if self._actions is None or terms is None:
            return
        note = eviction_event(pod, terms, found.message)
        with contextlib.suppress(ClusterError):
            await self._actions.record(pod, note, self._clock.now(), terms.controller)
