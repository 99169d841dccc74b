"""Eviction by device taints (KEP-5055, pkg/controller/devicetainteviction, with named repairs).

A pod uses devices by way of ResourceClaims. Drivers taint devices in ResourceSlices, administrators
with DeviceTaintRules; the tolerations stand in the claim's allocation. Ask a `DeviceTaintIndex`.
"""

from bailiff.decisions.device_taints.blame import blamed_slice
from bailiff.decisions.device_taints.claims import ClaimFinding, DeviceTaintSource, MetTaint
from bailiff.decisions.device_taints.facts import DeviceTaintFacts
from bailiff.decisions.device_taints.findings import (
    SYSTEM,
    TERMS,
    DeviceTaintSubject,
    PodEviction,
)
from bailiff.decisions.device_taints.index import Affected, DeviceTaintIndex
from bailiff.decisions.device_taints.pods import has_claims
from bailiff.decisions.device_taints.pools import DeviceId
from bailiff.decisions.device_taints.status import (
    EVICTION_IN_PROGRESS,
    STATUS_PERIOD,
    RuleEffect,
    RuleStatus,
    rule_status,
)
from bailiff.decisions.device_taints.system import DEVICE_TAINTS, DeviceTaintSystem
from bailiff.decisions.device_taints.tolerations import device_tolerates

__all__ = [
    "DEVICE_TAINTS",
    "EVICTION_IN_PROGRESS",
    "STATUS_PERIOD",
    "SYSTEM",
    "TERMS",
    "Affected",
    "ClaimFinding",
    "DeviceId",
    "DeviceTaintFacts",
    "DeviceTaintIndex",
    "DeviceTaintSource",
    "DeviceTaintSubject",
    "DeviceTaintSystem",
    "MetTaint",
    "PodEviction",
    "RuleEffect",
    "RuleStatus",
    "blamed_slice",
    "device_tolerates",
    "has_claims",
    "rule_status",
]
