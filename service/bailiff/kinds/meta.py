"""What every Kubernetes object carries (k8s.io/apimachinery/pkg/apis/meta/v1/types.go)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

# A Go int64. JSON knows no bound, Kubernetes does.
Int64 = Annotated[int, Meta(ge=INT64_MIN, le=INT64_MAX)]

# metav1.Time and metav1.MicroTime: RFC 3339 with an offset, always.
Time = Annotated[datetime, Meta(tz=True)]


class Value(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The base of all kinds.

    Frozen values that hold only other frozen values cannot form a cycle, so the garbage
    collector need not track them (gc=False): with 150,000 pods mirrored that is the difference
    between pauses and none.
    """


class OwnerReference(Value, frozen=True):
    """The owner of an object; at most one owner has `controller` set.

    Attributes:
        api_version: group and version of the owner's kind, as `apps/v1`.
        kind: the owner's kind, as `ReplicaSet`.
        name: the owner's name, in the same namespace.
        uid: the owner's identity.
        controller: the owner manages the object.
    """

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Annotations(
    Value, frozen=True, rename={"taints_first_observed": "bailiff.dev/taints-first-observed"}
):
    """The annotations that a rule reads; all others are skipped.

    Attributes:
        taints_first_observed: on a node, when its taints without timeAdded were first seen, as the
            worker writes it.
    """

    taints_first_observed: str = ""


class ObjectMeta(Value, frozen=True):
    """The identity of an object.

    Attributes:
        name: unique in its namespace at any one time.
        namespace: where it lives; empty for kinds without one, such as nodes.
        uid: tells it from a later object of the same name.
        resource_version: which state of the object this is, for the API server only to compare.
        generation: counts changes of the wanted state.
        creation_timestamp: when it was made.
        deletion_timestamp: when it will be gone at the latest; present once it is being deleted.
        owner_references: the objects that it belongs to.
        annotations: those that a rule reads.
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    annotations: Annotations = Annotations()
