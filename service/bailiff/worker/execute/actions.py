"""What the worker does to the cluster: each request guarded by the object's UID or version."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bailiff.cluster import EVENTS, PODS, AlreadyExistsError, Cluster, PatchType
from bailiff.decisions.text import describe_time
from bailiff.worker.execute.event_bodies import Regarding, event_body
from bailiff.worker.mirror.mirror import has_condition
from bailiff.worker.observe.event_names import EventNames

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.cluster import Resource
    from bailiff.decisions import EventNote, EvictionTerms
    from bailiff.kinds import Pod, PodCondition


class Mark(NamedTuple):
    """What is written into the status of a pod of which nobody hears any more.

    Attributes:
        reason: of `status.reason`; empty: it stays.
        message: of `status.message`, with that.
        not_ready: its condition Ready becomes False.
    """

    reason: str = ""
    message: str = ""
    not_ready: bool = False


class PodActions(Protocol):
    """The port; all raise ClusterError."""

    async def set_status(self, pod: Pod, terms: EvictionTerms, now: datetime) -> Pod:
        """Write what announces an eviction: the condition where it is missing.

        Returns the pod as the server has it. Terms that name none write nothing: the pod of this
        UID is looked at. Where they keep the pod, phase, reason and message are written with it;
        a reason without a phase is written, too.
        A phase ends the pod for good, so it is written on this version of it only; ConflictError
        for another.
        """
        ...

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        """Write phase, reason and message of a pod of this UID that is being deleted.

        One that has ended by itself meanwhile keeps its own. ConflictError where somebody else has
        written it between the look and the write.
        """
        ...

    async def mark(self, pod: Pod, mark: Mark, now: datetime) -> None:
        """Write into the status of the pod of this UID that nobody hears of it any more."""
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

        A pod of phase Failed or Succeeded goes at once, whatever grace period is asked for
        (pkg/registry/core/pod/strategy.go, CheckGracefulDelete).
        A pod that has changed since, were it only that somebody else has deleted it, is answered
        with ConflictError.
        """
        ...

    async def evict(self, pod: Pod, grace_period_seconds: int | None = None) -> None:
        """Delete the pod of this UID in this version, if its PodDisruptionBudget allows it.

        DisruptionBudgetError where it does not; grace period and ConflictError as of `delete`.
        """
        ...

    async def try_evict(self, pod: Pod) -> None:
        """Have an eviction of the pod of this UID checked, its budget included; nothing is charged.

        DisruptionBudgetError where the budget does not allow it; DryRunUnsupportedError as of
        `try_delete`.
        """
        ...

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        """Create an Event about the pod; `component` is the controller that it comes from.

        One that is there already, from this worker or another, counts as created.
        """
        ...


class ObjectActions(Protocol):
    """What systems write besides evictions; raises ClusterError."""

    async def report(
        self, about: Regarding, note: EventNote, now: datetime, component: str
    ) -> None:
        """As `record`, about any object."""
        ...

    async def write(
        self,
        resource: Resource[Any],
        body: dict[str, Any],
        *,
        field_manager: str,
        apply: bool = False,
        subresource: str = "",
    ) -> None:
        """Write an object that has no namespace.

        Args:
            resource: its kind.
            body: a merge patch, with the object's name, and with its UID or version as a guard.
            field_manager: who writes, as managedFields tell.
            apply: it is the whole of what this manager says of the object, forced upon others
                (server-side apply), and no patch.
            subresource: as `status`.
        """
        ...


class Actions(PodActions, ObjectActions, Protocol):
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

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        """See PodActions."""
        current = await self._patch_status(pod, {})
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
        # A patch that changes nothing is answered with the pod as it is, and needs no right to get.
        current = await self._patch_status(pod, {})
        if has_condition(current, condition) and not current.has_ended:
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
    if not has_condition(pod, condition):
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
