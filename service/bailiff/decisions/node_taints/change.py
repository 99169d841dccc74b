"""What would adding or removing these taints do? A node before and after, for the same pods."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from bailiff.decisions.asking import Asking, Named
from bailiff.decisions.cost import MAX_PODS, Cost, FactsError, check_cost, check_number
from bailiff.decisions.decision import Decision, ObjectReference, Verdict, reference_to
from bailiff.decisions.joining import combine
from bailiff.decisions.lengths import weigh_decisions
from bailiff.decisions.node_taints import observations
from bailiff.decisions.node_taints.facts import NodeTaintFacts
from bailiff.decisions.node_taints.findings import SYSTEM
from bailiff.decisions.node_taints.taints import NodeTaints
from bailiff.decisions.node_taints.weighing import weigh
from bailiff.decisions.question import Asked, Plan, Question, Size
from bailiff.decisions.questions import Pods
from bailiff.decisions.system import Scene
from bailiff.decisions.validity import check_effect, check_key, check_taint
from bailiff.kinds import NewTaint, Node, Taint
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from bailiff.decisions.decision import Finding
    from bailiff.decisions.node_taints.observations import Identity, Since
    from bailiff.decisions.question import QuestionTerms
    from bailiff.kinds import Pod


# Far more than fit into a node: to look at them must cost no time that others would notice.
_Bound = Meta(max_length=10_000)


class TaintSelector(Value, frozen=True, forbid_unknown_fields=True):
    """A taint to take away, as `kubectl taint node NODE KEY:EFFECT-`.

    Attributes:
        key: of the taint, as Kubernetes takes it.
        effect: of the taint, `NoSchedule`, `PreferNoSchedule` or `NoExecute`; empty: any.
    """

    key: str
    effect: str = ""


class PreviewTaintChangeRequest(Asked, frozen=True, kw_only=True):
    """A node, its pods, and taints to add or remove: whose answer would change?

    Attributes:
        node: the node as it is.
        pods: its pods, at most 20,000.
        add_taints: one of the same key and effect is replaced. At most 10,000, each as the API
            server would take it.
        remove_taints: goes first, so that a taint may be removed and added anew. At most 10,000;
            one that the node has not changes nothing.
        node_taints: what is known of the node's taints that the node does not tell.
    """

    node: Node
    pods: Pods = ()
    add_taints: Annotated[tuple[NewTaint, ...], _Bound] = ()
    remove_taints: Annotated[tuple[TaintSelector, ...], _Bound] = ()
    node_taints: NodeTaintFacts = NodeTaintFacts()


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


class PreviewTaintChangeResponse(Value, frozen=True):
    """What a change of taints would do.

    Attributes:
        changes: the pods whose answer changes, in the order asked; the others are left out.
        summary: how many of them go where.
    """

    changes: tuple[DecisionChange, ...]
    summary: ChangeSummary

    def counted(self) -> tuple[Decision, ...]:
        """The answers after the change."""
        return tuple(change.after for change in self.changes)


def _weigh(
    facts: PreviewTaintChangeRequest, terms: QuestionTerms
) -> Plan[PreviewTaintChangeResponse]:
    if not facts.add_taints and not facts.remove_taints:
        raise FactsError("$.addTaints", "at least one of addTaints, removeTaints is required")
    if facts.node_taints.bound_at is not None:
        raise FactsError("$.nodeTaints.boundAt", "not here: it is read from the pods")
    check_number("$.pods", len(facts.pods), MAX_PODS)
    _check_taints(facts)
    taints = facts.node.spec.taints + facts.add_taints
    cost = weigh(taints, facts.pods, explain=terms.options.explain)
    # Merging compares every present taint with every change.
    merging = len(taints) * (len(facts.add_taints) + len(facts.remove_taints))
    # Before and after. The pod is named once more, which what is counted for a Decision covers.
    named = weigh_decisions(facts.pods, facts.node)
    steps, told = 2 * (cost.steps + named.steps) + merging, 2 * (cost.told + named.told)
    found = check_cost((Cost(steps, told, cost.path),))
    return Plan(found.steps, found.told, partial(_preview, facts, terms))


def _check_taints(facts: PreviewTaintChangeRequest) -> None:
    """Raises FactsError where the API server would refuse one."""
    for index, taint in enumerate(facts.add_taints):
        check_taint(taint, f"$.addTaints[{index}]")
    for index, removed in enumerate(facts.remove_taints):
        path = f"$.removeTaints[{index}]"
        check_key(removed.key, path)
        if removed.effect:
            check_effect(removed.effect, path)


def _preview(facts: PreviewTaintChangeRequest, terms: QuestionTerms) -> PreviewTaintChangeResponse:
    name = facts.node.metadata.name
    found = (_change(*one, name, terms.now) for one in before_and_after(facts, terms))
    changes = tuple(change for change in found if change is not None)
    return PreviewTaintChangeResponse(changes=changes, summary=summarize(changes))


def before_and_after(
    facts: PreviewTaintChangeRequest, terms: QuestionTerms
) -> Iterator[tuple[Pod, Finding, Finding]]:
    """Each pod with what is said of it with the node as it is, and with the taints changed."""
    now, options = terms.now, terms.options
    observed = facts.node_taints.first_observed
    changed = node_after(facts)
    scene = Scene(facts.pods, now, facts.node)
    before, after = (
        Asking([(Named(SYSTEM), taints)], scene, options)
        for taints in (
            NodeTaints(facts.node, now, observed, options),
            NodeTaints(changed, now, options=options, since=_since_after(facts, changed, now)),
        )
    )
    for pod in facts.pods:
        (old,), (new,) = before.findings(pod), after.findings(pod)
        yield pod, old, new


def summarize(changes: Iterable[DecisionChange]) -> ChangeSummary:
    """How many of the changed pods would then go at once, go later, and stay."""
    counts = Counter(change.after.verdict for change in changes)
    return ChangeSummary(
        evict_now=counts[Verdict.EVICT_NOW],
        evict_at=counts[Verdict.EVICT_AT],
        keep=counts[Verdict.KEEP],
    )


def _change(
    pod: Pod, old: Finding, new: Finding, name: str, now: datetime
) -> DecisionChange | None:
    if (old.verdict, old.evict_at) == (new.verdict, new.evict_at):
        return None
    return DecisionChange(
        pod=reference_to(pod),
        before=combine(pod, name, (old,), now),
        after=combine(pod, name, (new,), now),
    )


def node_after(facts: PreviewTaintChangeRequest) -> Node:
    """The node after the change: a taint is replaced by one of the same key and effect."""
    added = {(taint.key, taint.effect): taint for taint in facts.add_taints}
    kept = tuple(
        taint
        for taint in facts.node.spec.taints
        if (taint.key, taint.effect) not in added and not _removed(facts, taint)
    )
    spec = replace(facts.node.spec, taints=kept + tuple(added.values()))
    return replace(facts.node, spec=spec)


def _since_after(
    facts: PreviewTaintChangeRequest, changed: Node, now: datetime
) -> dict[Identity, Since]:
    """Since when the taints count after the change: those that it brings, from now.

    A taint that is removed and added in one is a new one, as for kubectl; one that is there and is
    added keeps the time since which it counts.
    """
    before = observations.since(facts.node, facts.node_taints.first_observed, now)
    taints = facts.node.spec.taints
    gone = {observations.identity_of(taint) for taint in taints if _removed(facts, taint)}
    fresh = observations.from_now(now)
    return {
        one: fresh if one in gone else before.get(one, fresh)
        for one in observations.untimed(changed)
    }


def _removed(facts: PreviewTaintChangeRequest, taint: Taint) -> bool:
    return any(_selects(selector, taint) for selector in facts.remove_taints)


def _selects(selector: TaintSelector, taint: Taint) -> bool:
    return selector.key == taint.key and selector.effect in ("", taint.effect)


PREVIEW_TAINT_CHANGE = Question(
    name="previewTaintChange",
    path="previews/taint-change",
    summary="What would adding or removing these taints do?",
    description=(
        "Answers with the pods whose verdict or deadline would change, before and after, and with "
        "how many would go now, go later and stay. Changes nothing."
    ),
    facts=PreviewTaintChangeRequest,
    answer=PreviewTaintChangeResponse,
    weigh=_weigh,
    explains=False,
    size=Size.MANY,
)
