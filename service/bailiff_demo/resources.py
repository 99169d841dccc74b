"""The table of resources: what is served under which path, in which group.

To add a kind: a row here, the fields that somebody reads in shapes.py, its rules in rules/, its
columns in columns.py, its lists in patches.py (MERGE_KEYS).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

ALL_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object, or an act on it, with a path of its own."""

    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind as it is served.

    Attributes:
        group: API group; empty for the core group.
        version: of the group.
        plural: as in paths.
        kind: of its objects.
        namespaced: whether its objects live in namespaces.
        status: whether `/status` is a subresource, so that the main one ignores the status.
        status_keeps_metadata: whether a write of the status leaves labels, annotations, finalizers
            and owners as they are (metav1.ResetObjectMetaForStatus).
        generation: whether metadata.generation counts changes of the spec.
        acts: further subresources, by name.
        stored_as: the version in which its objects are stored; its own but for older versions.
        short_names: as `po`.
        categories: as `all`.
        fields: paths that field selectors may name, beyond metadata.name and .namespace.
    """

    group: str = ""
    version: str = "v1"
    plural: str
    kind: str
    namespaced: bool = True
    status: bool = False
    status_keeps_metadata: bool = False
    generation: bool = False
    acts: dict[str, Subresource] = field(default_factory=dict)
    stored_as: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """`daemonsets.apps`, as messages name it, and where its objects are stored."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """`apps/v1`, as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """Of its paths: `/apis/apps/v1`."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"

    @property
    def subresources(self) -> dict[str, Subresource]:
        """All of them, `status` too."""
        return {**(_STATUS if self.status else {}), **self.acts}

    def __hash__(self) -> int:
        # Of the id alone: `acts` is a dict, which has none.
        return hash(self.id)


_STATUS = {"status": Subresource("", ("get", "patch", "update"))}
_SCALE = {"scale": Subresource("Scale", ("get", "patch", "update"), "autoscaling", "v1")}

NAMESPACES = Resource(
    plural="namespaces",
    kind="Namespace",
    namespaced=False,
    status=True,
    short_names=("ns",),
    fields=("status.phase",),
)
NODES = Resource(
    plural="nodes",
    kind="Node",
    namespaced=False,
    status=True,
    # As far as it is served; a real server passes on all verbs.
    acts={"proxy": Subresource("NodeProxyOptions", ("get",))},
    short_names=("no",),
    fields=("spec.unschedulable",),
)
PODS = Resource(
    plural="pods",
    kind="Pod",
    status=True,
    generation=True,
    acts={
        "binding": Subresource("Binding", ("create",)),
        "eviction": Subresource("Eviction", ("create",), "policy", "v1"),
    },
    short_names=("po",),
    categories=("all",),
    fields=(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
)
EVENTS = Resource(
    plural="events",
    kind="Event",
    short_names=("ev",),
    fields=(
        *(
            f"involvedObject.{name}"
            for name in (
                *("kind", "namespace", "name", "uid", "apiVersion"),
                *("resourceVersion", "fieldPath"),
            )
        ),
        *("reason", "reportingComponent", "source", "type"),
    ),
)
CONFIGMAPS = Resource(plural="configmaps", kind="ConfigMap", short_names=("cm",))
SECRETS = Resource(plural="secrets", kind="Secret", fields=("type",))
SERVICEACCOUNTS = Resource(plural="serviceaccounts", kind="ServiceAccount", short_names=("sa",))


def _workload(plural: str, kind: str, short: str, *, scale: bool = True) -> Resource:
    return Resource(
        group="apps",
        plural=plural,
        kind=kind,
        status=True,
        generation=True,
        acts=_SCALE if scale else {},
        short_names=(short,),
        categories=("all",),
    )


DAEMONSETS = _workload("daemonsets", "DaemonSet", "ds", scale=False)
STATEFULSETS = _workload("statefulsets", "StatefulSet", "sts")
DEPLOYMENTS = _workload("deployments", "Deployment", "deploy")
REPLICASETS = _workload("replicasets", "ReplicaSet", "rs")
LEASES = Resource(group="coordination.k8s.io", plural="leases", kind="Lease")
PODDISRUPTIONBUDGETS = Resource(
    group="policy",
    plural="poddisruptionbudgets",
    kind="PodDisruptionBudget",
    status=True,
    generation=True,
    short_names=("pdb",),
)
PRIORITYCLASSES = Resource(
    group="scheduling.k8s.io",
    plural="priorityclasses",
    kind="PriorityClass",
    namespaced=False,
    generation=True,
    short_names=("pc",),
)

_DEVICES = "resource.k8s.io"
RESOURCESLICES = Resource(
    group=_DEVICES,
    plural="resourceslices",
    kind="ResourceSlice",
    namespaced=False,
    generation=True,
    fields=("spec.driver", "spec.nodeName", "spec.pool.name"),
)
RESOURCECLAIMS = Resource(
    group=_DEVICES,
    plural="resourceclaims",
    kind="ResourceClaim",
    status=True,
    status_keeps_metadata=True,
)
RESOURCECLAIMTEMPLATES = Resource(
    group=_DEVICES, plural="resourceclaimtemplates", kind="ResourceClaimTemplate"
)
DEVICECLASSES = Resource(
    group=_DEVICES, plural="deviceclasses", kind="DeviceClass", namespaced=False, generation=True
)
DEVICETAINTRULES = Resource(
    group=_DEVICES,
    plural="devicetaintrules",
    kind="DeviceTaintRule",
    namespaced=False,
    status=True,
    status_keeps_metadata=True,
    generation=True,
)
_DEVICE_RESOURCES = (
    DEVICECLASSES,
    DEVICETAINTRULES,
    RESOURCECLAIMS,
    RESOURCECLAIMTEMPLATES,
    RESOURCESLICES,
)

RESOURCES: tuple[Resource, ...] = (
    NAMESPACES,
    NODES,
    PODS,
    EVENTS,
    CONFIGMAPS,
    SECRETS,
    SERVICEACCOUNTS,
    DAEMONSETS,
    STATEFULSETS,
    DEPLOYMENTS,
    REPLICASETS,
    LEASES,
    PODDISRUPTIONBUDGETS,
    PRIORITYCLASSES,
    *_DEVICE_RESOURCES,
    # The same objects in the version before, which has the same fields.
    *(replace(r, version="v1beta2", stored_as=r.api_version) for r in _DEVICE_RESOURCES),
)
# Resources whose objects are their own, and not a second view of another's.
OWN_RESOURCES = tuple(resource for resource in RESOURCES if not resource.stored_as)
