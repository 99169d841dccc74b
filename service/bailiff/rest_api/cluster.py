"""Answers about the objects of a real cluster, read at the moment of the question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from bailiff.decisions import Decision, Facts, FactsError, NodeFacts
from bailiff.decisions.bounds import MAX_PODS, check_number
from bailiff.decisions.observations import as_served
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.rest_api.reading import DeviceReading, read, unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.cluster.reader import ClusterReader
    from bailiff.decisions import OptionOverrides
    from bailiff.kinds import Node, Pod
    from bailiff.rest_api.questions import DecisionList, Questions
    from bailiff.rest_api.settings import RestSettings

T = TypeVar("T")


class ClusterLookUps:
    """Fetches the facts and asks what Questions asks. Reads, never writes, keeps nothing."""

    def __init__(
        self,
        reader: ClusterReader,
        questions: Questions,
        settings: RestSettings,
    ) -> None:
        """Prepare.

        Args:
            reader: of the cluster.
            questions: who answers.
            settings: how many may read at a time, and for how long.
        """
        self._reader = reader
        self._questions = questions
        self._timeout = settings.cluster_timeout_seconds
        self._devices = DeviceReading(enabled=settings.device_taint_eviction)
        self._turns = asyncio.Semaphore(settings.max_cluster_reads)

    async def pod(self, namespace: str, name: str, overrides: OptionOverrides) -> Decision:
        """The answer for one pod of the cluster.

        Raises:
            Refusal: not_found, cluster_forbidden, cluster_failed, cluster_unavailable,
                too_many_objects.
        """
        return await self._in_time(lambda: self._pod(namespace, name, overrides))

    async def node(self, name: str, overrides: OptionOverrides) -> DecisionList:
        """The answers for the pods that are bound to a node of the cluster.

        Raises:
            Refusal: as `pod`.
        """
        return await self._in_time(lambda: self._node(name, overrides))

    async def _pod(self, namespace: str, name: str, overrides: OptionOverrides) -> Decision:
        reader = self._reader
        pod = await read(reader.get_pod(namespace, name), "get pods", f"pod {namespace}/{name}")
        node = await self._node_of(reader, pod)
        devices, unknown = await self._devices.of(reader, (pod,))
        facts = Facts(
            pod=pod,
            node=node,
            resource_claims=devices.claims,
            resource_slices=devices.slices,
            device_taint_rules=devices.rules,
            options=overrides,
        )
        if node is None:
            return self._questions.without_node(facts, unknown)
        return self._questions.decide(facts, unknown)

    async def _node_of(self, reader: ClusterReader, pod: Pod) -> Node | None:
        name = pod.spec.node_name
        if not name:
            return None
        try:
            return await _read_node(reader, name)
        except Refusal as refusal:
            if refusal.code is ProblemCode.NOT_FOUND:
                return None
            raise

    async def _node(self, name: str, overrides: OptionOverrides) -> DecisionList:
        reader = self._reader
        node = await _read_node(reader, name)
        pods = await read(reader.pods_on_node(name), "list pods", f"the pods of node {name}")
        check_number("$.pods", len(pods), MAX_PODS)
        devices, unknown = await self._devices.of(reader, pods)
        facts = NodeFacts(
            node=node,
            pods=pods,
            resource_claims=devices.claims,
            resource_slices=devices.slices,
            device_taint_rules=devices.rules,
            options=overrides,
        )
        return self._questions.decide_node(facts, unknown)

    async def _in_time(self, answer: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._timeout), self._turns:
                return await answer()
        except TimeoutError as error:
            raise unavailable(f"the cluster did not answer within {self._timeout:g} s") from error
        except FactsError as error:
            # The caller sent none of it, so nothing in the request is at fault.
            detail = f"the cluster has more than one answer may hold: {error}"
            raise Refusal(ProblemCode.TOO_MANY_OBJECTS, detail) from error


async def _read_node(reader: ClusterReader, name: str) -> Node:
    return as_served(await read(reader.get_node(name), "get nodes", f"node {name}"))
