"""Answers about the objects of a real cluster, read at the moment of the question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from bailiff.cluster import look_up
from bailiff.cluster.errors import (
    ClusterError,
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.decisions import FactsError, OptionOverrides, Scene
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.cluster.reader import ClusterReader
    from bailiff.decisions import Options, Plan, PodAnswer, PodsAnswer
    from bailiff.decisions.question import Answer
    from bailiff.kinds import Node, Pod
    from bailiff.rest_api.asking import Asking
    from bailiff.rest_api.settings import RestSettings

T = TypeVar("T")
A = TypeVar("A", bound="Answer")

_UNAVAILABLE = (UnreachableError, RequestTimeoutError, ServerError, TooManyRequestsError)
_RETRY_SECONDS = 5


class LookUps:
    """Fetches the facts and has them decided. Reads, never writes, keeps nothing."""

    def __init__(self, reader: ClusterReader, asking: Asking, settings: RestSettings) -> None:
        """Prepare.

        Args:
            reader: of the cluster.
            asking: who answers.
            settings: how many may read at a time, and for how long.
        """
        self._reader = reader
        self._asking = asking
        self._timeout = settings.cluster_timeout_seconds
        self._turns = asyncio.Semaphore(settings.max_cluster_reads)

    async def pod(self, namespace: str, name: str, *, explain: bool | None) -> PodAnswer:
        """The answer for one pod of the cluster; its trace is given unless `explain` is False.

        Raises:
            Refusal: not_found, cluster_forbidden, cluster_failed, cluster_unavailable,
                too_many_objects.
        """
        options = self._options(explain, usually=True)
        return await self._answer(lambda: self._plan_pod(namespace, name, options))

    async def node(self, name: str, *, explain: bool | None) -> PodsAnswer:
        """The answers for the pods that are bound to a node; traces only where asked for.

        Raises:
            Refusal: as `pod`.
        """
        options = self._options(explain, usually=False)
        return await self._answer(lambda: self._plan_node(name, options))

    def _options(self, explain: bool | None, *, usually: bool) -> Options:
        defaults = replace(self._asking.options, explain=usually)
        return OptionOverrides(explain=explain).over(defaults)

    async def _plan_pod(self, namespace: str, name: str, options: Options) -> Plan[PodAnswer]:
        pod = await _read(
            self._reader.get_pod(namespace, name), "get pods", f"pod {namespace}/{name}"
        )
        node = await self._node_of(pod)
        scene = Scene((pod,), self._asking.now(), node, node_is_gone=node is None, is_live=True)
        systems = self._asking.systems
        seen = await _read(look_up(self._reader, systems, scene, options), "", "what decides")
        return systems.weigh_seen_pod(scene, seen, options)

    async def _plan_node(self, name: str, options: Options) -> Plan[PodsAnswer]:
        node = await _read(self._reader.get_node(name), "get nodes", f"node {name}")
        pods = await _read(self._reader.pods_on_node(name), "list pods", f"the pods of node {name}")
        scene = Scene(pods, self._asking.now(), node, is_live=True)
        systems = self._asking.systems
        seen = await _read(look_up(self._reader, systems, scene, options), "", "what decides")
        return systems.weigh_seen_pods(scene, seen, options)

    async def _node_of(self, pod: Pod) -> Node | None:
        name = pod.spec.node_name
        if not name:
            return None
        try:
            return await _read(self._reader.get_node(name), "get nodes", f"node {name}")
        except Refusal as refusal:
            if refusal.code is ProblemCode.NOT_FOUND:
                return None
            raise

    async def _answer(self, planned: Callable[[], Awaitable[Plan[A]]]) -> A:
        try:
            async with asyncio.timeout(self._timeout), self._turns:
                plan = await planned()
        except TimeoutError as error:
            raise _unavailable(f"the cluster did not answer within {self._timeout:g} s") from error
        except FactsError as error:
            # The caller sent none of it, so nothing in the request is at fault.
            detail = f"the cluster has more than one answer may hold: {error}"
            raise Refusal(ProblemCode.TOO_MANY_OBJECTS, detail) from error
        if plan.is_quick:
            return self._asking.carry_out(plan)
        return await asyncio.to_thread(self._asking.carry_out, plan)


async def _read(reading: Awaitable[T], permission: str, what: str) -> T:
    """Await what is read and turn its failure into a Refusal that says what to do."""
    try:
        return await reading
    except NotFoundError as error:
        if not permission:
            # Served a moment ago, as while the API server is upgraded.
            raise _unavailable(f"the cluster has just ceased to serve {what}") from error
        raise Refusal(ProblemCode.NOT_FOUND, f"{what} does not exist") from error
    except (ForbiddenError, UnauthorizedError) as error:
        detail = f"Bailiff's account may not read {what}: grant it the permission to {permission}"
        raise Refusal(ProblemCode.CLUSTER_FORBIDDEN, detail) from error
    except _UNAVAILABLE as error:
        raise _unavailable(f"{what} could not be read: {error.message}") from error
    except ClusterError as error:
        detail = f"{what} could not be read: {error.message}"
        raise Refusal(ProblemCode.CLUSTER_FAILED, detail) from error


def _unavailable(detail: str) -> Refusal:
    """The cluster cannot be asked now; trying again may help."""
    retry = {"Retry-After": str(_RETRY_SECONDS)}
    return Refusal(ProblemCode.CLUSTER_UNAVAILABLE, detail, headers=retry)
