"""The stable codes that the systems speak, for the document.

They are shown as examples: a new system, or a new rule, brings new codes, and generated clients
must be able to read those.
"""

from __future__ import annotations

REASONS = (
    *("NoTaint", "ToleratedForever", "ToleratedUntil", "TolerationExpired", "TaintNotTolerated"),
    *("TaintStartsLater", "TaintStartUnknown", "NoDeviceClaims", "DevicesNotRead"),
    *("DevicesNotServed", "DeviceTaintEvictionOff", "PodFinished", "PodTerminating"),
    *("PodOnOtherNode", "PodNotBound", "NodeGone", "NothingSaid"),
    *("NodePressure", "StorageLimitExceeded", "CriticalPod", "RanksLater", "WithinLimits"),
    *("NoPressure", "PressureRelieved", "GracePeriodNotOver", "StatsNotNew", "ReclaimFirst"),
    *("NobodyToEvict", "StatsUnknown", "DryRun", "CoolsDown", "ReleaseUnderWay", "EndsAlready"),
    *("NodeLost", "NodeOff", "MirrorPod", "DaemonSetPod", "Stuck", "NodeReady", "LeaseRenewed"),
    *("Contradiction", "LeftToTaints", "AllZonesDown", "ZoneDown", "ZoneStopped"),
    *("WaitsForItsTurn", "LeaseNotRead"),
)
# Of how long a pod could stay on a node.
OF_RESIDENCIES = (*REASONS, "NotAdmitted", "UnderMaintenance", "MaintenanceAhead")
RULES = (
    "Pod",
    "NoExecuteTaint",
    "BuiltInTaint",
    "ResourceClaim",
    "NoExecuteDeviceTaint",
    "Threshold",
    "Rank",
    "NodeState",
    "Node",
)
# An outcome may also be the reason that it led to.
OUTCOMES = (
    *(
        "NoTaint",
        "NotTolerated",
        "EvictsNobody",
        "ToleratedForever",
        "ToleratedForSeconds",
        "ToleratedForNoTime",
    ),
    *("Used", "ClaimUnnamed", "NoClaimNeeded", "ClaimNotCreated", "ClaimNotFound"),
    *("ClaimNotAllocated", "ClaimNotOwned", "ClaimNotReserved", "Met", "Stale"),
    *("NoStats", "ExceedsRequest", "Priority", "Order", "Usage", "Tie", "Last"),
    *("Ready", "NotReady", "Unknown", "Silent", "LeaseRenewed"),
)
# By type and field of an answer.
CODES = {
    ("Decision", "reason"): REASONS,
    ("Finding", "reason"): REASONS,
    ("Residency", "reason"): OF_RESIDENCIES,
    ("TraceStep", "rule"): RULES,
    ("TraceStep", "outcome"): OUTCOMES,
}
