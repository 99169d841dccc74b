"""What the worker does to the cluster: each request guarded by the object's UID or version."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol

from bailiff.cluster import EVENTS, NODES, PODS, AlreadyExistsError, Cluster, PatchType
from bailiff.decisions import device_taints, node_taints
from bailiff.decisions.text import describe_time
from bailiff.kinds import Annotations
from bailiff.worker.observe.event_names import EventNames

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.cluster import Resource
    from bailiff.decisions import EventNote
    from bailiff.kinds import Condition, DeviceTaintRule, Node, Pod, PodCondition

COMPONENT = node_taints.CONTROLLER_NAME
DEVICE_COMPONENT = device_taints.CONTROLLER_NAME
# Who writes the annotation, by managedFields. A name of its own: what a manager writes moves the
# time of all that it owns, and a manager that taints nodes would seem to have edited the taints.
NOTE_MANAGER = "bailiff-taints-first-observed"
ANNOTATION = Annotations.__struct_encode_fields__[0]


class PodActions(Protocol):
    """The port; all raise ClusterError."""

    async def set_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> Pod:
        """Write a status condition where it is missing; returns the pod as the server has it."""
        ...

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        """Set this condition to False, where the pod of this UID has it and is not going."""
        ...

    async def try_delete(self, pod: Pod) -> None:
        """Have a delete of the pod of this UID checked, admission included; nothing is deleted.

        DryRunUnsupportedError where an admission webhook cannot be asked that way.
        """
        ...

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        """Delete the pod of this UID in this version; None leaves it its own grace period.

        A pod that has changed since, were it only that somebody else has deleted it, is answered
        with ConflictError.
        """
        ...

    async def evict(self, pod: Pod) -> None:
        """Delete the pod of this UID in this version, if its PodDisruptionBudget allows it.

        DisruptionBudgetError where it does not; ConflictError as `delete`.
        """
        ...

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        """Create an Event about the pod; `component` is the controller that it comes from.

        One that is there already, from this worker or another, counts as created.
        """
        ...


class NodeActions(Protocol):
    """What is done to nodes; raises ClusterError."""

    async def annotate(self, node: Node, first_observed: str) -> None:
        """Write the annotation if this node is still in this version; empty takes it away."""
        ...


class RuleActions(Protocol):
    """What is done to DeviceTaintRules; raises ClusterError."""

    async def set_rule_condition(
        self, resource: Resource[DeviceTaintRule], rule: DeviceTaintRule, condition: Condition
    ) -> None:
        """Put a condition into the status of the rule of this UID, as its field's only owner."""
        ...


class Actions(PodActions, NodeActions, RuleActions, Protocol):
    """All that a worker does."""

    def backoff(self) -> float:
        """Seconds for which the API server is to be left alone; 0: it need not be."""
        ...


