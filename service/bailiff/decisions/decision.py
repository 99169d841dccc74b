"""What an answer is made of, whichever system gives it and whichever face carries it."""

from __future__ import annotations

from enum import StrEnum

from bailiff.kinds import Condition, Int64, PodCondition, Taint, Time, Toleration
from bailiff.kinds.meta import Value


class Verdict(StrEnum):
    """Should the pod be evicted, and when? KEEP: no. EVICT_NOW: at once. EVICT_AT: later."""

    KEEP = "KEEP"
    EVICT_NOW = "EVICT_NOW"
    EVICT_AT = "EVICT_AT"


class ObjectReference(Value, frozen=True):
    """Which object an answer is about.

    Attributes:
        namespace: where it lives.
        name: its name.
        uid: tells it from a later object of the same name.
    """

    namespace: str = ""
    name: str = ""
    uid: str = ""


class DeviceTaintSource(Value, frozen=True):
    """Which device a taint is on, who put it there, and whom it reaches.

    Attributes:
        claim: the ResourceClaim that the device is allocated to.
        driver: of the device.
        pool: of the device.
        device: its name.
        resource_slice: the ResourceSlice that publishes the taint; absent if a rule puts it there.
        device_taint_rule: the DeviceTaintRule that puts it there; absent if a slice publishes it.
    """

    claim: ObjectReference
    driver: str = ""
    pool: str = ""
    device: str = ""
    resource_slice: ObjectReference | None = None
    device_taint_rule: ObjectReference | None = None


class TraceStep(Value, frozen=True):
    """One rule that was looked at.

    Attributes:
        rule: stable code of the rule.
        outcome: stable code of what it said.
        message: the same for people.
        taint: the taint looked at.
        taint_index: its place in `node.spec.taints`, or in the device's taints.
        toleration: the toleration used: of a pod the first that matches, of an allocated device
            the one that tolerates for ever, or else for the shortest time.
        toleration_index: its place in `pod.spec.tolerations`, or in the device's allocation.
        added_at: when the taint counts as added.
        added_from: where `added_at` comes from: timeAdded, firstObserved, managedFields (the last
            edit of the node's taints), or now where none is known.
        deadline: when this taint alone would evict the pod.
        device: the device that the taint is on; absent for a node's.
    """

    rule: str
    outcome: str
    message: str
    taint: Taint | None = None
    taint_index: int | None = None
    toleration: Toleration | None = None
    toleration_index: int | None = None
    added_at: Time | None = None
    added_from: str = ""
    deadline: Time | None = None
    device: DeviceTaintSource | None = None


class Finding(Value, frozen=True):
    """What one system says of a pod.

    Attributes:
        system: node-taints or device-taints.
        verdict: its answer.
        evict_at: for EVICT_AT the deadline; for EVICT_NOW the instant it fell due, where known.
        holds_until: the answer may differ from this instant on even if no object changes.
        reason: stable code.
        message: the same for people.
        trace: the rules looked at, in order; empty where the caller asked for none.
    """

    system: str
    verdict: Verdict
    reason: str
    message: str
    evict_at: Time | None = None
    holds_until: Time | None = None
    trace: tuple[TraceStep, ...] = ()


class EventNote(Value, frozen=True):
    """The Event to record with the eviction.

    Attributes:
        type: `Normal`, as upstream has it.
        reason: for programs; upstream's word.
        message: for people; names the taint, the toleration used and the time.
    """

    type: str
    reason: str
    message: str


class Decision(Value, frozen=True):
    """The answer for one pod: the earliest of all systems asked.

    Attributes:
        pod: whom it concerns.
        node: the node it was decided for.
        verdict: KEEP, EVICT_NOW or EVICT_AT.
        evict_at: for EVICT_AT the deadline; for EVICT_NOW the instant it fell due, where known.
        holds_until: the answer may differ from this instant on even if no object changes.
        decided_at: the `now` that was used.
        decided_by: the system whose answer this is; empty for KEEP.
        reason: stable code.
        message: the same for people.
        grace_period_seconds: to delete with; absent leaves the pod its own.
        condition: the pod condition to write before deleting.
        event: the Event to record.
        findings: each system's own answer.
    """

    pod: ObjectReference
    node: str
    verdict: Verdict
    decided_at: Time
    reason: str
    message: str
    evict_at: Time | None = None
    holds_until: Time | None = None
    decided_by: str = ""
    grace_period_seconds: Int64 | None = None
    condition: PodCondition | None = None
    event: EventNote | None = None
    findings: tuple[Finding, ...] = ()


class DecisionChange(Value, frozen=True):
    """How the answer for one pod changes when its node's taints do.

    Attributes:
        pod: whom it concerns.
        before: the answer with the node as it is.
        after: the answer with the taints changed.
    """

    pod: ObjectReference
    before: Decision
    after: Decision


class ChangeSummary(Value, frozen=True):
    """Where the pods go whose answer changes, counted by the answer after the change.

    Attributes:
        evict_now: pods that would then be evicted at once.
        evict_at: pods that would then be evicted at a later instant.
        keep: pods that would then stay.
    """

    evict_now: int
    evict_at: int
    keep: int


class ClaimDecision(Value, frozen=True):
    """What the taints of its devices mean for a claim: when the pods that use it are to go.

    Attributes:
        claim: whom it concerns.
        verdict: KEEP, EVICT_NOW or EVICT_AT, for the pods that use it.
        evict_at: when they are to go; for EVICT_NOW the instant it fell due.
        holds_until: the answer may differ from this instant on even if no object changes.
        reasons: each taint that is not tolerated for ever, as `DeviceTaintRule /NAME:UID` or
            `ResourceSlice /NAME:UID DRIVER/POOL/DEVICE taint #INDEX`.
        trace: the taints looked at, in order; empty where the caller asked for none.
    """

    claim: ObjectReference
    verdict: Verdict
    evict_at: Time | None = None
    holds_until: Time | None = None
    reasons: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()


class DeviceDecisions(Value, frozen=True):
    """The answers about devices.

    Attributes:
        decisions: one for each pod, in the order of the pods asked about.
        claims: one for each claim, in the order of the claims given.
    """

    decisions: tuple[Decision, ...]
    claims: tuple[ClaimDecision, ...]


class DeviceTaintRulePreview(Value, frozen=True):
    """What a DeviceTaintRule does or would do, looked at as if its effect were NoExecute.

    Attributes:
        rule: whom it concerns.
        published_devices: how many devices it selects of those that slices publish now.
        allocated_devices: how many allocated devices it selects; one that is allocated twice counts
            twice.
        namespaces: in how many namespaces it evicts pods.
        decisions: the pods that it evicts, now or later, by namespace and name; each with its
            answer under all rules, so that another taint may evict it sooner.
        condition: `EvictionInProgress` as the controller would write it for the rule as it is, with
            no pod evicted yet.
    """

    rule: ObjectReference
    published_devices: int
    allocated_devices: int
    namespaces: int
    decisions: tuple[Decision, ...]
    condition: Condition
