"""Kubernetes objects as slim frozen values: only the fields that a rule reads.

Every value decodes straight from the JSON that the Kubernetes API writes (`decode`), and the
same types are filled from protobuf by the gRPC face, so that a rule sees one type whatever way
the facts came in. Unknown fields are skipped; a JSON null is what it is to the API server: an
absent field, an empty text in a list or a map.
"""

from bailiff.kinds.budget import (
    LabelSelector,
    LabelSelectorRequirement,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from bailiff.kinds.config_map import ConfigMap
from bailiff.kinds.decode_errors import MAX_DEPTH, DecodeError, DepthError
from bailiff.kinds.decoding import (
    check_size,
    decode,
    decode_served,
    decode_yaml_value,
    is_larger,
)
from bailiff.kinds.depths import without_depths
from bailiff.kinds.device import (
    AllocationResult,
    Condition,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintRuleStatus,
    DeviceTaintSelector,
    DeviceToleration,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from bailiff.kinds.eviction import DeleteOptions, Eviction
from bailiff.kinds.managed_fields import (
    FieldsV1,
    ManagedFieldsEntry,
    OwnedField,
    OwnedSpec,
)
from bailiff.kinds.meta import (
    INT64_MAX,
    INT64_MIN,
    LABELS_NOT_KEPT,
    Annotations,
    Int64,
    ObjectMeta,
    OwnerReference,
    Time,
)
from bailiff.kinds.namespace import Namespace
from bailiff.kinds.node import LABEL_ZONE, Node, NodeMeta, NodeSpec, as_served
from bailiff.kinds.node_status import (
    DaemonEndpoint,
    NodeAddress,
    NodeCondition,
    NodeDaemonEndpoints,
    NodeStatus,
    NodeSystemInfo,
)
from bailiff.kinds.pod import Pod, PodCondition, PodSpec, PodStatus
from bailiff.kinds.pod_claims import (
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
)
from bailiff.kinds.pod_group import PodGroup, PodGroupSpec
from bailiff.kinds.taint import NO_EXECUTE, NewTaint, Taint, Toleration
from bailiff.kinds.times import parse_time

__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "LABELS_NOT_KEPT",
    "LABEL_ZONE",
    "MAX_DEPTH",
    "NO_EXECUTE",
    "AllocationResult",
    "Annotations",
    "Condition",
    "ConfigMap",
    "DaemonEndpoint",
    "DecodeError",
    "DeleteOptions",
    "DepthError",
    "Device",
    "DeviceAllocationResult",
    "DeviceRequestAllocationResult",
    "DeviceTaint",
    "DeviceTaintRule",
    "DeviceTaintRuleSpec",
    "DeviceTaintRuleStatus",
    "DeviceTaintSelector",
    "DeviceToleration",
    "Eviction",
    "FieldsV1",
    "Int64",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ManagedFieldsEntry",
    "Namespace",
    "NewTaint",
    "Node",
    "NodeAddress",
    "NodeCondition",
    "NodeDaemonEndpoints",
    "NodeMeta",
    "NodeSpec",
    "NodeStatus",
    "NodeSystemInfo",
    "ObjectMeta",
    "OwnedField",
    "OwnedSpec",
    "OwnerReference",
    "Pod",
    "PodCondition",
    "PodDisruptionBudget",
    "PodDisruptionBudgetSpec",
    "PodDisruptionBudgetStatus",
    "PodExtendedResourceClaimStatus",
    "PodGroup",
    "PodGroupSpec",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGroup",
    "PodSpec",
    "PodStatus",
    "ResourceClaim",
    "ResourceClaimConsumerReference",
    "ResourceClaimStatus",
    "ResourcePool",
    "ResourceSlice",
    "ResourceSliceSpec",
    "Taint",
    "Time",
    "Toleration",
    "as_served",
    "check_size",
    "decode",
    "decode_served",
    "decode_yaml_value",
    "is_larger",
    "parse_time",
    "without_depths",
]