class ClusterActions:
    """The actions on a real API server."""

    def __init__(self, cluster: Cluster, instance: str, *, dry_run: bool = False) -> None:
        """Act.

        Args:
            cluster: where.
            instance: who reports Events, as `reportingInstance`.
            dry_run: have the API server check every write, admission included, and keep none.
        """
        self._cluster = cluster
        self._instance = instance
        self._dry_run = dry_run
        self._names = EventNames()

    def backoff(self) -> float:
        """See Actions, and Cluster.held."""
        return self._cluster.held()

    async def set_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> Pod:
        """See PodActions. A wrong UID in the patch is answered with a conflict."""
        return await self._patch_status(pod, {}, _condition_body(pod, condition, now))

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        """See PodActions. The version is a precondition: nobody else's condition is reset."""
        # A patch that changes nothing is answered with the pod as it is, and needs no right to get.
        current = await self._patch_status(pod, {})
        if _has(current, condition) and not current.has_ended:
            version = {"resourceVersion": current.metadata.resource_version}
            await self._patch_status(pod, version, _reset_body(current, condition, now))

    async def _patch_status(
        self, pod: Pod, precondition: dict[str, str], *conditions: dict[str, Any]
    ) -> Pod:
        meta = pod.metadata
        body: dict[str, Any] = {"metadata": {"uid": meta.uid, **precondition}}
        if conditions:
            body["status"] = {"conditions": conditions}
        return await self._cluster.patch(
            PODS,
            meta.name,
            meta.namespace,
            body,
            patch_type=PatchType.STRATEGIC,
            subresource="status",
            dry_run=self._dry_run,
        )

    async def try_delete(self, pod: Pod) -> None:
        """See PodActions."""
        meta = pod.metadata
        await self._cluster.delete(PODS, meta.name, meta.namespace, uid=meta.uid, dry_run=True)

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        """See PodActions."""
        meta = pod.metadata
        await self._cluster.delete(
            PODS,
            meta.name,
            meta.namespace,
            uid=meta.uid,
            resource_version=meta.resource_version,
            grace_period_seconds=grace_period_seconds,
            dry_run=self._dry_run,
        )

    async def evict(self, pod: Pod) -> None:
        """See PodActions."""
        meta = pod.metadata
        await self._cluster.evict(
            meta.name, meta.namespace, meta.uid, meta.resource_version, dry_run=self._dry_run
        )

    async def annotate(self, node: Node, first_observed: str) -> None:
        """See NodeActions."""
        to = (NODES, node.metadata.name, "", _note_body(node, first_observed))
        how: Any = {"field_manager": NOTE_MANAGER, "dry_run": self._dry_run}
        if first_observed and node.taints_edited is None:
            # Of a node that was made with nothing in it that can be owned, the API server keeps no
            # managedFields before the first apply (k8s.io/apimachinery, pkg/util/managedfields/
            # internal/skipnonapplied.go). From then on they tell when its taints are edited.
            await self._cluster.apply(*to, force=True, **how)
        else:
            await self._cluster.patch(*to, patch_type=PatchType.MERGE, **how)

    async def set_rule_condition(
        self, resource: Resource[DeviceTaintRule], rule: DeviceTaintRule, condition: Condition
    ) -> None:
        """See RuleActions. A wrong UID is answered with a conflict."""
        meta = rule.metadata
        body = {
            "apiVersion": f"{resource.group}/{resource.version}",
            "kind": "DeviceTaintRule",
            "metadata": {"name": meta.name, "uid": meta.uid},
            "status": {"conditions": [_rule_condition_body(condition)]},
        }
        await self._cluster.apply(
            resource,
            meta.name,
            "",
            body,
            field_manager=DEVICE_COMPONENT,
            force=True,
            subresource="status",
            dry_run=self._dry_run,
        )

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        """See PodActions."""
        name = self._names.next(pod, note, now, component)
        body = _event_body(name, pod, note, now, self._instance, component)
        with contextlib.suppress(AlreadyExistsError):
            await self._cluster.create(EVENTS, body, pod.metadata.namespace, dry_run=self._dry_run)


def _condition_body(pod: Pod, condition: PodCondition, now: datetime) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": pod.metadata.generation,
    }
    if not _has(pod, condition):
        # One that is there keeps its time, and the patch, which then changes nothing, is no write.
        body["lastTransitionTime"] = describe_time(now.replace(microsecond=0))
    return body


def _reset_body(pod: Pod, condition: PodCondition, now: datetime) -> dict[str, Any]:
    """As pkg/controller/disruption writes it: False, for no reason."""
    return {
        "type": condition.type,
        "status": "False",
        "reason": "",
        "message": "",
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": describe_time(now.replace(microsecond=0)),
    }


def _has(pod: Pod, wanted: PodCondition) -> bool:
    return any(
        (c.type, c.status, c.reason) == (wanted.type, wanted.status, wanted.reason)
        for c in pod.status.conditions
    )


def _note_body(node: Node, first_observed: str) -> dict[str, Any]:
    """With the UID: an apply would create a node that is not there."""
    meta = node.metadata
    guards = {"uid": meta.uid, "resourceVersion": meta.resource_version}
    annotations = {ANNOTATION: first_observed or None}
    metadata = {"name": meta.name, "annotations": annotations, **guards}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def _rule_condition_body(condition: Condition) -> dict[str, Any]:
    at = condition.last_transition_time
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": None if at is None else describe_time(at.replace(microsecond=0)),
    }


def _event_body(
    name: str, pod: Pod, note: EventNote, now: datetime, instance: str, component: str
) -> dict[str, Any]:
    meta = pod.metadata
    at = describe_time(now.replace(microsecond=0))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": meta.namespace},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
        },
        "type": note.type,
        "reason": note.reason,
        "message": note.message[:1024],
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": instance,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }
