"""What may be done to the cluster, whoever does it: the ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.actions.event_bodies import Regarding
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

    async def current(self, pod: Pod) -> Pod:
        """The pod of this UID as the server has it; takes no right to get pods."""
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

        One that names no version is deleted in any.
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
