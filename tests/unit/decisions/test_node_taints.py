"""Properties of eviction by node taints; the tables of cases stand in tests/cases."""

from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from bailiff.decisions import Options, Verdict, tolerates
from bailiff.decisions.node_taints import NodeTaints, TaintObservation
from bailiff.decisions.node_taints.change import (
    PreviewTaintChangeRequest,
    TaintSelector,
    node_after,
)
from bailiff.kinds import (
    INT64_MAX,
    INT64_MIN,
    Node,
    NodeMeta,
    NodeSpec,
    Pod,
    PodSpec,
    Taint,
    Toleration,
)
from tests.harness.kinds import no_execute, node_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = st.sampled_from(["", "a", "b"])
VALUES = st.sampled_from(["", "1", "2", "x"])
EFFECTS = st.sampled_from(["NoExecute", "NoSchedule"])
INSTANTS = st.integers(-1000, 1000).map(lambda seconds: NOW + timedelta(seconds=seconds))

taints = st.builds(
    Taint,
    key=st.sampled_from(["a", "b"]),
    value=VALUES,
    effect=EFFECTS,
    time_added=st.none() | INSTANTS,
)
tolerations = st.builds(
    Toleration,
    key=KEYS,
    operator=st.sampled_from(["", "Equal", "Exists", "Lt", "Gt", "In"]),
    value=VALUES,
    effect=st.sampled_from(["", "NoExecute", "NoSchedule"]),
    toleration_seconds=st.none() | st.integers(-10, 1000) | st.sampled_from([INT64_MIN, INT64_MAX]),
)
nodes = st.lists(taints, max_size=4).map(lambda found: node_of("n", *found))


def pod_with(found) -> Pod:
    return Pod(spec=PodSpec(node_name="n", tolerations=tuple(found)))


# Without these hardly any pod of the others' tolerates all taints for a while.
lenient = st.builds(
    Toleration,
    key=KEYS,
    operator=st.just("Exists"),
    toleration_seconds=st.none() | st.integers(1, 2000),
)
pods = st.lists(tolerations, max_size=4).map(pod_with) | st.lists(lenient, max_size=3).map(pod_with)
bounds = st.none() | INSTANTS


@given(nodes, pods, bounds)
def test_the_verdict_says_what_the_deadline_says(node, pod, bound_at):
    finding = NodeTaints(node, NOW).decide(pod, bound_at)
    match finding.verdict:
        case Verdict.KEEP:
            assert finding.evict_at is None
        case Verdict.EVICT_NOW:
            assert finding.evict_at is None or finding.evict_at <= NOW
        case Verdict.EVICT_AT:
            assert finding.evict_at is not None
            assert finding.evict_at > NOW
            assert (finding.holds_until is None) is finding.counted_from_now
            assert finding.holds_until is None or NOW < finding.holds_until <= finding.evict_at


@given(nodes, pods, bounds)
def test_the_answer_holds_until_it_says_it_does(node, pod, bound_at):
    """Asked again at any instant before `holds_until`, with the same observations: the same."""
    seen = [TaintObservation(key=t.key, value=t.value, effect=t.effect, time=NOW)
            for t in node.spec.taints]  # fmt: skip
    first = NodeTaints(node, NOW, seen).decide(pod, bound_at)
    if first.verdict is not Verdict.EVICT_AT or first.holds_until is None:
        return
    just_before = first.holds_until - timedelta(microseconds=1)
    assert NodeTaints(node, just_before, seen).decide(pod, bound_at) == first
    at = NodeTaints(node, first.holds_until, seen).decide(pod, bound_at)
    assert (at.verdict, at.evict_at) == (Verdict.EVICT_NOW, first.evict_at)


@given(nodes, pods, bounds)
def test_the_deadline_is_the_earliest_of_the_taints_alone(node, pod, bound_at):
    whole = NodeTaints(node, NOW).decide(pod, bound_at)
    alone = [
        NodeTaints(msgspec.structs.replace(node, spec=NodeSpec(taints=(taint,))), NOW).decide(
            pod, bound_at
        )
        for taint in node.spec.taints
    ]
    evicting = [finding for finding in alone if finding.verdict is not Verdict.KEEP]
    assert (whole.verdict is Verdict.KEEP) == (not evicting)
    if whole.verdict is Verdict.EVICT_AT:
        assert whole.evict_at == min(f.evict_at for f in evicting if f.evict_at is not None)


@given(nodes, pods, bounds, st.lists(pods, max_size=3))
def test_pods_asked_about_before_do_not_change_the_answer(node, pod, bound_at, others):
    """Shared findings are an optimisation, never an influence."""
    shared = NodeTaints(node, NOW)
    for other in others:
        shared.decide(other)
    assert shared.decide(pod, bound_at) == NodeTaints(node, NOW).decide(pod, bound_at)


@given(nodes, pods, bounds)
def test_an_untolerated_taint_evicts_whatever_else_there_is(node, pod, bound_at):
    extra = Taint(key="unheard-of", value="?", effect="NoExecute")
    if any(tolerates(toleration, extra) for toleration in pod.spec.tolerations):
        return
    spec = NodeSpec(taints=(*node.spec.taints, extra))
    finding = NodeTaints(msgspec.structs.replace(node, spec=spec), NOW).decide(pod, bound_at)
    assert finding.verdict is Verdict.EVICT_NOW


@pytest.mark.parametrize("seconds", [2**55, INT64_MAX, 9223372037])
def test_huge_seconds_are_a_far_deadline_and_never_an_overflow(seconds):
    node = node_of("n", no_execute("a"))
    pod = pod_with([Toleration(operator="Exists", toleration_seconds=seconds)])
    finding = NodeTaints(node, NOW).decide(pod)
    assert finding.verdict is Verdict.EVICT_AT
    assert finding.evict_at is not None
    assert finding.evict_at.year > 2300


@given(tolerations, taints)
def test_the_gate_only_adds(toleration, taint):
    if tolerates(toleration, taint):
        assert tolerates(toleration, taint, comparison_operators=True)
    elif tolerates(toleration, taint, comparison_operators=True):
        assert toleration.operator in {"Lt", "Gt"}


def test_no_trace_is_built_unless_asked_for():
    node = node_of("n", no_execute("a"))
    silent = NodeTaints(node, NOW, (), Options(explain=False))
    assert silent.decide(pod_with([])).trace == ()
    assert NodeTaints(node, NOW).decide(pod_with([])).trace != ()


class GrownSpec(NodeSpec, frozen=True):
    unschedulable: bool = False


class GrownNode(Node, frozen=True, tag="Node"):
    phase: str = ""


def test_a_change_of_taints_leaves_all_else_of_a_node_as_it_is():
    spec = GrownSpec(taints=(Taint(key="a"), Taint(key="b")), unschedulable=True)
    node = GrownNode(metadata=NodeMeta(name="n"), spec=spec, phase="known")
    change = PreviewTaintChangeRequest(node=node, remove_taints=(TaintSelector(key="a"),))
    assert node_after(change) == replace(node, spec=replace(spec, taints=(Taint(key="b"),)))
