"""The bytes of Kubernetes' own messages are ours: same numbers, same types."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.v1 import kubernetes_pb2, resource_pb2

# Written down from k8s.io/api v0.36.2, core/v1 and resource/v1 (v1beta2 of rules) generated.proto,
# and k8s.io/apimachinery v0.36.2, pkg/apis/meta/v1/generated.proto. Kubernetes writes names in
# camelCase; ours follow protobuf's style, and their JSON names are Kubernetes'. metav1.Time is
# Timestamp's twin.
KUBERNETES = {
    "ObjectMeta": """
        1 string name; 3 string namespace; 5 string uid; 6 string resourceVersion;
        7 int64 generation; 8 Time creationTimestamp; 9 Time deletionTimestamp;
        10 int64 deletionGracePeriodSeconds;
        11 map labels; 12 map annotations; 13 repeated OwnerReference ownerReferences;
        17 repeated ManagedFieldsEntry managedFields
    """,
    "ManagedFieldsEntry": "4 Time time; 7 FieldsV1 fieldsV1",
    "FieldsV1": "1 bytes raw",
    "OwnerReference": """
        1 string kind; 3 string name; 4 string uid; 5 string apiVersion; 6 bool controller
    """,
    "Pod": "1 ObjectMeta metadata; 2 PodSpec spec; 3 PodStatus status",
    "PodSpec": """
        1 repeated Volume volumes; 2 repeated Container containers;
        4 int64 terminationGracePeriodSeconds; 10 string nodeName;
        20 repeated Container initContainers; 22 repeated Toleration tolerations;
        24 string priorityClassName; 25 int32 priority; 32 map overhead;
        39 repeated PodResourceClaim resourceClaims; 40 ResourceRequirements resources;
        43 PodSchedulingGroup schedulingGroup
    """,
    "Container": "1 string name; 8 ResourceRequirements resources; 24 string restartPolicy",
    "ContainerStatus": """
        1 string name; 10 map allocatedResources; 11 ResourceRequirements resources
    """,
    "ResourceRequirements": "1 map limits; 2 map requests",
    "Quantity": "1 string string",
    "Volume": "1 string name; 2 VolumeSource volumeSource",
    "VolumeSource": """
        1 HostPathVolumeSource hostPath; 2 EmptyDirVolumeSource emptyDir;
        5 GitRepoVolumeSource gitRepo;
        10 PersistentVolumeClaimVolumeSource persistentVolumeClaim;
        19 ConfigMapVolumeSource configMap; 29 EphemeralVolumeSource ephemeral
    """,
    "EmptyDirVolumeSource": "1 string medium; 2 Quantity sizeLimit",
    "HostPathVolumeSource": "",
    "GitRepoVolumeSource": "",
    "ConfigMapVolumeSource": "",
    "PersistentVolumeClaimVolumeSource": "1 string claimName",
    "EphemeralVolumeSource": "",
    "PersistentVolumeClaim": "1 ObjectMeta metadata; 2 PersistentVolumeClaimSpec spec",
    "PersistentVolumeClaimSpec": "1 repeated string accessModes",
    # coordination/v1; metav1.MicroTime is Timestamp's twin, too.
    "Lease": "1 ObjectMeta metadata; 2 LeaseSpec spec",
    "LeaseSpec": "1 string holderIdentity; 2 int32 leaseDurationSeconds; 4 Time renewTime",
    # apps/v1, and meta/v1.
    "DaemonSet": "1 ObjectMeta metadata; 2 DaemonSetSpec spec",
    "DaemonSetSpec": "1 LabelSelector selector",
    "LabelSelector": """
        1 map matchLabels; 2 repeated LabelSelectorRequirement matchExpressions
    """,
    "LabelSelectorRequirement": "1 string key; 2 string operator; 3 repeated string values",
    "PodResourceClaim": """
        1 string name; 3 string resourceClaimName; 4 string resourceClaimTemplateName
    """,
    "PodSchedulingGroup": "1 string podGroupName",
    "PodStatus": """
        1 string phase; 2 repeated PodCondition conditions;
        4 string reason;
        8 repeated ContainerStatus containerStatuses; 9 string qosClass;
        10 repeated ContainerStatus initContainerStatuses;
        15 repeated PodResourceClaimStatus resourceClaimStatuses;
        18 PodExtendedResourceClaimStatus extendedResourceClaimStatus
    """,
    "PodResourceClaimStatus": "1 string name; 2 string resourceClaimName",
    "PodExtendedResourceClaimStatus": "2 string resourceClaimName",
    "PodCondition": """
        1 string type; 2 string status; 4 Time lastTransitionTime; 5 string reason;
        6 string message; 7 int64 observedGeneration
    """,
    "Toleration": """
        1 string key; 2 string operator; 3 string value; 4 string effect;
        5 int64 tolerationSeconds
    """,
    "Node": "1 ObjectMeta metadata; 2 NodeSpec spec; 3 NodeStatus status",
    "NodeSpec": "4 bool unschedulable; 5 repeated Taint taints",
    "Taint": "1 string key; 2 string value; 3 string effect; 4 Time timeAdded",
    "Condition": """
        1 string type; 2 string status; 3 int64 observedGeneration; 4 Time lastTransitionTime;
        5 string reason; 6 string message
    """,
    "ResourceSlice": "1 ObjectMeta metadata; 2 ResourceSliceSpec spec",
    "ResourceSliceSpec": """
        1 string driver; 2 ResourcePool pool; 3 string nodeName; 6 repeated Device devices
    """,
    "ResourcePool": "1 string name; 2 int64 generation",
    "Device": "1 string name; 8 repeated DeviceTaint taints",
    "DeviceTaint": "1 string key; 2 string value; 3 string effect; 4 Time timeAdded",
    "ResourceClaim": "1 ObjectMeta metadata; 3 ResourceClaimStatus status",
    "ResourceClaimStatus": """
        1 AllocationResult allocation; 2 repeated ResourceClaimConsumerReference reservedFor
    """,
    "AllocationResult": "1 DeviceAllocationResult devices",
    "DeviceAllocationResult": "1 repeated DeviceRequestAllocationResult results",
    "DeviceRequestAllocationResult": """
        2 string driver; 3 string pool; 4 string device; 6 repeated DeviceToleration tolerations
    """,
    "DeviceToleration": """
        1 string key; 2 string operator; 3 string value; 4 string effect;
        5 int64 tolerationSeconds
    """,
    "ResourceClaimConsumerReference": """
        1 string apiGroup; 3 string resource; 4 string name; 5 string uid
    """,
    "DeviceTaintRule": """
        1 ObjectMeta metadata; 2 DeviceTaintRuleSpec spec; 3 DeviceTaintRuleStatus status
    """,
    "DeviceTaintRuleSpec": "1 DeviceTaintSelector deviceSelector; 2 DeviceTaint taint",
    "DeviceTaintSelector": "2 string driver; 3 string pool; 4 string device",
    "DeviceTaintRuleStatus": "1 repeated Condition conditions",
    "NodeStatus": """
        4 repeated NodeCondition conditions; 5 repeated NodeAddress addresses;
        6 NodeDaemonEndpoints daemonEndpoints; 7 NodeSystemInfo nodeInfo
    """,
    "NodeAddress": "1 string type; 2 string address",
    "NodeCondition": """
        1 string type; 2 string status; 3 Time lastHeartbeatTime; 4 Time lastTransitionTime;
        5 string reason; 6 string message
    """,
    "NodeDaemonEndpoints": "1 DaemonEndpoint kubeletEndpoint",
    "DaemonEndpoint": "1 int32 Port",
    "NodeSystemInfo": "7 string kubeletVersion; 9 string operatingSystem",
    "Time": "1 int64 seconds; 2 int32 nanos",
}
MESSAGES = {
    **kubernetes_pb2.DESCRIPTOR.message_types_by_name,
    **resource_pb2.DESCRIPTOR.message_types_by_name,
    "Time": Timestamp.DESCRIPTOR,
}
SCALARS = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_BYTES: "bytes",
}


def describe(field: FieldDescriptor) -> str:
    message = field.message_type
    if message and message.GetOptions().map_entry:
        return f"{field.number} map {field.json_name}"
    kind = message.name.replace("Timestamp", "Time") if message else SCALARS[field.type]
    repeated = "repeated " if field.is_repeated else ""
    return f"{field.number} {repeated}{kind} {field.json_name}"


@pytest.mark.parametrize("name", KUBERNETES)
def test_every_field_has_the_number_and_type_that_kubernetes_gives_it(name: str) -> None:
    expected = [one for one in " ".join(KUBERNETES[name].split()).split("; ") if one]
    assert [describe(field) for field in MESSAGES[name].fields] == expected


def test_no_message_is_missing_from_the_table() -> None:
    assert set(MESSAGES) == set(KUBERNETES)
