"""Which of the pods that are due goes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.policies.settings import DrainOrder

if TYPE_CHECKING:
    from bailiff.kinds import Pod


class Rank(Struct, frozen=True, order=True, gc=False):
    """A sort key: who has the lesser one goes first.

    Attributes:
        refused: by a budget or a webhook, the last time.
        is_last: it is critical, or a DaemonSet's.
        priority: of the pod.
        born: minus the POSIX second at which it was created, so that the younger goes first.
    """

    refused: bool = False
    is_last: bool = False
    priority: int = 0
    born: float = 0.0


_AS_THEY_COME, _REFUSED = Rank(), Rank(refused=True)


def rank(pod: Pod, order: DrainOrder, *, refused: bool = False) -> Rank:
    """Where a pod stands. Pods of one rank go as they fell due.

    Those that were refused, by a budget or a webhook, go behind the others, as they come: so that
    they do not use up the limits.
    """
    if refused or order is DrainOrder.DUE:
        return _REFUSED if refused else _AS_THEY_COME
    created = pod.metadata.creation_timestamp
    return Rank(
        is_last=is_critical(pod) or is_daemon(pod),
        priority=pod.spec.priority,
        born=-created.timestamp() if created is not None else 0.0,
    )


def is_daemon(pod: Pod) -> bool:
    """Whether a DaemonSet controls it: evicted, it would come back to the same node."""
    return any(
        owner.controller and owner.kind == "DaemonSet" and owner.api_version.startswith("apps/")
        for owner in pod.metadata.owner_references
    )
