"""What an answer is made of, whichever system gives it and whichever face carries it."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from msgspec.structs import replace

from bailiff.kinds import Int64, Pod, PodCondition, Time
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


class Subject(Value, frozen=True, tag_field="kind"):
    """What a rule looked at; each system has subjects of its own, told apart by `kind`."""


class TraceStep(Value, frozen=True):
    """One rule that was looked at.

    Attributes:
        rule: stable code of the rule.
        outcome: stable code of what it said.
        message: the same for people.
        subject: what it looked at, such as a taint; absent where it is the pod as a whole.
        deadline: when this alone would evict the pod.
    """

    rule: str
    outcome: str
    message: str
    subject: Subject | None = None
    deadline: Time | None = None


class Annotation(Value, frozen=True):
    """An annotation to write.

    Attributes:
        key: as `starved_resource`.
        value: any text.
    """

    key: str
    value: str = ""


class EvictionTerms(Value, frozen=True):
    """What is written with an eviction, and how it is done.

    Attributes:
        controller: upstream's controller for it, from which its Events come.
        event_reason: of the Event, upstream's word for programs.
        condition: the pod condition to write before the pod is deleted.
        phase: of the pod; empty leaves the pod its own. It is written as soon as the delete has
            been taken, and not before: kube-apiserver deletes a pod that has ended at once,
            whatever grace period is asked for.
        status_reason: of `status.reason`, to write with the phase; without one before the delete.
        status_message: of `status.message`, to write with that.
        grace_period_seconds: to delete with; absent leaves the pod its own.
        keeps_pod: the pod object stays, only its status is written, the phase included. Its
            kubelet gives it the pod's own grace period then.
        event_type: of the Event; empty: `Normal`, as upstream's controllers have it.
        event_message: of the Event; empty: that the pod is marked for deletion, and why. Here and
            in `status_message` the names of pod and node stand for `{pod}` and `{node}`, so that
            pods that go for the same share a finding.
        cancellation_reason: of the Event that the pod stays after all, told where the eviction was
            announced by an Event; empty: `event_reason`, told always, as upstream's controllers do.
        event_annotations: of the Event, for programs.
    """

    controller: str
    event_reason: str
    condition: PodCondition | None = None
    phase: str = ""
    status_reason: str = ""
    status_message: str = ""
    grace_period_seconds: Int64 | None = None
    keeps_pod: bool = False
    event_type: str = ""
    event_message: str = ""
    cancellation_reason: str = ""
    event_annotations: tuple[Annotation, ...] = ()

    def filled(self, pod: Pod, node: str) -> EvictionTerms:
        """The same for this pod on this node, whose names stand for `{pod}` and `{node}`."""
        if "{" not in self.event_message and "{" not in self.status_message:
            return self
        return replace(
            self,
            event_message=_named(self.event_message, pod, node),
            status_message=_named(self.status_message, pod, node),
        )


def _named(template: str, pod: Pod, node: str) -> str:
    return template.replace("{pod}", pod.metadata.name).replace("{node}", node)


class Finding(Value, frozen=True):
    """What one system says of a pod.

    Attributes:
        system: whose word this is, such as node-taints.
        verdict: its answer.
        reason: stable code.
        message: the same for people.
        evict_at: for EVICT_AT the deadline; for EVICT_NOW the instant it fell due, where known.
        holds_until: the answer may differ from this instant on even if no object changes.
        counted_from_now: `evict_at` counts from the instant of the question, since nothing tells
            when its cause came, or the pod is not bound yet: asked later, it is later by as much.
            Nothing is promised then, and `holds_until` is absent.
        cause: what evicts, in Kubernetes' words, such as the taint `key=value:NoExecute`; the same
            for all pods that go for the same.
        due_since: for EVICT_NOW, since when the pod is due, where known.
        grace_period_seconds: to delete this pod with, before what `eviction` says.
        event_annotations: of the Event of this eviction, for programs.
        trace: the rules looked at, in order; empty where the caller asked for none.
    """

    # What is written with every eviction of a class; None for pods that stay. A system that evicts
    # has a class of finding of its own that tells it. No field, so that an answer tells it once, in
    # the decision, and not once more in each finding. Whoever writes it reads `terms`.
    eviction: ClassVar[EvictionTerms | None] = None

    system: str
    verdict: Verdict
    reason: str
    message: str
    evict_at: Time | None = None
    holds_until: Time | None = None
    counted_from_now: bool = False
    cause: str = ""
    due_since: Time | None = None
    grace_period_seconds: Int64 | None = None
    event_annotations: tuple[Annotation, ...] = ()
    trace: tuple[TraceStep, ...] = ()

    @property
    def terms(self) -> EvictionTerms | None:
        """What is written with the eviction of this very pod; None where it stays.

        A class whose words differ by pod puts them together here, from its fields, over what this
        gives, which has the pod's grace period already.
        """
        if self.eviction is None or self.grace_period_seconds is None:
            return self.eviction
        return replace(self.eviction, grace_period_seconds=self.grace_period_seconds)


class EventNote(Value, frozen=True):
    """The Event to record with the eviction.

    Attributes:
        type: `Normal` or `Warning`.
        reason: for programs; upstream's word.
        message: for people; names the taint, the toleration used and the time.
        annotations: of the Event, for programs.
    """

    type: str
    reason: str
    message: str
    annotations: tuple[Annotation, ...] = ()


class Decision(Value, frozen=True):
    """The answer for one pod: the earliest of all systems asked.

    Attributes:
        pod: whom it concerns.
        node: the node it was decided for.
        verdict: KEEP, EVICT_NOW or EVICT_AT.
        evict_at: for EVICT_AT the deadline; for EVICT_NOW the instant it fell due, where known.
        holds_until: the answer may differ from this instant on even if no object changes.
        counted_from_now: as in the finding that decides: `evict_at` moves with the question.
        decided_at: the `now` that was used.
        decided_by: the system whose answer this is; empty for KEEP.
        reason: stable code.
        message: the same for people.
        eviction: what is written with the eviction; absent for KEEP.
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
    counted_from_now: bool = False
    decided_by: str = ""
    eviction: EvictionTerms | None = None
    event: EventNote | None = None
    findings: tuple[Finding, ...] = ()


def reference_to(pod: Pod) -> ObjectReference:
    """Which pod an answer is about."""
    meta = pod.metadata
    return ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid)


def keep(system: str, reason: str, message: str, trace: tuple[TraceStep, ...] = ()) -> Finding:
    """A system's word that the pod stays."""
    return Finding(system=system, verdict=Verdict.KEEP, reason=reason, message=message, trace=trace)


def keep_pod(system: str, reason: str, message: str) -> Finding:
    """The same where the pod itself is the reason, and the only thing that was looked at."""
    step = TraceStep(rule="Pod", outcome=reason, message=message)
    return keep(system, reason, message, (step,))


def keep_ended(system: str, pod: Pod) -> Finding:
    """That a pod stays, in a system's name, because it is finished or being deleted already."""
    if pod.is_terminating:
        return keep_pod(system, "PodTerminating", "the pod is being deleted already")
    return keep_pod(system, "PodFinished", f"the pod has ended: {pod.status.phase}")
