"""What a node's annotation remembers, and when that is believed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.node_loss.memory import NodeLossMemory, memory_of
from bailiff.decisions.node_loss.standing import NodeState
from tests.unit.decisions.node_loss.scene import NOW
from tests.unit.decisions.node_loss.test_silence import lease, node

if TYPE_CHECKING:
    from bailiff.kinds import Node
    from bailiff.kinds.lease import Lease

SINCE = NOW - timedelta(seconds=200)
LATER = NOW + timedelta(seconds=1)
LOST = {"True": NodeState.SILENT, "False": NodeState.NOT_READY, "Unknown": NodeState.UNKNOWN}


def memory(**fields: Any) -> NodeLossMemory:
    told: dict[str, Any] = {"uid": "uid", "since": SINCE, "renewed": NOW, "transition": NOW}
    return NodeLossMemory(**told | fields)


def seen(ready: str = "Unknown", transition: int = 0) -> Node:
    found = node(ready, transition)
    return replace(found, metadata=replace(found.metadata, uid="uid"))


def holds(told: NodeLossMemory, one: Node, its: Lease | None) -> bool:
    ready = one.status.conditions[0].status
    return told.holds_of(one, its, LOST[ready], NOW)


def test_it_goes_on_where_the_last_one_stopped():
    assert holds(memory(), seen(), lease(0))
    assert memory().lost_for(NOW) == 200


@pytest.mark.parametrize(
    ("told", "one", "its"),
    [
        pytest.param(memory(uid="other"), seen(), lease(0), id="another node of its name"),
        pytest.param(memory(since=LATER), seen(), lease(0), id="it lies in the future"),
        pytest.param(memory(), seen(), lease(1), id="its Lease was renewed since"),
        pytest.param(memory(), seen("False", 1), lease(0), id="it was ready in between"),
        pytest.param(memory(), seen(), None, id="it has no Lease any more"),
        pytest.param(memory(renewed=None), seen(), lease(0), id="it has a Lease now"),
        pytest.param(
            memory(renewed=None), seen("Unknown", 1), None, id="no Lease, and ready in between"
        ),
        pytest.param(
            memory(renewed=None, transition=None), seen(), None, id="nothing tells of it at all"
        ),
    ],
)
def test_it_is_not_believed(told, one, its):
    assert not holds(told, one, its)


def test_of_a_node_that_is_not_lost_it_says_nothing():
    assert not memory().holds_of(seen("True"), lease(0), NodeState.READY, NOW)


def test_a_kubelet_that_is_not_ready_may_renew_meanwhile():
    assert holds(memory(), seen("False"), lease(99))


def test_a_node_without_a_lease_is_known_by_its_condition():
    assert holds(memory(renewed=None), seen(), None)


def test_where_its_time_had_not_begun_it_begins_with_whoever_reads_it():
    told = memory(since=None)
    assert holds(told, seen(), lease(0))
    assert told.lost_for(NOW) == 0


@pytest.mark.parametrize(
    ("told", "its", "condemned"),
    [
        (memory(silent=True), lease(0), True),
        (memory(silent=True), lease(1), False),
        (memory(silent=False), lease(0), False),
        (memory(silent=True, uid="other"), lease(0), False),
        (memory(silent=True), None, False),
        (memory(silent=True, renewed=None), None, False),
    ],
)
def test_who_is_known_to_have_been_silent(told, its, condemned):
    assert told.condemns(seen(), its) is condemned


def test_what_it_says_is_what_is_read():
    told = memory(released=NOW, fenced="http", distrust="why", state="Silent", silent=True)
    assert memory_of(told.text()) == told
    assert len(told.text()) < 512


def test_the_longest_is_read():
    told = memory(released=NOW, fenced="command", distrust='"' * 300, state="Silent", silent=True)
    assert memory_of(told.text()) == told


@given(st.text(max_size=2000))
def test_whatever_stands_there_is_read_or_counts_for_nothing(text):
    found = memory_of(text)
    assert found is None or isinstance(found, NodeLossMemory)


def test_what_is_too_long_counts_for_nothing():
    assert memory_of(memory().text() + " " * 1024) is None


def test_a_note_is_written_anew_where_a_restart_would_go_on_otherwise():
    same = memory(since=SINCE + timedelta(seconds=2), renewed=None)
    assert memory().says_the_same(same)
    for other in (
        memory(since=SINCE + timedelta(seconds=10)),
        memory(since=None),
        memory(released=NOW),
        memory(fenced="http"),
        memory(distrust="why"),
        memory(silent=True),
        memory(state="Silent"),
    ):
        assert not memory().says_the_same(other)
        assert not other.says_the_same(memory())
    assert memory(since=None).says_the_same(memory(since=None))
