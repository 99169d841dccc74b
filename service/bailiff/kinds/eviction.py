"""What somebody asks for who evicts or deletes a pod (policy/v1 Eviction, metav1.DeleteOptions)."""

from __future__ import annotations

from bailiff.kinds.meta import Int64, ObjectMeta, Value


class Preconditions(Value, frozen=True):
    """What must hold of the object.

    Attributes:
        uid: it has this UID.
        resource_version: it is in this version.
    """

    uid: str | None = None
    resource_version: str | None = None


class DeleteOptions(Value, frozen=True):
    """How an object is deleted.

    Attributes:
        grace_period_seconds: that it has to end by itself; 0: it is deleted by force.
        preconditions: see there.
        dry_run: `All` where nothing is to be kept.
    """

    grace_period_seconds: Int64 | None = None
    preconditions: Preconditions | None = None
    dry_run: tuple[str, ...] = ()


class Eviction(Value, frozen=True):
    """A pod is to be evicted.

    Attributes:
        metadata: name and namespace of the pod.
        delete_options: see there.
    """

    metadata: ObjectMeta = ObjectMeta()
    delete_options: DeleteOptions | None = None
