"""Pods, nodes, namespaces, workloads and what goes with them."""

from __future__ import annotations

from bailiff.embedded.resources.resource import Resource, Subresource

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
