"""One eviction: by the API server, or, where that is away, by stopping the pod's containers.

The order of the requests is that of the worker's attempt (bailiff/worker/execute/attempt.py): the
condition, the delete, then the phase, since a pod that has ended is deleted without any grace.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec.structs import replace

from bailiff.actions.phases import write_phase
from bailiff.agent.announced import Announced
from bailiff.agent.fates import Answer, Fate, Unclear, answer_in
from bailiff.cluster.errors import (
    ClusterError,
    ConflictError,
    DryRunUnsupportedError,
    NotFoundError,
    RequestTimeoutError,
    UidMismatchError,
    UnreachableError,
)
from bailiff.decisions.events import eviction_event

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.actions.ports import PodActions
    from bailiff.agent.log import Log
    from bailiff.clock import Clock
    from bailiff.decisions.decision import EvictionTerms, Finding
    from bailiff.kinds import Pod

# Seconds for all requests of an eviction, after which the containers are stopped where that may be.
_FOR_REQUESTS = 15.0
_TRIES_AT_ONCE = 3
# Pods of which something is remembered: more than run on a node.
_MOST_KEPT = 256
_GONE = (NotFoundError, UidMismatchError)


class _Order(NamedTuple):
    """What is written of one pod's eviction.

    Attributes:
        terms: of it.
        grace_period_seconds: that the pod is given.
        at: when, in UTC.
    """

    terms: EvictionTerms
    grace_period_seconds: int | None
    at: datetime


class Stopper(Protocol):
    """Who stops a pod's containers without the API server."""

    async def stop(self, pod: Pod, grace_period_seconds: int) -> bool | None:
        """Whether one was stopped at least; None: none runs. Raises faults of ours alone."""
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
        complain: Callable[[str], object] = _to_nobody,
        *,
        on_paper: bool = False,
    ) -> None:
        """Prepare.

        Args:
            actions: on the API server; None: there is none.
            stopper: where containers may be stopped without it; None: they may not.
            clock: for the instants that are written.
            log: hears of each.
            complain: is told why an eviction was not taken; empty: there is no reason any more.
            on_paper: the API server keeps none of it.
        """
        self._actions = actions
        self._stopper = stopper
        self._complain_of = complain
        self._evicted = "would be evicted" if on_paper else "evicted"
        self._clock = clock
        self._log = log
        self._unclear = Unclear(clock)
        self.announced = Announced(actions, clock, log)
        # UIDs of those whose delete was refused: it is tried on paper before it is announced again.
        self._denied: tuple[str, ...] = ()
        # What was said last of whom: a fault that stays is told once, and not every two seconds.
        self._said: dict[str, str] = {}

    async def evict(self, pod: Pod, found: Finding, *, hard: bool) -> Fate:
        """Try once, and end within half a minute and the grace period.

        Args:
            pod: who goes.
            found: with the terms of its eviction.
            hard: it goes by a hard threshold, so that it may be stopped without the API server.
        """
        try:
            fate = await self._by_api(pod, found, self._clock.now())
        except ClusterError as error:
            return await self._without(pod, found, error, hard=hard)
        self.calm()
        self.announced.ended(pod)
        self._unclear.ended(pod.metadata.uid)
        self._denied = tuple(uid for uid in self._denied if uid != pod.metadata.uid)
        if fate is Fate.EVICTED:
            why = found.message.strip()
            self._log.info(self._evicted, pod=pod.key, uid=pod.metadata.uid, why=why)
        return fate

    def calm(self) -> None:
        """Nobody is to be evicted whose eviction was not taken."""
        self._complain_of("")

    async def tell(self, pod: Pod, found: Finding, at: datetime) -> Answer | None:
        """Tell the API server of a pod whose containers were stopped at this instant, in UTC.

        Returns:
            What it said; None: it has taken it.
        """
        try:
            await self._by_api(pod, found, at)
        except ClusterError as error:
            answer = answer_in(error, pod.metadata.name)
            if answer is Answer.NO:
                self._log.warning("not told of an eviction", pod=pod.key, error=str(error))
            return answer
        self.announced.ended(pod)
        self._log.info("told of an eviction", pod=pod.key, uid=pod.metadata.uid)
        return None

    async def _without(self, pod: Pod, found: Finding, error: ClusterError, *, hard: bool) -> Fate:
        """What becomes of it though the API server has not taken it."""
        answer, uid = answer_in(error, pod.metadata.name), pod.metadata.uid
        if answer is not Answer.GONE:
            self._complain(pod, error)
        match answer:
            case Answer.GONE:
                self._unclear.ended(uid)
                self.announced.ended(pod)
                return Fate.GONE
            case Answer.AWAY:
                return await self._by_runtime(pod, found) if hard else Fate.FAILED
            case Answer.BUSY:
                return Fate.FAILED
            case Answer.UNCLEAR:
                fate = self._unclear.failed(uid)
            case Answer.NO:
                self._unclear.ended(uid)
                fate = Fate.REFUSED
        if fate is Fate.REFUSED:
            self._denied = (*self._denied, uid)[-_MOST_KEPT:]
        return fate

    def _complain(self, pod: Pod, error: ClusterError) -> None:
        uid, why = pod.metadata.uid, str(error)
        self._complain_of(f"{pod.key} is not evicted: {why}")
        tell = self._log.debug if self._said.get(uid) == why else self._log.warning
        tell("not evicted", pod=pod.key, error=why)
        self._said.pop(uid, None)
        self._said = dict([*self._said.items(), (uid, why)][-_MOST_KEPT:])

    async def _by_api(self, pod: Pod, found: Finding, at: datetime) -> Fate:
        terms = found.terms
        if terms is None:
            raise ValueError(f"{pod.key} is to go, and there are no terms for it")
        if self._actions is None:
            raise UnreachableError("no API server is known")
        order = _Order(terms, found.grace_period_seconds, at)
        try:
            async with asyncio.timeout(_FOR_REQUESTS):
                try:
                    fate = await self._sent(self._actions, pod, order)
                except UnreachableError:
                    # A connection that was kept may have been cut meanwhile, which says nothing of
                    # the API server; what was carried out is carried out once, by the pod's UID.
                    fate = await self._sent(self._actions, pod, order)
        except TimeoutError as error:
            text = f"{pod.key}: not evicted within {_FOR_REQUESTS:g} s"
            raise RequestTimeoutError(text) from error
        if fate is Fate.EVICTED and not terms.keeps_pod:
            await self._set_phase(self._actions, pod, terms)
        return fate

    async def _sent(self, actions: PodActions, pod: Pod, order: _Order) -> Fate:
        for tries in range(1, _TRIES_AT_ONCE + 1):
            is_last = tries == _TRIES_AT_ONCE
            try:
                # Memory does not wait for who keeps writing the pod.
                return await self._once(actions, pod, order, in_any_version=is_last)
            except UidMismatchError:
                raise
            except ConflictError:
                if is_last:
                    raise
            if order.terms.keeps_pod:
                # Its end is written on one version alone, and the watch may be behind.
                pod = await actions.current(pod)
        raise AssertionError("the last try returns or raises")

    async def _once(
        self, actions: PodActions, pod: Pod, order: _Order, *, in_any_version: bool
    ) -> Fate:
        terms = order.terms
        if terms.keeps_pod:
            if not pod.is_finished:
                await actions.set_status(pod, terms, order.at)
            return Fate.GONE if pod.is_finished else Fate.EVICTED
        if pod.metadata.uid in self._denied:
            with contextlib.suppress(DryRunUnsupportedError):
                await actions.try_delete(pod)
        # Before it is written: a write whose answer does not come may have been carried out.
        self.announced.add(pod, terms)
        current = await actions.set_status(pod, terms, order.at)
        if current.is_finished:
            # It has ended by itself, and uses nothing any more.
            return Fate.GONE
        which = _in_any_version(current) if in_any_version else current
        await actions.delete(which, order.grace_period_seconds)
        return Fate.EVICTED

    async def _set_phase(self, actions: PodActions, pod: Pod, terms: EvictionTerms) -> None:
        """The delete is taken, so a phase that cannot be written, or not soon, is no failure."""
        try:
            await write_phase(actions, pod, terms)
        except _GONE:
            # It had nothing left to end.
            return
        except (ClusterError, TimeoutError) as error:
            self._log.info("phase not written", pod=pod.key, error=str(error) or "no answer")

    async def _by_runtime(self, pod: Pod, found: Finding) -> Fate:
        if self._stopper is None:
            return Fate.FAILED
        grace = found.grace_period_seconds or 1
        stopped = await self._stopper.stop(pod, grace)
        if stopped is None:
            # It has ended, or never began: there is nothing to win, and it must keep nobody else.
            return Fate.REFUSED
        if not stopped:
            # Of this pod alone, as far as can be seen: it must not keep all others.
            return self._unclear.failed(pod.metadata.uid)
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


def _in_any_version(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, resource_version=""))
