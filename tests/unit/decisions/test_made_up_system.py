"""A system that is registered is found in every question, with nothing else changed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.decisions import FactsError, OptionOverrides, Options, Scene, Systems, Unread, Verdict
from bailiff.decisions.cost import MAX_STEPS, Cost
from bailiff.decisions.decision import Finding, keep
from bailiff.decisions.node_taints import NODE_TAINTS
from bailiff.decisions.system import NoFacts
from bailiff.kinds import Pod, Taint
from tests.harness.asking import ask, steps
from tests.harness.device_kinds import NOW, at
from tests.harness.kinds import no_execute, pod_of, tolerating
from tests.harness.made_up_system import (
    LIGHTS,
    NAME,
    TERMS,
    THREE_SYSTEMS,
    LightsOutSystem,
    LightsReport,
    LightsSubject,
    dark_node,
)

SHOP = pod_of("shop", "n")
VITAL = pod_of("vital", "n", priority=1000)
NODE = dark_node("n", at(0))


def asked(question: str, **facts: Any) -> Any:
    return ask(question, of=THREE_SYSTEMS, **facts)


def test_its_finding_decides_with_terms_of_its_own() -> None:
    answer = asked("decide", pod=SHOP, node=NODE)
    decision = answer.decision
    assert (decision.verdict, decision.decided_by) == (Verdict.EVICT_AT, NAME)
    assert (decision.evict_at, decision.holds_until) == (at(60), at(60))
    assert decision.eviction == TERMS
    assert decision.event.reason == "LightsOutEviction"
    assert [finding.system for finding in decision.findings] == ["node-taints", NAME]
    (step,) = decision.findings[1].trace
    assert step.subject == LightsSubject(out_at=at(60))
    assert answer.reports.lights_out == LightsReport(out_at=at(60), pods=1)


def test_what_goes_over_the_wire_names_system_and_subject() -> None:
    answer = msgspec.to_builtins(asked("decide", pod=SHOP, node=NODE))
    assert answer["reports"] == {NAME: {"outAt": "2026-01-01T00:01:00Z", "pods": 1}}
    finding = answer["decision"]["findings"][1]
    assert finding["trace"][0]["subject"] == {"kind": "lights", "outAt": "2026-01-01T00:01:00Z"}
    assert "eviction" not in finding
    assert answer["decision"]["eviction"]["phase"] == "Failed"


def test_a_batch_asks_it_for_each_pod_and_tells_its_report_once() -> None:
    explain = OptionOverrides(explain=True)
    answer = asked("decideBatch", pods=(SHOP, VITAL), node=NODE, options=explain)
    assert [one.verdict for one in answer.decisions] == [Verdict.EVICT_AT, Verdict.KEEP]
    assert answer.decisions[0] == asked("decide", pod=SHOP, node=NODE).decision
    assert answer.reports.lights_out.pods == 2


def test_a_round_s_end_bounds_the_promise_for_every_pod() -> None:
    assert asked("decide", pod=VITAL, node=NODE).decision.holds_until == at(60)


def test_the_earliest_of_it_and_the_others_decides() -> None:
    taints = (*NODE.spec.taints, no_execute("a", time_added=at(0)))
    node = replace(NODE, spec=replace(NODE.spec, taints=taints))
    sooner = pod_of("p", "n", tolerating("a", 30))
    later = pod_of("p", "n", tolerating("a", 90))
    assert asked("decide", pod=sooner, node=node).decision.decided_by == "node-taints"
    assert asked("decide", pod=later, node=node).decision.decided_by == NAME


@pytest.mark.parametrize(
    ("systems", "found"),
    [
        ((NAME,), [NAME]),
        (("node-taints",), ["node-taints"]),
        ((NAME, "node-taints"), ["node-taints", NAME]),
        ((), ["node-taints", NAME]),
    ],
)
def test_it_is_asked_where_it_is_named_or_nobody_is(
    systems: tuple[str, ...], found: list[str]
) -> None:
    decision = asked("decide", pod=SHOP, node=NODE, systems=systems).decision
    assert [finding.system for finding in decision.findings] == found


def test_a_name_that_no_system_has_is_told_the_names_there_are() -> None:
    names = ", ".join(system.name for system in THREE_SYSTEMS.all)
    with pytest.raises(FactsError, match=f"must be one of {names}, got 'dusk'"):
        asked("decide", pod=SHOP, node=NODE, systems=("dusk",))


def test_where_no_system_says_anything_the_pod_stays() -> None:
    node = replace(NODE, spec=replace(NODE.spec, taints=()))
    answer = asked("decide", pod=SHOP, node=node, systems=(NAME,))
    assert (answer.decision.verdict, answer.decision.reason) == (Verdict.KEEP, "NothingSaid")
    assert (answer.decision.findings, answer.reports) == ((), None)


def test_what_it_counts_is_counted_with_the_others() -> None:
    pods = (SHOP,) * 50
    both = steps("decideBatch", of=THREE_SYSTEMS, pods=pods, node=NODE)
    without = steps("decideBatch", pods=pods, node=NODE)
    assert both - without == 50


class GreedySystem(LightsOutSystem):
    name = "greedy"

    def cost(self, scene: Scene, facts: NoFacts, options: Options) -> Cost:
        return Cost(steps=MAX_STEPS + 1, path="$.pod")

    def prepare(self, *_: object) -> Any:
        raise AssertionError("what costs too much was begun")


def test_what_costs_too_much_is_refused_before_anything_is_done() -> None:
    greedy = Systems((NODE_TAINTS, GreedySystem()))
    with pytest.raises(FactsError) as caught:
        ask("decide", of=greedy, pod=SHOP, node=NODE)
    assert caught.value.path == "$.pod"


def live(*pods: Pod, node: Any = NODE, gone: bool = False) -> tuple[Scene, list[Any]]:
    """A scene and what the look-ups come to in a cluster without devices."""
    scene = Scene(pods, NOW, node, without_node=gone)
    parts = []
    for system, looking in THREE_SYSTEMS.look_ups(scene, Options()):
        with pytest.raises(StopIteration) as ended:
            next(looking)
        parts.append((system, ended.value.value))
    return scene, parts


def test_a_live_look_up_asks_it_too() -> None:
    scene, parts = live(SHOP)
    answer: Any = THREE_SYSTEMS.weigh_seen_pod(scene, parts, Options()).answer()
    asked_by_body = asked("decide", pod=SHOP, node=NODE)
    assert answer.decision.findings[1] == asked_by_body.decision.findings[1]
    assert answer.reports.lights_out == asked_by_body.reports.lights_out
    scene, parts = live(SHOP, VITAL)
    many: Any = THREE_SYSTEMS.weigh_seen_pods(scene, parts, Options()).answer()
    assert [one.decided_by for one in many.decisions] == [NAME, ""]
    assert many.reports.lights_out.pods == 2


def test_where_the_without_node_it_is_not_asked() -> None:
    scene, parts = live(SHOP, node=None, gone=True)
    answer = THREE_SYSTEMS.weigh_seen_pod(scene, parts, Options()).answer()
    assert [finding.reason for finding in answer.decision.findings] == ["NodeGone"]


class NotSeen(Unread):
    def of(self, pod: Pod) -> Finding | None:
        return keep(NAME, "LightsNotSeen", "nobody could look")


def test_what_it_could_not_read_is_said_first() -> None:
    scene, parts = live(VITAL)
    parts = [(s, NotSeen() if s is LIGHTS else own) for s, own in parts]
    decision = THREE_SYSTEMS.weigh_seen_pod(scene, parts, Options()).answer().decision
    assert (decision.verdict, decision.reason) == (Verdict.KEEP, "LightsNotSeen")


def test_a_finding_s_own_grace_goes_before_that_of_its_terms() -> None:
    finding = asked("decide", pod=SHOP, node=NODE).decision.findings[1]
    assert finding.terms == TERMS
    hurried = replace(finding, grace_period_seconds=1)
    assert hurried.terms == replace(TERMS, grace_period_seconds=1)


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two systems have the same name"):
        Systems((LIGHTS, LIGHTS))


class Namesake(LightsOutSystem):
    name = "namesake"
    questions = NODE_TAINTS.questions


def test_two_questions_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two questions are called previewTaintChange"):
        Systems((NODE_TAINTS, Namesake()))


def test_its_subjects_are_among_those_that_faces_are_made_from() -> None:
    assert LightsSubject in THREE_SYSTEMS.subjects
    assert LightsSubject not in Systems((NODE_TAINTS,)).subjects


def test_taints_that_no_system_minds_change_nothing() -> None:
    node = replace(NODE, spec=replace(NODE.spec, taints=(Taint(key="x", effect="NoSchedule"),)))
    assert asked("decide", pod=SHOP, node=node).decision.verdict is Verdict.KEEP


def test_one_that_is_asked_by_name_says_what_it_needs() -> None:
    with pytest.raises(FactsError) as caught:
        asked("decide", pod=SHOP, systems=(NAME,))
    assert (caught.value.path, caught.value.reason) == ("$.node", "required")


def test_a_name_that_no_system_has_is_quoted_in_short() -> None:
    with pytest.raises(FactsError) as caught:
        asked("decide", pod=SHOP, node=NODE, systems=("\x7f" * 100_000,))
    assert caught.value.path == "$.systems[0]"
    assert len(caught.value.reason) < 1000
