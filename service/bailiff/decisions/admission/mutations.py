"""What is changed of a pod on its way into the API server: which rules, and the patch."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.decisions.admission.patch import PatchOperation
from bailiff.decisions.admission.tolerations import (
    with_daemon_tolerations,
    with_default_seconds,
    with_extended_resources,
)
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.decisions.admission.pods import AdmittedPod
    from bailiff.decisions.admission.tolerations import Tolerations

_PATH = "/spec/tolerations"


class Mutation(StrEnum):
    """One rule by which pods are given tolerations; two are named as upstream's plugins."""

    DEFAULT_TOLERATION_SECONDS = "default-toleration-seconds"
    EXTENDED_RESOURCE_TOLERATION = "extended-resource-toleration"
    DAEMONSET_TOLERATIONS = "daemonset-tolerations"


class Mutations(Value, frozen=True):
    """Which rules there are.

    Attributes:
        chosen: those that are followed.
        not_ready_seconds: for which a pod tolerates a node that is not ready, where it does not
            say otherwise; kube-apiserver's own default.
        unreachable_seconds: likewise of a node that is unreachable.
    """

    chosen: frozenset[Mutation] = frozenset(Mutation)
    not_ready_seconds: int = 300
    unreachable_seconds: int = 300


def tolerations_of(pod: AdmittedPod, mutations: Mutations) -> Tolerations:
    """The tolerations that a pod is to have.

    Those of a DaemonSet's pods come first, as the DaemonSet controller gives them before the pod is
    created: they have no end, so that the seconds by default do not come to them. Then come those
    of kube-apiserver's plugins, in its order.
    """
    found, chosen = pod.spec.tolerations, mutations.chosen
    if Mutation.DAEMONSET_TOLERATIONS in chosen and pod.is_of_daemon_set:
        found = with_daemon_tolerations(found, host_network=pod.spec.host_network)
    if Mutation.DEFAULT_TOLERATION_SECONDS in chosen:
        found = with_default_seconds(
            found, mutations.not_ready_seconds, mutations.unreachable_seconds
        )
    if Mutation.EXTENDED_RESOURCE_TOLERATION in chosen:
        found = with_extended_resources(found, pod.spec)
    return found


def patch_of(pod: AdmittedPod, mutations: Mutations) -> tuple[PatchOperation, ...]:
    """The patch that gives a pod its tolerations; empty where it has them.

    Each toleration is touched for itself, and only where it changes: another may have fields that
    are not known here.
    """
    given, wanted = pod.spec.tolerations, tolerations_of(pod, mutations)
    if given == wanted:
        return ()
    if not pod.has_spec:
        return (PatchOperation(op="add", path="/spec", value={"tolerations": wanted}),)
    if not given:
        # In place of an empty list or of null, too (RFC 6902, 4.1).
        return (PatchOperation(op="add", path=_PATH, value=wanted),)
    changed = [
        PatchOperation(op="replace", path=f"{_PATH}/{place}", value=new)
        for place, (old, new) in enumerate(zip(given, wanted, strict=False))
        if old != new
    ]
    added = wanted[len(given) :]
    return (*changed, *(PatchOperation(op="add", path=f"{_PATH}/-", value=one) for one in added))
