"""Answers about the objects of a real cluster, read at the moment of the question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from bailiff.decisions import Decision, Facts, NodeFacts
from bailiff.decisions.observations import as_served
from bailiff.kinds.names import LABEL_RULE, SUBDOMAIN_RULE, is_dns_label, is_dns_subdomain
from bailiff.rest.problems import ProblemCode, Refusal
from bailiff.rest.reading import DeviceReading, read, unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.cluster.reader import ClusterReader
    from bailiff.decisions import OptionOverrides
    from bailiff.kinds import Node, Pod
    from bailiff.rest.questions import DecisionList, Questions
    from bailiff.rest.settings import RestSettings

T = TypeVar("T")


class LiveQuestions:
    """Fetches the facts and asks what Questions asks. Reads, never writes, keeps nothing."""

    def __init__(
        self,
        reader: ClusterReader | None,
        questions: Questions,
        settings: RestSettings,
    ) -> None:
        """Prepare; without a reader every question is refused with no_cluster."""
        self._reader = reader
        self._questions = questions
        self._timeout = settings.cluster_timeout_seconds
        self._devices = DeviceReading(enabled=settings.device_taint_eviction)
        self._turns = asyncio.Semaphore(settings.max_cluster_reads)

    async def pod(self, namespace: str, name: str, overrides: OptionOverrides) -> Decision:
        """The answer for one pod of the cluster.

        Raises:
            Refusal: invalid_field for a name that no object can have, no_cluster, not_found,
                cluster_forbidden, cluster_failed, cluster_unavailable.
            FactsError: the node has more taints than can be compared.
        """
        check_label("path.namespace", namespace)
        check_subdomain("path.name", name)
        reader = self._present()
        return await self._in_time(lambda: self._pod(reader, namespace, name, overrides))

    async def node(self, name: str, overrides: OptionOverrides) -> DecisionList:
        """The answers for the pods that are bound to a node of the cluster.

        Raises:
            Refusal: as `pod`.
            FactsError: the node has more taints than can be compared.
        """
        check_subdomain("path.name", name)
        reader = self._present()
        return await self._in_time(lambda: self._node(reader, name, overrides))

    async def _pod(
        self, reader: ClusterReader, namespace: str, name: str, overrides: OptionOverrides
    ) -> Decision:
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

    async def _node(
        self, reader: ClusterReader, name: str, overrides: OptionOverrides
    ) -> DecisionList:
        node = await _read_node(reader, name)
        pods = await read(reader.pods_on_node(name), "list pods", f"the pods of node {name}")
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

    def _present(self) -> ClusterReader:
        if self._reader is None:
            detail = (
                "Bailiff was started without a cluster to read: send the objects to "
                "POST /v1/decisions, or start it with --kubeconfig or --in-cluster"
            )
            raise Refusal(ProblemCode.NO_CLUSTER, detail)
        return self._reader

    async def _in_time(self, answer: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._timeout), self._turns:
                return await answer()
        except TimeoutError as error:
            raise unavailable(f"the cluster did not answer within {self._timeout:g} s") from error


async def _read_node(reader: ClusterReader, name: str) -> Node:
    return as_served(await read(reader.get_node(name), "get nodes", f"node {name}"))


def check_label(path: str, name: str) -> None:
    """Refuse what is no RFC 1123 label.

    Raises:
        Refusal: invalid_field.
    """
    if not is_dns_label(name):
        raise Refusal(ProblemCode.INVALID_FIELD, LABEL_RULE, path=path)


def check_subdomain(path: str, name: str) -> None:
    """Refuse what is no RFC 1123 subdomain.

    Raises:
        Refusal: invalid_field.
    """
    if not is_dns_subdomain(name):
        raise Refusal(ProblemCode.INVALID_FIELD, SUBDOMAIN_RULE, path=path)
