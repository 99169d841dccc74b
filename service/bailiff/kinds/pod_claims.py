"""How a pod names its claims of devices (k8s.io/api/core/v1/types.go, KEP-4381)."""

from __future__ import annotations

from bailiff.kinds.meta import Value
from bailiff.kinds.texts import LabelName, ObjectName


class PodResourceClaim(Value, frozen=True):
    """One entry of `spec.resourceClaims`. Where both names are set, the claim's counts.

    Attributes:
        name: tells it from the pod's other entries.
        resource_claim_name: a ResourceClaim in the pod's namespace.
        resource_claim_template_name: a template, from which a claim is made for this pod.
    """

    name: LabelName = ""
    resource_claim_name: ObjectName | None = None
    resource_claim_template_name: ObjectName | None = None


class PodResourceClaimStatus(Value, frozen=True):
    """Which claim was made for an entry that names a template.

    Attributes:
        name: of the entry in `spec.resourceClaims`.
        resource_claim_name: the claim; absent if none was needed.
    """

    name: LabelName = ""
    resource_claim_name: ObjectName | None = None


class PodExtendedResourceClaimStatus(Value, frozen=True):
    """The claim behind extended resources that a driver of devices serves (KEP-5004).

    Attributes:
        resource_claim_name: the claim, in the pod's namespace.
    """

    resource_claim_name: ObjectName = ""


class PodSchedulingGroup(Value, frozen=True):
    """The group a pod is scheduled with (KEP-4671).

    Attributes:
        pod_group_name: a PodGroup in the pod's namespace.
    """

    pod_group_name: ObjectName | None = None
