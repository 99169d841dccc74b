"""What an answer promises of later instants: asked again before `holds_until` it is the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Decision, Finding, Verdict, combine
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.instants import END_OF_TIME
from bailiff.decisions.node_taints import NodeTaintFacts, TaintObservation
from bailiff.kinds import Pod, Taint
from tests.harness.asking import decide
from tests.harness.device_kinds import NOW, at, claim, on, rule, using
from tests.harness.device_kinds import tolerating as device_tolerating
from tests.harness.kinds import edited_at, no_execute, node_of, pod_of, tolerating

SECONDS = st.integers(-400, 400)
INSTANTS = SECONDS.map(at)
KEYS = st.sampled_from("ab")
WAITS = st.none() | st.integers(0, 600)
TAINTS = st.lists(
    st.builds(no_execute, KEYS, time_added=st.none() | INSTANTS),
    max_size=2,
    unique_by=lambda taint: taint.key,
)
TOLERATIONS = st.lists(
    st.builds(
        tolerating,
        st.sampled_from(["a", "b", ""]),
        st.integers(0, 600) | st.sampled_from([60, 2**63 - 1]),
    ),
    max_size=3,
)
OBSERVED = st.lists(
    st.builds(TaintObservation, key=KEYS, effect=st.just("NoExecute"), time=INSTANTS), max_size=2
)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """A pod, bound or not, and what may evict it: its node's taints, a rule on its device."""
    edited = draw(st.none() | INSTANTS)
    node = node_of("n", *draw(TAINTS), managed_fields=() if edited is None else edited_at(edited))
    pod = using("c", node=draw(st.sampled_from(["n", ""])))
    pod = pod_of(
        "p",
        pod.spec.node_name,
        *draw(TOLERATIONS),
        uid="p-1",
        creation_timestamp=draw(st.none() | INSTANTS),
    )
    told = NodeTaintFacts(bound_at=draw(st.none() | INSTANTS), first_observed=tuple(draw(OBSERVED)))
    facts: dict[str, Any] = {"pod": pod, "node": node, "node_taints": told}
    if draw(st.booleans()):
        facts["pod"] = with_claim(pod)
        facts["device_taints"] = DeviceTaintFacts(
            resource_claims=(claim("c", on("a", device_tolerating(draw(WAITS)))),),
            device_taint_rules=(rule(added=draw(SECONDS)),),
        )
    return facts


def with_claim(pod: Pod) -> Pod:
    spec = type(pod.spec)(
        node_name=pod.spec.node_name,
        tolerations=pod.spec.tolerations,
        resource_claims=using("c").spec.resource_claims,
    )
    return Pod(metadata=pod.metadata, spec=spec, status=pod.status)


def told(decision: Decision) -> tuple[Verdict, Any]:
    return decision.verdict, decision.evict_at


@given(questions(), st.floats(0, 1000).map(lambda seconds: timedelta(seconds=seconds)))
def test_the_answer_is_the_same_until_the_instant_it_names(
    facts: dict[str, Any], passed: timedelta
) -> None:
    first = decide(**facts)
    if first.counted_from_now:
        assert (first.verdict, first.holds_until) == (Verdict.EVICT_AT, None)
        return
    if first.holds_until is None or NOW + passed < first.holds_until:
        assert told(decide(**facts, now=NOW + passed)) == told(first)
    if first.holds_until == first.evict_at is not None:
        due = decide(**facts, now=first.holds_until)
        assert told(due) == (Verdict.EVICT_NOW, first.evict_at)


MOMENT = timedelta(microseconds=1)


@given(questions())
def test_a_deadline_counts_from_now_exactly_where_it_moves_with_the_question(
    facts: dict[str, Any],
) -> None:
    first, second = (decide(**facts, now=NOW + passed) for passed in (timedelta(), MOMENT))
    assert first.counted_from_now is (first.evict_at != second.evict_at)
    if first.counted_from_now:
        assert first.evict_at is not None
        assert second.evict_at == first.evict_at + MOMENT
        assert (first.holds_until, second.counted_from_now) == (None, True)


WAITING = tolerating("a", 60)
FOR_AGES = tolerating("a", 2**63 - 1)


@pytest.mark.parametrize(
    ("facts", "holds", "ends"),
    [
        pytest.param({"taint": no_execute("a"), "bound": 5}, 5, 65, id="bound by a clock ahead"),
        pytest.param(
            {"taint": no_execute("a", time_added=at(5)), "pod": pod_of("p", "", WAITING)},
            5,
            65,
            id="a taint to come, and no node yet",
        ),
    ],
)
def test_a_deadline_that_will_move_holds_until_it_does(
    facts: dict[str, Any], holds: int, ends: int
) -> None:
    first, moved = (decide(now=at(passed), **asked(**facts)) for passed in (0, holds + 3))
    assert (first.holds_until, first.evict_at) == (at(holds), at(ends))
    assert not first.counted_from_now
    assert moved.counted_from_now
    assert moved.evict_at == at(ends + 3)


