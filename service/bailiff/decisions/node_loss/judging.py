"""A lost node judged: what holds for it, and what that means for each of its pods."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.criticality import is_mirror, is_static
from bailiff.decisions.decision import TraceStep, reference_to
from bailiff.decisions.instants import in_utc, later_by
from bailiff.decisions.node_loss import findings
from bailiff.decisions.node_loss.facts import ZoneCount
from bailiff.decisions.node_loss.findings import (
    CAUSE,
    DOUBTED,
    LEFT_TO_TAINTS,
    STUCK,
    LostNodeSubject,
)
from bailiff.decisions.node_loss.needs import claims_by_key, daemon_set_of, why_proof
from bailiff.decisions.node_loss.proof import RELEASE, contradiction_in, proof_of
from bailiff.decisions.node_loss.report import NodeLossReport, StuckPod
from bailiff.decisions.node_loss.settings import DEFAULTS
from bailiff.decisions.node_loss.standing import NodeState, lives, standing_of
from bailiff.decisions.node_loss.taints import following_taints
from bailiff.decisions.node_loss.words import deleting_all
from bailiff.decisions.node_loss.zones import ALL_DOWN, pace_of, zone_of, zone_state
from bailiff.decisions.system import Round
from bailiff.decisions.text import describe_time
from bailiff.kinds.taint import FAILING_NODE, NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from bailiff.decisions.decision import Finding, ObjectReference
    from bailiff.decisions.node_loss.facts import NodeLossFacts
    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.decisions.node_loss.standing import Standing
    from bailiff.decisions.node_loss.zones import ZonePace
    from bailiff.decisions.options import Options
    from bailiff.kinds import Node, Pod


_ENDING = "the pod is being deleted already"
# Where nobody says that pods are not ready, since the node may live, or others say so.
_NOT_MARKED = frozenset({DOUBTED, LEFT_TO_TAINTS, ALL_DOWN})
_STATES = {
    NodeState.NOT_READY: "not ready",
    NodeState.UNKNOWN: "not heard of",
    NodeState.SILENT: "silent",
}


class Stays(NamedTuple):
    """Why all pods of a node stay.

    Attributes:
        reason: in one word.
        message: the same for people.
        until: when that may change though no object does.
    """

    reason: str
    message: str
    until: datetime | None = None


class NodeLossRound(Round):
    """What is said of the pods of one node.

    It speaks of pods that are being deleted, too: on a lost node nobody ends them.
    """

    hastens: ClassVar[bool] = True
    tells_of_ending: ClassVar[bool] = True
    report: NodeLossReport

    def __init__(
        self, node: Node, pods: Iterable[Pod], facts: NodeLossFacts, now: datetime, options: Options
    ) -> None:
        """Judge the node.

        Args:
            node: as the API server has it.
            pods: all that are known; those of other nodes are passed over.
            facts: what else is known.
            now: in UTC.
            options: of the question.
        """
        self._facts, self._now = facts, now
        self._marks_ended = options.evict_ended_pods
        self._settings: NodeLossSettings = facts.settings or DEFAULTS
        self._claims = claims_by_key(facts.claims)
        self._standing: Standing = standing_of(node, facts, now)
        self._pace: ZonePace = pace_of(zone_of(node), facts.zones, self._settings)
        self._proof = proof_of(node, facts)
        self._words = _words_of(node.metadata.name, self._standing, now)
        self._held = self._why_all_stay(node)
        self._trace = self._steps() if options.explain else ()
        self._said: dict[str, Finding] = {}
        self.report = self._reported(node, tuple(pods))

    def of(self, pod: Pod) -> Finding:
        """See Round."""
        stays = self._why_it_stays(pod)
        if stays is not None:
            return self._keeps(stays)
        if pod.is_terminating:
            return self._of_ending(pod)
        if self._held is not None:
            return self._keeps(self._held)
        standing = self._standing_for(pod)
        if _is_over(standing, self._now) and self._may_force:
            return self._once("NodeOff", self._forced)
        return self._once(f"goes {standing.deadline}", lambda: self._goes(standing))

    def _standing_for(self, pod: Pod) -> Standing:
        """The node's; a pod that came after it was lost has its time from when it came.

        Where nothing keeps new pods from the node, each would be evicted as soon as it came, and
        replaced there without end.
        """
        standing, bound = self._standing, pod.bound_at
        if standing.lost_since is None or bound is None or in_utc(bound) <= standing.lost_since:
            return standing
        deadline = later_by(bound, timedelta(0, self._settings.after))
        until = deadline if deadline > self._now else None
        return replace(standing, deadline=deadline, holds_until=until)

    @property
    def _may_force(self) -> bool:
        return bool(self._proof) and self._settings.forces

    def _why_it_stays(self, pod: Pod) -> Stays | None:
        """Whatever becomes of the node."""
        if is_mirror(pod) or is_static(pod):
            return Stays("MirrorPod", "it only shows what its kubelet runs by itself")
        of = daemon_set_of(pod, self._facts.daemon_sets)
        if of:
            return Stays("DaemonSetPod", f"DaemonSet {of} would put it on the node again")
        return None

    def _why_all_stay(self, node: Node) -> Stays | None:
        """The rules that hold for the whole node, in their order."""
        standing = self._standing
        if standing.state is NodeState.READY:
            return Stays("NodeReady", "the node is ready", standing.holds_until)
        if standing.state is NodeState.LEASE_RENEWED:
            why = "the node's Ready condition is Unknown, but its kubelet renews its Lease"
            return Stays("LeaseRenewed", why, standing.holds_until)
        against = contradiction_in(node, self._facts, lives=lives(self._facts, self._now))
        if against:
            return Stays(DOUBTED, against)
        left_to = evicting_taint(node)
        if left_to and not self._settings.beside_taints:
            return Stays(LEFT_TO_TAINTS, f"the taint {left_to}:NoExecute evicts from the node")
        return self._why_not_yet()

    def _why_not_yet(self) -> Stays | None:
        pace = self._pace
        if pace.reason:
            return Stays(pace.reason, pace.message)
        if self._facts.released is False:
            why = f"its zone gives up {pace.rate:g} nodes a second, and its turn has not come"
            return Stays("WaitsForItsTurn", f"{self._words}; {why}")
        return None

    def _of_ending(self, pod: Pod) -> Finding:
        """Of a pod that is being deleted: on a lost node nobody ends it."""
        doubted = self._held is not None and self._held.reason == DOUBTED
        if doubted or not self._standing.state.is_lost:
            return self._keeps(Stays("PodTerminating", _ENDING))
        if self._may_force:
            return self._once("NodeOff", self._forced)
        ends, needs = pod.metadata.deletion_timestamp, why_proof(pod, self._claims)
        if needs and ends is not None and ends <= self._now:
            return findings.stays(STUCK, f"{needs}; it {RELEASE}", self._trace)
        until = ends if needs else None
        return self._keeps(Stays("PodTerminating", _ENDING, until))

    def _goes(self, standing: Standing) -> Finding:
        words, deadline = self._words, standing.deadline
        if standing is not self._standing and deadline is not None and deadline > self._now:
            words += f"; the pod came later, and has until {describe_time(deadline)}"
        return findings.goes(self._settings.reason, standing, words, self._now, self._trace)

    def _forced(self) -> Finding:
        why = f"{self._words}; {self._proof}"
        return findings.forced(self._settings.reason, self._standing, why, self._now, self._trace)

    def _keeps(self, stays: Stays) -> Finding:
        return self._once(
            f"{stays}",
            lambda: findings.stays(stays.reason, stays.message, self._trace, stays.until),
        )

    def _once(self, key: str, say: Callable[[], Finding]) -> Finding:
        """Pods of which the same is said share the finding, which is put into words once."""
        if key not in self._said:
            self._said[key] = say()
        return self._said[key]

    def _steps(self) -> tuple[TraceStep, ...]:
        """The rules that were looked at for the node, which all its pods share."""
        standing, held = self._standing, self._held
        of_node = TraceStep(
            rule="NodeState",
            outcome=standing.state.value,
            message=self._words,
            subject=LostNodeSubject(standing=standing),
            deadline=standing.deadline,
        )
        if held is None:
            return (of_node,)
        return (of_node, TraceStep(rule="Node", outcome=held.reason, message=held.message))

    def _reported(self, node: Node, pods: tuple[Pod, ...]) -> NodeLossReport:
        zone = zone_of(node)
        count = next((one for one in self._facts.zones if one.name == zone), ZoneCount())
        lost = self._standing.state.is_lost
        acts = lost and self._held is None and _is_over(self._standing, self._now)
        held = self._held
        here = [
            pod
            for pod in pods
            if pod.spec.node_name == node.metadata.name
            and (self._marks_ended or not pod.is_finished)
        ]
        return NodeLossReport(
            standing=self._standing,
            zone=zone,
            zone_state=zone_state(count, self._settings),
            rate=self._pace.rate,
            taints=following_taints(node),
            proof=self._proof,
            acts=acts,
            events=(deleting_all(node.metadata.name),) if acts and pods else (),
            to_mark=_names(here, self._lacks_reason) if acts else (),
            to_mark_not_ready=_names(here, _may_say_ready) if self._is_doubtful else (),
            stuck=tuple(self._stuck(here)),
            reason=CAUSE if held is None else held.reason,
            message=self._words if held is None else held.message,
        )

    @property
    def _is_doubtful(self) -> bool:
        """Nobody knows whether its pods are ready."""
        against = self._held is not None and self._held.reason in _NOT_MARKED
        return self._standing.state.is_lost and not against

    def _lacks_reason(self, pod: Pod) -> bool:
        over = _is_over(self._standing_for(pod), self._now)
        return over and pod.status.reason != self._settings.reason.value

    def _stuck(self, pods: Iterable[Pod]) -> Iterator[StuckPod]:
        for pod in pods:
            if pod.is_terminating and not pod.is_finished:
                found = self.of(pod)
                if found.reason == STUCK:
                    yield StuckPod(pod=reference_to(pod), message=found.message)


def _is_over(standing: Standing, now: datetime) -> bool:
    return standing.deadline is not None and standing.deadline <= now


def _may_say_ready(pod: Pod) -> bool:
    """Whether its first condition Ready is anything but False (MarkPodsNotReady)."""
    said = next((one for one in pod.status.conditions if one.type == "Ready"), None)
    return said is not None and said.status != "False"


def _names(pods: Iterable[Pod], wanted: Callable[[Pod], bool]) -> tuple[ObjectReference, ...]:
    return tuple(reference_to(pod) for pod in pods if wanted(pod))


def _words_of(name: str, standing: Standing, now: datetime) -> str:
    """How the node stands, for people."""
    if standing.lost_since is None or standing.deadline is None:
        return f"node {name} is ready, or its kubelet lives"
    told = f"node {name} is {_STATES[standing.state]} since {describe_time(standing.lost_since)}"
    if standing.deadline <= now:
        return told
    return f"{told}; its pods go at {describe_time(standing.deadline)}, unless it comes back"


def evicting_taint(node: Node) -> str:
    """The key of the taint of a node that fails by which its pods are evicted; empty: none."""
    found = (one.key for one in node.spec.taints if one.effect == NO_EXECUTE)
    return next((key for key in found if key in FAILING_NODE), "")
