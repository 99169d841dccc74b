"""A system that weighs pods against each other sees those that a question brings, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions import (
    FactsError,
    Finding,
    OptionOverrides,
    Options,
    Round,
    Scene,
    Systems,
    Verdict,
)
from bailiff.decisions.asking import Asking, Named
from bailiff.decisions.decision import reference_to
from bailiff.decisions.joining import join
from bailiff.decisions.questions import Neighbours
from bailiff.kinds import Pod
from tests.harness.asking import Says, ask
from tests.harness.device_kinds import NOW, at
from tests.harness.kinds import node_of, pod_of
from tests.harness.made_up_system import LIGHTS
from tests.harness.ranking_system import (
    NAME,
    WITH_SEATS,
    SeatFacts,
    SeatReport,
    SeatSystem,
    Unseated,
    seating_node,
)

LOW, MIDDLE, HIGH = (pod_of(f"p{n}", "n", priority=n) for n in range(3))
ALL = (LOW, MIDDLE, HIGH)
NODE = seating_node("n", 2)
EXPLAIN = OptionOverrides(explain=True)
STATE = SeatFacts(crowded_since=at(-60))


NOTHING = "$: there is nothing that seats could decide from"


@pytest.mark.parametrize(
    ("node", "neighbours", "said"),
    [
        pytest.param(NODE, None, "$.neighbours: required", id="no neighbours"),
        pytest.param(None, None, "$.node: required", id="no node"),
        pytest.param(None, (), "$.node: required", id="only neighbours"),
        pytest.param(node_of("n"), (), NOTHING, id="no seats"),
    ],
)
def test_what_it_lacks_of_a_question_that_names_it_is_told(
    node: Any, neighbours: tuple[Pod, ...] | None, said: str
) -> None:
    told = None if neighbours is None else Neighbours(pods=neighbours)
    with pytest.raises(FactsError) as caught:
        ask("decide", of=WITH_SEATS, pod=LOW, node=node, neighbours=told, systems=(NAME,))
    assert str(caught.value) == said


def test_its_section_is_not_passed_over_where_it_lacks_something_else() -> None:
    with pytest.raises(FactsError, match=r"\$.neighbours: required"):
        ask("decide", of=WITH_SEATS, pod=LOW, node=NODE, seats=STATE)


def test_its_section_is_passed_over_where_there_is_nothing_to_decide() -> None:
    answer = ask("decide", of=WITH_SEATS, pod=LOW, node=node_of("n"), seats=STATE)
    assert [finding.system for finding in answer.decision.findings] == ["node-taints"]


class Anywhere(SeatSystem):
    """Ranks whoever it is shown, whatever is known of their node."""

    needs = ""

    def ranks_on(self, node: Any) -> bool:
        return True

    def is_reached(self, scene: Scene, facts: SeatFacts) -> bool:
        return True


def test_pods_of_several_nodes_are_not_weighed_against_each_other() -> None:
    elsewhere = pod_of("p3", "other")
    with pytest.raises(FactsError, match="seats ranks the pods of one node") as caught:
        ask("decideBatch", of=Systems((Anywhere(),)), pods=(*ALL, elsewhere))
    assert caught.value.path == "$.node"


def asked(question: str, neighbours: tuple[Pod, ...] | None = None, **facts: Any) -> Any:
    if neighbours is not None:
        facts["neighbours"] = Neighbours(pods=neighbours)
    return ask(question, of=WITH_SEATS, node=NODE, seats=STATE, **facts)


def reasons(*decisions: Any) -> list[str]:
    return [one.findings[-1].reason for one in decisions]


def test_a_batch_shows_it_all_pods() -> None:
    answer = asked("decideBatch", pods=ALL)
    assert reasons(*answer.decisions) == ["NoSeat", "Seated", "Seated"]
    assert answer.decisions[0].decided_by == NAME


def test_one_pod_is_weighed_against_the_neighbours_that_the_question_brings() -> None:
    alone = asked("decide", pod=LOW, neighbours=ALL).decision
    assert alone == asked("decideBatch", pods=ALL, options=EXPLAIN).decisions[0]
    assert reasons(asked("decide", pod=HIGH, neighbours=ALL).decision) == ["Seated"]


def test_where_no_neighbours_are_told_it_is_not_reached() -> None:
    decision = ask("decide", of=WITH_SEATS, node=NODE, pod=LOW).decision
    assert [finding.system for finding in decision.findings] == ["node-taints"]
    with pytest.raises(FactsError):
        asked("decide", pod=LOW, systems=(NAME,))


def test_neighbours_on_other_nodes_and_those_that_have_ended_take_no_seat() -> None:
    elsewhere = pod_of("far", "other", priority=-1)
    ended = pod_of("done", "n", priority=-1, phase="Succeeded")
    answer = asked("decideBatch", pods=(*ALL, elsewhere, ended))
    assert reasons(*answer.decisions) == [
        "NoSeat", "Seated", "Seated", "PodOnOtherNode", "PodFinished",
    ]  # fmt: skip
    assert reasons(asked("decide", pod=LOW, neighbours=(HIGH, elsewhere)).decision) == ["Seated"]


def test_its_state_goes_out_in_the_report_and_comes_back_in_the_section() -> None:
    first = ask("decideBatch", of=WITH_SEATS, node=NODE, pods=ALL)
    assert first.reports.seats == SeatReport(crowded=True, next=SeatFacts(crowded_since=at(0)))
    assert first.decisions[0].holds_until == at(60)
    again = ask(
        "decideBatch",
        of=WITH_SEATS,
        node=NODE,
        pods=ALL,
        now=at(60),
        seats=first.reports.seats.next,
    )
    assert again.decisions[0].verdict is Verdict.EVICT_NOW


def test_each_eviction_has_words_of_its_own() -> None:
    decision = asked("decideBatch", pods=ALL).decisions[0]
    words = "3 pods for 2 seats"
    assert decision.eviction.status_message == decision.eviction.condition.message == words
    assert (decision.event.type, decision.event.message) == ("Warning", words)


def test_a_pod_s_own_grace_period_is_among_its_terms() -> None:
    finding = Unseated(NAME, Verdict.EVICT_NOW, "NoSeat", "full", grace_period_seconds=0)
    assert finding.terms is not None
    assert (finding.terms.grace_period_seconds, finding.terms.status_message) == (0, "full")


def test_words_that_others_add_are_not_written_into_the_status() -> None:
    other = Finding("other", Verdict.EVICT_NOW, "R", "and more", evict_at=at(0))
    own = Unseated(NAME, Verdict.EVICT_NOW, "NoSeat", "full", grace_period_seconds=3)
    joined = join((other, own))
    assert joined.message == "full; and more"
    assert joined.terms == own.terms
    assert joined.grace_period_seconds == 3
    assert join((replace(own, verdict=Verdict.KEEP), own)).terms == own.terms


class Forgetful(Round):
    """A system that evicts whoever it is asked about."""

    def of(self, pod: Pod) -> Finding:
        return Unseated(NAME, Verdict.EVICT_NOW, "NoSeat", "out")


def said(pod: Pod, *, by_node: bool = True, evict_ended: bool = False) -> str:
    options = Options(evict_ended_pods=evict_ended)
    scene = Scene((pod,), NOW, NODE)
    asking = Asking([(Named(NAME, by_node=by_node), Forgetful())], scene, options)
    (finding,) = asking.findings(pod)
    joined = asking.joined(pod)
    assert joined == finding
    return finding.reason


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (pod_of("p", "n"), "NoSeat"),
        (pod_of("p", ""), "NoSeat"),
        (pod_of("p", "n", phase="Failed"), "PodFinished"),
        (pod_of("p", "n", phase="Succeeded"), "PodFinished"),
        (pod_of("p", "n", deletion_timestamp=NOW), "PodTerminating"),
        (pod_of("p", "other"), "PodOnOtherNode"),
    ],
)
def test_what_no_system_can_forget(pod: Pod, reason: str) -> None:
    assert said(pod) == reason


def test_who_asks_for_it_has_ended_pods_judged_too() -> None:
    assert said(pod_of("p", "n", phase="Failed"), evict_ended=True) == "NoSeat"


def test_a_system_that_does_not_go_by_the_node_speaks_of_pods_elsewhere() -> None:
    assert said(pod_of("p", "other"), by_node=False) == "NoSeat"


def test_of_several_systems_each_says_it_for_itself() -> None:
    rounds = [(Named("a"), Forgetful()), (Named("b", by_node=False), Says(lambda _: None))]
    asking = Asking(rounds, Scene((), NOW, NODE), Options())
    assert [one.system for one in asking.findings(pod_of("p", "other"))] == ["a"]
    ended = asking.findings(pod_of("p", "n", phase="Failed"))
    assert [(one.system, one.reason) for one in ended] == [
        ("a", "PodFinished"),
        ("b", "PodFinished"),
    ]


def test_nobody_ranks_unless_a_system_says_so_of_the_node() -> None:
    assert WITH_SEATS.rank_on(NODE)
    assert not WITH_SEATS.rank_on(node_of("plain"))
    assert not WITH_SEATS.rank_on(None)
    assert not Systems((LIGHTS,)).rank_on(NODE)


def test_a_pod_that_is_alone_there_is_weighed_and_one_of_unknown_neighbours_is_not() -> None:
    asked = {"pod": LOW, "node": seating_node("n", 0), "of": WITH_SEATS}
    alone = ask("decide", neighbours=Neighbours(), seats=STATE, **asked).decision
    assert (alone.decided_by, alone.verdict) == (NAME, Verdict.EVICT_NOW)
    assert ask("decide", **asked).decision.verdict is Verdict.KEEP


def test_by_one_count_one_pod_goes_whatever_becomes_of_it() -> None:
    state = SeatFacts(crowded_since=at(-60), counted=3, counted_at=at(0))
    node = {"of": WITH_SEATS, "node": NODE}
    first = ask("decideBatch", pods=ALL, seats=state, **node)
    assert reasons(*first.decisions) == ["NoSeat", "Seated", "Seated"]
    left = replace(first.reports.seats.next, counted=3, counted_at=at(0))
    gone = ask("decideBatch", pods=ALL[1:], seats=left, **node)
    assert reasons(*gone.decisions) == ["Seated", "Seated"]
    counted = replace(left, counted_at=at(10))
    assert reasons(*ask("decideBatch", pods=ALL[1:], seats=counted, **node).decisions)[0] == (
        "NoSeat"
    )


def test_by_a_newer_count_nobody_else_goes_while_the_first_is_under_way() -> None:
    first = SeatFacts(
        at(-60), counted=3, counted_at=at(9), unseated=reference_to(LOW), unseated_by=at(0)
    )
    node = {"of": WITH_SEATS, "node": NODE}
    busy = replace(first, under_way=True)
    assert reasons(*ask("decideBatch", pods=ALL[1:], seats=busy, **node).decisions) == [
        "Seated",
        "Seated",
    ]
    (high, _) = ask("decideBatch", pods=ALL[1:], seats=first, **node).decisions
    assert high.findings[-1].reason == "NoSeat"
