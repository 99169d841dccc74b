"""Which pods may be forced off a lost node only with proof that its machine is off, and why.

A pod that still runs on a machine that is merely cut off would run twice: a StatefulSet promises
that it does not, and a volume that one node may use is damaged by it. Source: KEP-2268 and
pkg/controller/podgc/gc_controller.go; for which pods are a DaemonSet's: GetPodDaemonSets in
k8s.io/client-go/listers/apps/v1/daemonset_expansion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.kinds import Node, Pod
    from bailiff.kinds.daemon_set import DaemonSet
    from bailiff.kinds.meta import OwnerReference
    from bailiff.kinds.volume_claim import PersistentVolumeClaim

# k8s.io/api/core/v1/well_known_taints.go, TaintNodeOutOfService.
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
# The value of the taint where a worker has put it there.
OWN_VALUE = "bailiff"


def is_out_of_service(node: Node) -> bool:
    """Whether somebody vouches by a taint, of whatever effect, that the machine is off.

    The taint of a worker vouches for nothing: it repeats what a fence said once, which may have
    said otherwise since.
    """
    return any(one.key == OUT_OF_SERVICE and one.value != OWN_VALUE for one in node.spec.taints)


def has_own_taint(node: Node) -> bool:
    """Whether a worker has put the taint out-of-service there."""
    return any((one.key, one.value) == (OUT_OF_SERVICE, OWN_VALUE) for one in node.spec.taints)


def controller_of(pod: Pod) -> OwnerReference | None:
    """The owner that manages the pod."""
    return next((one for one in pod.metadata.owner_references if one.controller), None)


def daemon_set_of(pod: Pod, daemon_sets: Iterable[DaemonSet]) -> str:
    """The name of the DaemonSet that the pod belongs to; empty: to none.

    Its controller tells. Where it has none, a DaemonSet of its namespace whose selector chooses it,
    as upstream; a selector that chooses everything is none, nor is a pod without labels chosen.
    """
    owner = controller_of(pod)
    if owner is not None:
        return owner.name if owner.kind == "DaemonSet" else ""
    meta = pod.metadata
    if not meta.labels:
        return ""
    for one in daemon_sets:
        selector = one.spec.selector
        if selector is None or one.metadata.namespace != meta.namespace:
            continue
        chooses = bool(selector.match_labels or selector.match_expressions)
        if chooses and selector.selects(meta.labels):
            return one.metadata.name
    return ""


def claim_names(pod: Pod) -> tuple[str, ...]:
    """The PersistentVolumeClaims of its namespace that the pod uses."""
    found = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            found.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            found.append(f"{pod.metadata.name}-{volume.name}")
    return tuple(found)


def claims_by_key(
    claims: Iterable[PersistentVolumeClaim],
) -> dict[tuple[str, str], PersistentVolumeClaim]:
    """By namespace and name."""
    return {(one.metadata.namespace, one.metadata.name): one for one in claims}


def why_proof(pod: Pod, claims: Mapping[tuple[str, str], PersistentVolumeClaim]) -> str:
    """Why the pod must not be forced off without proof; empty: nothing speaks against it."""
    owner = controller_of(pod)
    if owner is not None and owner.kind == "StatefulSet":
        return f"it belongs to StatefulSet {owner.name}, whose pods must not run twice"
    for name in claim_names(pod):
        claim = claims.get((pod.metadata.namespace, name))
        if claim is None or not claim.is_shared:
            return f"its volume claim {name} is for the pods of one node"
    return ""