def test_a_deadline_at_the_end_of_time_moves_no_more() -> None:
    found = decide(**asked(no_execute("a"), pod_of("p", "n", FOR_AGES)))
    assert found.evict_at == found.holds_until == END_OF_TIME
    assert not found.counted_from_now


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_taints_that_end_together_the_one_that_tells_when_it_came_counts(order: int) -> None:
    taints = (no_execute("a"), no_execute("b", time_added=NOW))[::order]
    found = decide(
        pod=pod_of("p", "n", WAITING, tolerating("b", 60)), node=node_of("n", *taints), now=NOW
    )
    assert found.holds_until == found.evict_at == at(60)
    assert not found.counted_from_now
    assert found.message.startswith("taint b:NoExecute")


@pytest.mark.parametrize(
    ("facts", "moves"),
    [
        pytest.param({"taint": no_execute("a")}, True, id="nothing tells when the taint came"),
        pytest.param({"taint": no_execute("a", time_added=at(-5))}, False, id="timeAdded tells"),
        pytest.param({"taint": no_execute("a", time_added=at(5))}, False, id="a taint to come"),
        pytest.param(
            {"taint": no_execute("a", time_added=at(-5)), "pod": pod_of("p", "", WAITING)},
            True,
            id="the pod is not bound",
        ),
        pytest.param(
            {"taint": no_execute("a", time_added=at(0)), "pod": pod_of("p", "", WAITING)},
            True,
            id="the pod is not bound, and the taint came this moment",
        ),
        pytest.param({"taint": no_execute("a"), "seen": -5}, False, id="an observation tells"),
        pytest.param({"taint": no_execute("a"), "seen": 0}, False, id="seen this moment"),
        pytest.param({"taint": no_execute("a"), "seen": 5}, True, id="seen by a clock ahead"),
        pytest.param({"taint": no_execute("a"), "edited": -5}, False, id="the last edit tells"),
        pytest.param({"taint": no_execute("a"), "edited": 0}, True, id="edited this second"),
        pytest.param({"taint": no_execute("a"), "edited": 9}, True, id="edited by a clock ahead"),
    ],
)
def test_a_deadline_that_moves_with_the_question_says_so(
    facts: dict[str, Any], moves: bool
) -> None:
    first, second = (decide(now=at(passed), **asked(**facts)) for passed in (0, 3))
    assert first.verdict is second.verdict is Verdict.EVICT_AT
    assert first.counted_from_now is moves
    assert first.holds_until == (None if moves else first.evict_at)
    assert (first.evict_at != second.evict_at) is moves
    assert first.message.endswith("counted from now") is moves


def asked(
    taint: Taint,
    pod: Pod | None = None,
    seen: int | None = None,
    edited: int | None = None,
    bound: int | None = None,
) -> dict[str, Any]:
    managed = () if edited is None else edited_at(at(edited))
    observed: tuple[TaintObservation, ...] = ()
    if seen is not None:
        observed = (TaintObservation(key="a", effect="NoExecute", time=at(seen)),)
    return {
        "pod": pod or pod_of("p", "n", WAITING),
        "node": node_of("n", taint, managed_fields=managed),
        "node_taints": NodeTaintFacts(
            bound_at=None if bound is None else at(bound), first_observed=observed
        ),
    }


def finding(verdict: Verdict, holds_until: int | None, *, from_now: bool = False) -> Finding:
    until = None if holds_until is None else at(holds_until)
    return Finding(
        system="made-up",
        verdict=verdict,
        reason="R",
        message="m",
        evict_at=at(100) if verdict is Verdict.EVICT_AT else None,
        holds_until=until,
        counted_from_now=from_now,
    )


KEEP, LATER, GOES = Verdict.KEEP, Verdict.EVICT_AT, Verdict.EVICT_NOW


@pytest.mark.parametrize(
    ("findings", "until", "holds"),
    [
        pytest.param([finding(KEEP, None)], None, None, id="for ever"),
        pytest.param([finding(KEEP, 5)], None, 5, id="as long as its finding"),
        pytest.param([finding(KEEP, 5)], 4, 4, id="as long as its round"),
        pytest.param([finding(KEEP, None), finding(KEEP, 5)], None, 5,
                     id="as long as the other that keeps"),
        pytest.param([finding(LATER, 100), finding(KEEP, 5)], None, 5,
                     id="another system may have it go sooner"),
        pytest.param([finding(LATER, 100), finding(KEEP, None)], 200, 100, id="its own deadline"),
        pytest.param([finding(GOES, None), finding(KEEP, 5)], None, None,
                     id="who goes now goes, whatever others say later"),
        pytest.param([finding(LATER, None, from_now=True), finding(KEEP, 5)], 7, None,
                     id="where the deadline moves nothing is promised"),
        pytest.param([finding(LATER, None, from_now=True), finding(LATER, 100)], None, 100,
                     id="of two at one instant the one that stays there counts"),
    ],
)  # fmt: skip
def test_a_decision_holds_as_long_as_all_that_it_is_made_of(
    findings: list[Finding], until: int | None, holds: int | None
) -> None:
    decision = combine(Pod(), "n", tuple(findings), NOW, None if until is None else at(until))
    assert decision.holds_until == (None if holds is None else at(holds))
