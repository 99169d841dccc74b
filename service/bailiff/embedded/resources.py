"""The table of resources: what is served under which path, in which group.

To add a kind: a row here, its fields in shapes.py if rules read them, its rules in
registry/strategies.py, its columns in tables/.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


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
        generation: whether metadata.generation counts changes of the spec.
        subresources: others, name to (kind, verbs, group and version where they are not its own).
        storage: id of the resource whose objects these are; its own id but for second views.
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
    generation: bool = False
    subresources: dict[str, Subresource] = field(default_factory=dict)
    storage: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """`daemonsets.apps`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """`apps/v1`, as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def bucket(self) -> str:
        """Where its objects are stored."""
        return self.storage or self.id

    @property
    def singular(self) -> str:
        """As `kubectl get pod` takes it."""
        return self.kind.lower()

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object, or an act on it, with a path of its own."""

    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_STATUS = Subresource("", ("get", "patch", "update"))
_SCALE = Subresource("Scale", ("get", "patch", "update"), "autoscaling", "v1")
_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)

NAMESPACES = Resource(
    plural="namespaces",
    kind="Namespace",
    namespaced=False,
    status=True,
    subresources={"finalize": Subresource("Namespace", ("update",))},
    short_names=("ns",),
    fields=("status.phase",),
)
NODES = Resource(
    plural="nodes",
    kind="Node",
    namespaced=False,
    status=True,
    short_names=("no",),
    fields=("spec.unschedulable",),
)
PODS = Resource(
    plural="pods",
    kind="Pod",
    status=True,
    generation=True,
    subresources={
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
EVENTS = Resource(plural="events", kind="Event", short_names=("ev",), fields=_EVENT_FIELDS)
CONFIGMAPS = Resource(plural="configmaps", kind="ConfigMap", short_names=("cm",))
SECRETS = Resource(plural="secrets", kind="Secret", fields=("type",))
SERVICEACCOUNTS = Resource(plural="serviceaccounts", kind="ServiceAccount", short_names=("sa",))
NEW_EVENTS = Resource(
    group="events.k8s.io",
    plural="events",
    kind="Event",
    storage="events",
    short_names=("ev",),
    fields=(
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "reportingController",
        "reason",
        "type",
    ),
)
DAEMONSETS = Resource(
    group="apps",
    plural="daemonsets",
    kind="DaemonSet",
    status=True,
    generation=True,
    short_names=("ds",),
    categories=("all",),
)
STATEFULSETS = Resource(
    group="apps",
    plural="statefulsets",
    kind="StatefulSet",
    status=True,
    generation=True,
    subresources={"scale": _SCALE},
    short_names=("sts",),
    categories=("all",),
)
DEPLOYMENTS = Resource(
    group="apps",
    plural="deployments",
    kind="Deployment",
    status=True,
    generation=True,
    subresources={"scale": _SCALE},
    short_names=("deploy",),
    categories=("all",),
)
REPLICASETS = Resource(
    group="apps",
    plural="replicasets",
    kind="ReplicaSet",
    status=True,
    generation=True,
    subresources={"scale": _SCALE},
    short_names=("rs",),
    categories=("all",),
    fields=("status.replicas",),
)
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

RESOURCES: tuple[Resource, ...] = (
    NAMESPACES,
    NODES,
    PODS,
    EVENTS,
    CONFIGMAPS,
    SECRETS,
    SERVICEACCOUNTS,
    NEW_EVENTS,
    DAEMONSETS,
    STATEFULSETS,
    DEPLOYMENTS,
    REPLICASETS,
    LEASES,
    PODDISRUPTIONBUDGETS,
    PRIORITYCLASSES,
)

BY_ID: dict[str, Resource] = {resource.id: resource for resource in RESOURCES}


def subresources_of(resource: Resource) -> dict[str, Subresource]:
    """All of them, `status` too."""
    own = {"status": _STATUS} if resource.status else {}
    return {**own, **resource.subresources}


def find_resource(name: str) -> Resource:
    """By id (`daemonsets.apps`), or by plural alone; the first one listed wins.

    Raises:
        KeyError: there is none.
    """
    if name in BY_ID:
        return BY_ID[name]
    for resource in RESOURCES:
        if resource.plural == name:
            return resource
    raise KeyError(name)
