"""What is done to the cluster: each request guarded by the object's UID or version."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from bailiff.actions.event_bodies import Regarding, event_body
from bailiff.actions.event_names import EventNames
from bailiff.cluster import EVENTS, PODS, AlreadyExistsError, Cluster, PatchType
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.actions.ports import Mark
    from bailiff.cluster import Resource
    from bailiff.decisions import EventNote, EvictionTerms
    from bailiff.kinds import Pod, PodCondition


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
        """See Actions, and Cluster.backoff."""
        return self._cluster.backoff()

    async def set_status(self, pod: Pod, terms: EvictionTerms, now: datetime) -> Pod:
        """See PodActions. A wrong UID in the patch is answered with a conflict."""
        ends = bool(terms.phase) and terms.keeps_pod
        guard = {"resourceVersion": pod.metadata.resource_version} if ends else {}
        status = _phase_body(terms) if ends else {}
        if terms.status_reason and not terms.phase:
            status = _reason_body(terms.status_reason, terms.status_message)
        if terms.condition is not None:
            status["conditions"] = (_condition_body(pod, terms.condition, now),)
        return await self._patch_status(pod, guard, status)

    async def current(self, pod: Pod) -> Pod:
        """See PodActions: a patch that changes nothing is answered with the pod as it is."""
        return await self._patch_status(pod, {})

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        """See PodActions."""
        current = await self.current(pod)
        if not current.is_finished:
            version = {"resourceVersion": current.metadata.resource_version}
            await self._patch_status(pod, version, _phase_body(terms))

    async def mark(self, pod: Pod, mark: Mark, now: datetime) -> None:
        """See PodActions. A wrong UID in the patch is answered with a conflict."""
        status = _reason_body(mark.reason, mark.message) if mark.reason else {}
        if mark.not_ready:
            at = describe_time(now.replace(microsecond=0))
            ready = {"type": "Ready", "status": "False", "lastTransitionTime": at}
            status["conditions"] = (ready,)
        await self._patch_status(pod, {}, status)

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        """See PodActions. The version is a precondition: nobody else's condition is reset."""
        current = await self.current(pod)
        if current.has_condition(condition) and not current.has_ended:
            version = {"resourceVersion": current.metadata.resource_version}
            reset = {"conditions": (_reset_body(current, condition, now),)}
            await self._patch_status(pod, version, reset)

    async def _patch_status(
        self, pod: Pod, precondition: dict[str, str], status: dict[str, Any] | None = None
    ) -> Pod:
        meta = pod.metadata
        body: dict[str, Any] = {"metadata": {"uid": meta.uid, **precondition}}
        if status:
            body["status"] = status
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

    async def evict(self, pod: Pod, grace_period_seconds: int | None = None) -> None:
        """See PodActions."""
        meta = pod.metadata
        await self._cluster.evict(
            meta.name,
            meta.namespace,
            meta.uid,
            meta.resource_version,
            grace_period_seconds=grace_period_seconds,
            dry_run=self._dry_run,
        )

    async def try_evict(self, pod: Pod) -> None:
        """See PodActions."""
        meta = pod.metadata
        await self._cluster.evict(meta.name, meta.namespace, meta.uid, dry_run=True)

    async def write(
        self,
        resource: Resource[Any],
        body: dict[str, Any],
        *,
        field_manager: str,
        apply: bool = False,
        subresource: str = "",
    ) -> None:
        """See ObjectActions."""
        to = (resource, body["metadata"]["name"], "", body)
        how: Any = {"field_manager": field_manager, "subresource": subresource}
        if apply:
            await self._cluster.apply(*to, force=True, dry_run=self._dry_run, **how)
        else:
            how |= {"patch_type": PatchType.MERGE, "dry_run": self._dry_run}
            await self._cluster.patch(*to, **how)

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        """See PodActions."""
        meta = pod.metadata
        about = Regarding(
            api_version="v1", kind="Pod", name=meta.name, namespace=meta.namespace, uid=meta.uid
        )
        await self.report(about, note, now, component)

    async def report(
        self, about: Regarding, note: EventNote, now: datetime, component: str
    ) -> None:
        """See ObjectActions."""
        name = self._names.next(about, note, now, component)
        body = event_body(name, about, note, now, self._instance, component)
        with contextlib.suppress(AlreadyExistsError):
            await self._cluster.create(EVENTS, body, about.event_namespace, dry_run=self._dry_run)


def _phase_body(terms: EvictionTerms) -> dict[str, Any]:
    status: dict[str, Any] = {"phase": terms.phase, "reason": terms.status_reason}
    if terms.status_message:
        status["message"] = terms.status_message
    return status


def _reason_body(reason: str, message: str) -> dict[str, Any]:
    return {"reason": reason, "message": message}


def _condition_body(pod: Pod, condition: PodCondition, now: datetime) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": pod.metadata.generation,
    }
    if not pod.has_condition(condition):
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
