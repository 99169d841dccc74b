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
    from collections.abc import Callable

    from bailiff.actions.ports import PodActions
    from bailiff.agent.log import Log
    from bailiff.clock import Clock
    from bailiff.decisions.decision import EvictionTerms, Finding
    from bailiff.kinds import Pod

# Seconds for all requests of an eviction, after which the containers are stopped where that may be.
_FOR_REQUESTS = 15.0
_PHASE_TRIES = 3
# Of a proxy before the API server; what else it answers with 5xx it answers itself.
_NOBODY_BEHIND = (502, 503, 504)
_TRIES_AT_ONCE = 3
_GONE = (NotFoundError, UidMismatchError)


class Fate(StrEnum):
    """What an attempt has come to.

    EVICTED: the API server has taken it. STOPPED: its containers were stopped, and the API server
    is to be told. GONE: there is no such pod any more. REFUSED: the API server, or who reviews
    evictions there, says no, or it has no container that could be stopped. FAILED: it stays, for
    now.
    """

    EVICTED = "evicted"
    STOPPED = "stopped"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"


class Stopper(Protocol):
    """Who stops a pod's containers without the API server."""

    async def stop(self, pod: Pod, grace_period_seconds: int) -> bool | None:
        """Whether all of them were stopped; None: none runs. Raises faults of ours alone."""
        ...


def _to_nobody(_why: str) -> None:
    pass


class Evictor:
    """Evicts one pod at a time."""

    def __init__(
        self,
        actions: PodActions | None,
        stopper: Stopper | None,
        clock: Clock,
        log: Log,
        is_silent: Callable[[str], object] = _to_nobody,
    ) -> None:
        """Prepare.

        Args:
            actions: on the API server; None: there is none.
            stopper: where containers may be stopped without it; None: they may not.
            clock: for the instants that are written.
            log: hears of each.
            is_silent: is told why the API server does not answer; empty: it does.
        """
        self._actions = actions
        self._stopper = stopper
        self._is_silent = is_silent
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
        except ClusterError as error:
            self._log.warning("not evicted", pod=pod.key, error=str(error))
            if not _is_away(error):
                # Whoever keeps writing a pod keeps that one alone.
                return Fate.REFUSED
            self._is_silent(str(error))
            return await self._by_runtime(pod, found) if hard else Fate.FAILED
        self._is_silent("")
        if fate is Fate.EVICTED:
            self._log.info("evicted", pod=pod.key, uid=pod.metadata.uid, why=found.message.strip())
        return fate

    async def tell(self, pod: Pod, found: Finding) -> Fate:
        """Tell the API server of a pod whose containers were stopped."""
        terms = found.terms
        if terms is None:
            return Fate.GONE
        try:
            fate = await self._by_api(pod, found, terms)
        except _GONE:
            return Fate.GONE
        except ClusterError as error:
            if _is_away(error):
                return Fate.FAILED
            self._log.warning("not told of an eviction", pod=pod.key, error=str(error))
            return Fate.REFUSED
        self._log.info("told of an eviction", pod=pod.key, uid=pod.metadata.uid)
        return fate

    async def _by_api(self, pod: Pod, found: Finding, terms: EvictionTerms) -> Fate:
        if self._actions is None:
            raise UnreachableError("no API server is known")
        try:
            async with asyncio.timeout(_FOR_REQUESTS):
                return await self._sent(self._actions, pod, found, terms)
        except TimeoutError as error:
            text = f"{pod.key}: not evicted within {_FOR_REQUESTS:g} s"
            raise RequestTimeoutError(text) from error

    async def _sent(
        self, actions: PodActions, pod: Pod, found: Finding, terms: EvictionTerms
    ) -> Fate:
        for tries in range(1, _TRIES_AT_ONCE + 1):
            current = await actions.set_status(pod, terms, self._clock.now())
            if terms.keeps_pod:
                return Fate.EVICTED
            if current.is_finished:
                # It has ended by itself, and uses nothing any more.
                return Fate.GONE
            try:
                await actions.delete(current, found.grace_period_seconds)
            except ConflictError:
                # Somebody has written it between the two; memory does not wait for the next round.
                if tries == _TRIES_AT_ONCE:
                    raise
                continue
            await self._set_phase(current, terms)
            break
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
            except _GONE:
                # It had nothing left to end.
                return
            except ClusterError as error:
                self._log.info("phase not written", pod=pod.key, error=str(error))
            return

    async def _by_runtime(self, pod: Pod, found: Finding) -> Fate:
        if self._stopper is None:
            return Fate.FAILED
        grace = found.grace_period_seconds or 1
        stopped = await self._stopper.stop(pod, grace)
        if stopped is None:
            # It has ended, or never began: there is nothing to win, and it must keep nobody else.
            return Fate.REFUSED
        if not stopped:
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


def _is_away(error: ClusterError) -> bool:
    """Nobody answers; not one who says no, nor a webhook behind it that fails."""
    if isinstance(error, UnreachableError | RequestTimeoutError):
        return True
    return isinstance(error, ServerError) and error.status in _NOBODY_BEHIND
