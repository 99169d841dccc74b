"""What every Kubernetes object carries (k8s.io/apimachinery/pkg/apis/meta/v1/types.go)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from bailiff.kinds.texts import LabelName, ObjectName, Uid

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

# A Go int64. JSON knows no bound, Kubernetes does.
Int64 = Annotated[int, Meta(ge=INT64_MIN, le=INT64_MAX)]

# A Go int32.
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

# metav1.Time and metav1.MicroTime: RFC 3339 with an offset, always.
Time = Annotated[datetime, Meta(tz=True)]


class Value(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """The base of all kinds.

    Frozen values that hold only other frozen values cannot form a cycle, so the garbage
    collector need not track them (gc=False): with 150,000 pods mirrored that is the difference
    between pauses and none.
    """


class KubernetesObject(Value, frozen=True, tag_field="kind", tag=True):
    """The base of objects that callers hand over.

    Where such an object says of what kind it is, that has to be the name of the type; what is
    absent, null or empty says nothing. It is compared when it is decoded, and not stored.
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
    Value,
    frozen=True,
    rename={
        "taints_first_observed": "bailiff.dev/taints-first-observed",
        "pressure_state": "bailiff.dev/pressure-state",
        "node_loss": "bailiff.dev/node-loss",
        "acknowledged_taints": "bailiff.dev/acknowledged-taints",
        "maintenance": "bailiff.dev/maintenance",
        "do_not_evict": "bailiff.dev/do-not-evict",
        "evict_among_equals": "bailiff.dev/evict-among-equals",
        "config_source": "kubernetes.io/config.source",
        "config_mirror": "kubernetes.io/config.mirror",
    },
):
    """The annotations that a rule reads; all others are skipped.

    Attributes:
        taints_first_observed: on a node, when its taints without timeAdded were first seen, as the
            worker writes it.
        pressure_state: on a node, since when its thresholds are met and which conditions hold, as
            the worker writes it.
        node_loss: on a node, since when it is lost, and what was done, as the worker writes it.
        acknowledged_taints: on a node, taints that may evict however many pods, as
            `key=value:NoExecute`, with commas.
        maintenance: on a node, from when on its pods are asked to leave (RFC 3339).
        do_not_evict: on a pod, `true`, or until when (RFC 3339).
        evict_among_equals: on a pod, `first` or `last` of those that are equal under pressure.
        config_source: on a pod, where the kubelet has it from; all but `api` are static pods. Its
            presence counts, even when empty.
        config_mirror: on a pod, that it only shows a static one. Its presence counts.
    """

    taints_first_observed: str = ""
    pressure_state: str = ""
    node_loss: str = ""
    acknowledged_taints: str = ""
    maintenance: str = ""
    do_not_evict: str | None = None
    evict_among_equals: str = ""
    config_source: str | None = None
    config_mirror: str | None = None


def as_served(annotations: Annotations) -> Annotations:
    """Those of a pod that comes from the API server, as its kubelet has them.

    Where the kubelet has a pod from it writes itself, whatever stands there
    (pkg/kubelet/config/config.go): else whoever may write a pod could make it a static one, which
    never goes. What shows a true static pod in the API says so by `config_mirror`.
    """
    told = annotations.config_source is not None
    return replace(annotations, config_source=None) if told else annotations


# Stands, by identity, for labels that were there to read and were dropped to save memory.
LABELS_NOT_KEPT: Mapping[str, str] = {}


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
        deletion_grace_period_seconds: that it has been given to end; present with that.
        owner_references: the objects that it belongs to.
        labels: what selectors choose by.
        annotations: those that a rule reads.
    """

    name: ObjectName = ""
    namespace: LabelName = ""
    uid: Uid = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    labels: Mapping[str, str] = {}
    annotations: Annotations = Annotations()

    @property
    def uid_on_node(self) -> str:
        """By which the pod's cgroup and folders are named: not its own where it shows a static pod.

        Source: the annotation kubernetes.io/config.mirror, which the kubelet gives that UID
        (pkg/kubelet/pod/mirror_client.go).
        """
        return self.annotations.config_mirror or self.uid
