"""Follows slices, claims and rules as long as the cluster serves them and lets us see them.

Theory of operation. Every few minutes the cluster is asked what it serves, and whether we may list
and watch what we do not follow yet, or follow in vain. The answer is a plan: which kinds, in which
version. Slices and claims are there together or not at all; rules may be missing. A plan that takes
something away is believed only when it comes twice in a row, since an API server that starts may
say anything for a moment; then what was known is forgotten, and nobody is evicted by it. Errors
other than a plain "no" change nothing. Nodes and their taints never wait for any of this.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from bailiff.cluster import (
    ClusterError,
    ForbiddenError,
    NotFoundError,
    Selection,
    WatchHealth,
    may_follow,
    served,
)
from bailiff.worker.systems.device_taints.devices import Kind, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.cluster import Cluster, DeviceApi, Resource
    from bailiff.worker.mirror.watching import Watches
    from bailiff.worker.systems.device_taints.devices import Devices

# Between two looks at what the cluster serves, in seconds.
_PERIOD = 180.0
# The same where the last look came to nothing, or has to be confirmed.
_SOON = 5.0
# Looks in a row that came to nothing before the worker is not ready: a minute and more, so that an
# API server that starts is not complained of.
_PATIENCE = 12

log = structlog.get_logger(__name__)


class _Plan(NamedTuple):
    """What is to be followed, and for people why not more."""

    served: Mapping[Kind, Resource[Any]]
    why: str = ""


class DeviceFollowing:
    """Feeds Devices from a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        watches: Watches,
        devices: Devices,
    ) -> None:
        """Follow nothing yet.

        Args:
            cluster: is asked what it serves.
            watches: opens them; in `healths`, that of a kind that is not followed has never heard
                anything.
            devices: who is told.
        """
        self._cluster = cluster
        self._watches = watches
        self._devices = devices
        self._healths = watches.healths
        self._tasks: dict[Kind, asyncio.Task[None]] = {}
        self._doubted: Mapping[Kind, Resource[Any]] | None = None
        self._unknown = ""
        self._vain = 0
        for kind in Kind:
            self._healths[kind.value] = WatchHealth()

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                again_in = await self._look(group)
                await asyncio.sleep(again_in)

    async def _look(self, group: asyncio.TaskGroup) -> float:
        """Find out, and follow; seconds until the next look."""
        try:
            plan = await self._find_out()
        except ClusterError as error:
            self._do_not_know(str(error) or type(error).__name__)
            return _SOON
        self._unknown, self._vain = "", 0
        if self._takes_away(plan) and plan.served != self._doubted:
            self._doubted = plan.served
            return _SOON
        self._doubted = None
        await self._carry_out(plan, group)
        return _PERIOD

    def _do_not_know(self, why: str) -> None:
        """What is followed goes on being followed; people are told once, not with every look."""
        self._vain += 1
        if self._devices.state is State.UNKNOWN:
            self._devices.why = why
            self._devices.undiscovered = self._vain >= _PATIENCE
        if why != self._unknown:
            log.warning("not known what devices are served", error=why)
        self._unknown = why

    async def _find_out(self) -> _Plan:
        api = await served(self._cluster)
        if api is None:
            return _Plan({}, "the cluster serves no devices (resource.k8s.io v1 or v1beta2)")
        wanted = _kinds(api)
        refused = {kind: why for kind in wanted if (why := await self._refusal(kind, wanted[kind]))}
        for kind in (Kind.SLICES, Kind.CLAIMS):
            if kind in refused:
                return _Plan({}, refused[kind])
        if api.rules is None:
            return _Plan(wanted, "the cluster serves no DeviceTaintRules")
        allowed = {kind: wanted[kind] for kind in wanted if kind not in refused}
        return _Plan(allowed, refused.get(Kind.RULES, ""))

    async def _refusal(self, kind: Kind, resource: Resource[Any]) -> str:
        """Why a resource cannot be followed; empty if it can."""
        health = self._healths[kind.value]
        if self._devices.served.get(kind) == resource and health.synced and health.connected:
            return ""
        try:
            await may_follow(self._cluster, resource)
        except (ForbiddenError, NotFoundError) as error:
            return str(error)
        return ""

    def _takes_away(self, plan: _Plan) -> bool:
        followed = self._devices.served
        return any(plan.served.get(kind) != resource for kind, resource in followed.items())

    async def _carry_out(self, plan: _Plan, group: asyncio.TaskGroup) -> None:
        before = dict(self._devices.served)
        for kind, resource in before.items():
            if plan.served.get(kind) != resource:
                await self._stop(kind)
        self._tell(plan)
        await self._devices.follow(plan.served)
        for kind, resource in plan.served.items():
            if kind not in self._tasks:
                watching = self._watch(kind, resource)
                self._tasks[kind] = group.create_task(watching, name=f"watch {kind.value}")

    async def _stop(self, kind: Kind) -> None:
        task = self._tasks.pop(kind)
        task.cancel()
        await asyncio.wait([task])
        self._healths[kind.value] = WatchHealth()

    async def _watch(self, kind: Kind, resource: Resource[Any]) -> None:
        watch = self._watches.open(resource, Selection())
        self._healths[kind.value] = watch.health
        async with contextlib.aclosing(watch.events()) as events:
            async for event in events:
                await self._devices.apply(kind, event)

    def _tell(self, plan: _Plan) -> None:
        devices, state = self._devices, State.ON if plan.served else State.OFF
        if (devices.state, devices.why) == (state, plan.why) and devices.served == plan.served:
            return
        devices.state, devices.why = state, plan.why
        versions = {kind.value: resource.version for kind, resource in plan.served.items()}
        log.info("device taints", state=state.value, why=plan.why, **versions)


def _kinds(api: DeviceApi) -> dict[Kind, Resource[Any]]:
    kinds: dict[Kind, Resource[Any]] = {Kind.SLICES: api.slices, Kind.CLAIMS: api.claims}
    return kinds if api.rules is None else kinds | {Kind.RULES: api.rules}
