"""What is said of the pods of a lost node besides the rule that counts."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from bailiff.decisions import SYSTEMS, Options, Verdict
from bailiff.decisions.cost import FactsError
from tests.unit.decisions.node_loss.scene import (
    DB,
    JUST_NOW,
    LIVES,
    LONG_AGO,
    NOW,
    OFF,
    WELL,
    Asked,
    a_lease,
    a_pod,
    at,
    ending,
    with_claim,
)


def test_a_pod_goes_with_the_words_of_the_real_controller():
    asked = Asked(pods=(a_pod("web"),))
    (decision,) = asked.answer().decisions
    assert decision.event.reason == "NodeControllerEviction"
    assert decision.event.message == "Marking for deletion Pod web from Node n1"
    assert decision.eviction.status_reason == "NodeLost"
    expected = "Node n1 which was running pod web is unresponsive"
    assert decision.eviction.status_message == expected


def test_pods_that_go_for_the_same_each_have_their_own_name_in_it():
    asked = Asked(pods=tuple(a_pod(name) for name in ("web", "api", "job")))
    messages = [one.event.message for one in asked.answer().decisions]
    assert messages == [f"Marking for deletion Pod {x} from Node n1" for x in ("web", "api", "job")]
    told = [one.eviction.status_message for one in asked.answer().decisions]
    assert [text.split()[6] for text in told] == ["web", "api", "job"]


def test_the_words_of_the_documents_are_a_setting():
    asked = Asked(pods=(a_pod(),), facts={"settings": {"reason": "NodeUnreachable"}})
    assert asked.answer().decisions[0].eviction.status_reason == "NodeUnreachable"


@pytest.mark.parametrize(("ready", "lasts"), [("Unknown", 300), ("False", 300)])
def test_the_deadline_is_counted_from_when_it_was_lost(ready, lasts):
    found = Asked(ready=ready, since=JUST_NOW).of()
    assert found.evict_at == JUST_NOW + timedelta(seconds=lasts)
    assert found.holds_until == found.evict_at


def test_a_pod_that_came_after_the_node_was_lost_has_its_time_from_then_on():
    """Else it would be evicted as soon as it came, and replaced there without end."""
    came = NOW - timedelta(seconds=100)
    pod = a_pod(metadata={"creationTimestamp": at(came)})
    found = Asked(facts={"zones": WELL, "released": True, "proof": OFF}).of(pod)
    until = came + timedelta(seconds=300)
    assert (found.verdict, found.evict_at) == (Verdict.EVICT_AT, until)
    assert found.message.endswith("; the pod came later, and has until 2026-01-01T12:03:20Z")
    later = Asked(facts={"proof": OFF}, now=NOW + timedelta(seconds=200)).of(pod)
    assert (later.verdict, later.reason) == (Verdict.EVICT_NOW, "NodeOff")


def test_a_silent_node_is_lost_from_when_it_fell_silent():
    renewed = NOW - timedelta(seconds=100)
    found = Asked(ready="True", facts={"lease": {"spec": {"renewTime": at(renewed)}}}).of()
    assert found.evict_at == renewed + timedelta(seconds=50 + 300)


def test_a_ready_node_may_be_silent_soon():
    found = Asked(ready="True", facts={"lease": LIVES}).of()
    assert found.holds_until == NOW + timedelta(seconds=45)


def test_a_node_whose_condition_has_no_time_is_lost_from_now_on():
    asked = Asked(ready="")
    found = asked.of()
    assert (found.verdict, found.counted_from_now) == (Verdict.EVICT_AT, True)
    assert found.evict_at == NOW + timedelta(seconds=300)


def test_the_reason_why_a_pod_is_stuck_says_what_would_release_it():
    found = Asked().of(ending(DB))
    assert "StatefulSet of-db-0" in found.message
    assert "node.kubernetes.io/out-of-service" in found.message
    assert "volume claim disk" in Asked().of(ending(with_claim("files", "disk"))).message


def test_the_trace_tells_of_the_node_and_why_all_stay():
    found = Asked(facts={"contradiction": "why"}).of()
    assert [(one.rule, one.outcome) for one in found.trace] == [
        ("NodeState", "Unknown"),
        ("Node", "Contradiction"),
    ]
    assert found.trace[0].deadline == LONG_AGO + timedelta(seconds=300)


def test_nobody_is_judged_unasked():
    question = SYSTEMS.questions["decide"]
    body = {
        "pod": msgspec.to_builtins(a_pod()),
        "node": msgspec.to_builtins(Asked().node),
        "now": at(NOW),
    }
    answer = question.ask(msgspec.convert(body, question.facts), NOW, Options())
    assert [one.system for one in answer.decision.findings] == ["node-taints"]


def test_the_lease_of_another_node_is_refused():
    asked = Asked(pods=(a_pod(),), facts={"lease": {"metadata": {"name": "n2"}}})
    with pytest.raises(FactsError, match="must be the Lease of node n1") as raised:
        asked.answer()
    assert raised.value.path == "$.nodeLoss.lease.metadata.name"


def test_a_lease_of_the_node_counts():
    assert a_lease(NOW).metadata.name == "n1"
