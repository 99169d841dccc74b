"""Where our answer differs from upstream's on purpose.

An entry is a rule about inputs, never a list of cases, so that it holds for cases never seen. It
excuses only the fields it names: all others must still agree. Where inputs alone do not tell, a
system brings an explainer, which accounts for both answers and names the rules in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.device_taints import (
    explaining_by,
    model_device_rule_status,
    model_device_sequence,
    model_device_taint,
)
from tests.conformance.node_loss import (
    has_deletion_timestamp_alone,
    has_pod_of_daemon_set_by_one_rule_only,
)
from tests.conformance.pressure import (
    CONTAINERFS_ALIASING,
    LEAST_GRACE,
    explain_pressure_sequence,
    has_huge_count,
    has_huge_quantity,
    has_odd_percentage,
)
from tests.conformance.taint_sequences import Json, explain_taint_sequence
from tests.conformance.upstream_device_claims import Repair as DeviceRepair
from tests.conformance.upstream_timers import Repair

# Upstream computes time.Duration(seconds) * time.Second in int64 nanoseconds.
_LARGEST_SECONDS = (2**63 - 1) // 10**9


@dataclass(frozen=True)
class Difference:
    """A named repair.

    Attributes:
        name: as docs/differences-from-upstream.md has it.
        system: the file of cases it speaks of.
        reason: why ours is right.
        applies: whether these inputs meet it.
        fields: the fields of the answer that may differ where it applies.
    """

    name: str
    system: str
    reason: str
    applies: Callable[[Json], bool]
    fields: frozenset[str]


def _overflows(case: Json) -> bool:
    return any(
        (toleration.get("tolerationSeconds") or 0) > _LARGEST_SECONDS
        for toleration in case["tolerations"] or ()
    )


# What follows from which pods are deleted: a delete that fails is the last that is tried, and no
# pod after it is marked.
_OF_DELETES = frozenset(
    {"remaining", "deleted", "deleteAttempts", "events", "statusUpdates", "error"}
)

DIFFERENCES = (
    Difference(
        name="toleration-seconds-overflow",
        system="node_taint",
        reason="more than 9223372036 s overflow upstream's int64 nanoseconds and become 'now' or "
        "'never'; ours is a very far deadline",
        applies=_overflows,
        fields=frozenset({"minTolerationSeconds", "action"}),
    ),
    Difference(
        name="pressure-percentage-syntax",
        system="threshold_parse",
        reason="what is no number, infinite, or has two percent signs or underscores, nobody can "
        "have meant: it is told as an error",
        applies=has_odd_percentage,
        fields=frozenset({"error", "thresholds"}),
    ),
    Difference(
        name="pressure-huge-count",
        system="observations",
        reason="what is beyond an int64 is negative upstream, and evicts; ours refuses the summary",
        applies=has_huge_count,
        fields=frozenset({"refused"}),
    ),
    Difference(
        name="pressure-quantity-overflow",
        system="threshold_parse",
        reason="a quantity beyond an int64 is negative upstream; ours is exact",
        applies=has_huge_quantity,
        fields=frozenset({"thresholds"}),
    ),
    Difference(
        name="daemon-set-by-owner",
        system="delete_pods",
        reason="a pod belongs to who manages it; a selector may choose pods of others",
        applies=has_pod_of_daemon_set_by_one_rule_only,
        fields=_OF_DELETES,
    ),
    Difference(
        name="deletion-timestamp-alone",
        system="delete_pods",
        reason="a pod with a deletionTimestamp is being deleted, whether it tells its grace period "
        "or not; no API server serves one without",
        applies=has_deletion_timestamp_alone,
        fields=_OF_DELETES,
    ),
)


# By system: from the case's input, our answer and upstream's to names; none if not accounted for.
EXPLAINERS: dict[str, Callable[[Json, Json, Json], list[str]]] = {
    "taint_sequence": explain_taint_sequence,
    "device_taint": explaining_by(model_device_taint),
    "device_rule_status": explaining_by(model_device_rule_status),
    "device_sequence": explaining_by(model_device_sequence),
    "pressure_sequence": explain_pressure_sequence,
}

# The quirks that the cases of a system meet.
MET: dict[str, set[Repair] | set[DeviceRepair]] = {
    "taint_sequence": set(Repair),
    "device_taint": {DeviceRepair.OVERFLOW, DeviceRepair.ENDED, DeviceRepair.EXTENDED},
    "device_rule_status": {DeviceRepair.ENDED},
    "device_sequence": set(DeviceRepair) - {DeviceRepair.EXTENDED},
}

# Every name that a system's differences may be given.
NAMES = (
    {(difference.system, difference.name) for difference in DIFFERENCES}
    | {(system, repair.value) for system, repairs in MET.items() for repair in repairs}
    | {("pressure_sequence", name) for name in (LEAST_GRACE, CONTAINERFS_ALIASING)}
)


def explaining(system: str, case: Json, answer: Json, expect: Json) -> list[str]:
    """The names of the rules that explain why the answers differ; none if nothing does."""
    if system in EXPLAINERS:
        return EXPLAINERS[system](case, answer, expect)
    differing = {name for name in answer if answer[name] != expect[name]}
    for difference in DIFFERENCES:
        covers = difference.system == system and differing <= difference.fields
        if covers and difference.applies(case):
            return [difference.name]
    return []
