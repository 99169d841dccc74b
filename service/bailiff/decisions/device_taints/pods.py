"""Which claims a pod uses (staging/src/k8s.io/dynamic-resource-allocation/resourceclaim)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bailiff.decisions.options import Options
    from bailiff.kinds import Pod, PodResourceClaim, ResourceClaim, ResourceClaimConsumerReference

# Namespace and name.
ClaimKey = tuple[str, str]

_SCHEDULING_GROUP = "scheduling.k8s.io"


class NamedClaim(NamedTuple):
    """A claim that a pod names.

    Attributes:
        name: in the pod's namespace; empty where there is none, as `outcome` tells.
        generated: it was made from a template, so the pod must be its owner.
        outcome: stable code; empty where the claim is named.
    """

    name: str
    generated: bool = False
    outcome: str = ""


class ClaimUse(NamedTuple):
    """What became of a claim that a pod names.

    Attributes:
        name: the claim, or what the pod calls it where it has none.
        outcome: stable code; `Used` if its taints reach the pod.
        message: the same for people.
    """

    name: str
    outcome: str
    message: str


USED = "Used"
_MESSAGES = {
    USED: "the pod uses it",
    "NoClaimNeeded": "the template needs no claim",
    "ClaimNotCreated": "no claim has been made from the template yet",
    "ClaimUnnamed": "names neither a claim nor a template",
    "ClaimNotFound": "there is no such claim",
    "ClaimNotAllocated": "it is not allocated",
    "ClaimNotOwned": "it was made for another owner",
    "ClaimNotReserved": "it is not reserved for the pod",
}


def has_claims(pod: Pod) -> bool:
    """Whether a pod names any claim at all."""
    return bool(pod.spec.resource_claims) or (pod.status.extended_resource_claim_status is not None)


def named_claims(pod: Pod, *, extended: bool) -> Iterator[NamedClaim]:
    """The claims that a pod names, in its order; those of extended resources last."""
    for entry in pod.spec.resource_claims:
        yield _named(pod, entry)
    status = pod.status.extended_resource_claim_status
    if extended and status is not None and status.resource_claim_name:
        # The kubelet takes it by its name alone, too (pkg/kubelet/cm/dra/manager.go).
        yield NamedClaim(status.resource_claim_name)


def claims_used(
    pod: Pod, claims: Mapping[ClaimKey, ResourceClaim], options: Options
) -> Iterator[ClaimUse]:
    """What became of each claim that a pod names."""
    for named in named_claims(pod, extended=options.extended_resource_claims):
        outcome = named.outcome or _use(pod, named, claims, options)
        yield ClaimUse(named.name, outcome, f"claim {named.name}: {_MESSAGES[outcome]}")


def _named(pod: Pod, entry: PodResourceClaim) -> NamedClaim:
    if entry.resource_claim_name is not None:
        return NamedClaim(entry.resource_claim_name)
    if entry.resource_claim_template_name is None:
        return NamedClaim(entry.name, outcome="ClaimUnnamed")
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            if status.resource_claim_name is None:
                return NamedClaim(entry.name, outcome="NoClaimNeeded")
            return NamedClaim(status.resource_claim_name, generated=True)
    return NamedClaim(entry.name, outcome="ClaimNotCreated")


def _use(
    pod: Pod, named: NamedClaim, claims: Mapping[ClaimKey, ResourceClaim], options: Options
) -> str:
    claim = claims.get((pod.metadata.namespace, named.name))
    if claim is None:
        return "ClaimNotFound"
    if claim.status.allocation is None:
        return "ClaimNotAllocated"
    group = _pod_group(pod) if options.pod_group_claims else None
    if named.generated and not _made_for(pod, group, claim):
        return "ClaimNotOwned"
    if not any(_reserves(one, pod, group) for one in claim.status.reserved_for):
        return "ClaimNotReserved"
    return USED


def _pod_group(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return None if group is None else group.pod_group_name


def _made_for(pod: Pod, group: str | None, claim: ResourceClaim) -> bool:
    """The owner that controls the claim is the pod, or its PodGroup, known by name only."""
    owner = next((one for one in claim.metadata.owner_references if one.controller), None)
    if owner is None:
        return False
    if owner.uid == pod.metadata.uid:
        return True
    return (
        group is not None
        and (owner.kind, owner.name) == ("PodGroup", group)
        and owner.api_version.startswith(f"{_SCHEDULING_GROUP}/")
    )


def _reserves(consumer: ResourceClaimConsumerReference, pod: Pod, group: str | None) -> bool:
    if consumer.uid == pod.metadata.uid:
        return True
    wanted = (_SCHEDULING_GROUP, "podgroups", group)
    return group is not None and (consumer.api_group, consumer.resource, consumer.name) == wanted
