"""What a node's annotation remembers, and when that is believed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.node_loss.memory import NodeLossMemory, memory_of
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.decisions.node_loss.silence import Moment, Vigil
from tests.unit.decisions.node_loss.scene import NOW
from tests.unit.decisions.node_loss.test_silence import lease, node

SINCE = NOW - timedelta(seconds=200)


def vigil_of(ready: str = "Unknown", renewed: float = 0, transition: int = 0) -> Vigil:
    vigil = Vigil("uid")
    vigil.see(node(ready, transition), lease(renewed), Moment(NOW, 0), NodeLossSettings())
    return vigil


def memory(**fields: Any) -> NodeLossMemory:
    told: dict[str, Any] = {"uid": "uid", "since": SINCE, "renewed": NOW, "transition": NOW}
    return NodeLossMemory(**told | fields)


def test_it_goes_on_where_the_last_one_stopped():
    assert memory().lost_for(vigil_of(), NOW) == 200


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        pytest.param(memory(uid="other"), vigil_of(), id="another node of its name"),
        pytest.param(memory(since=NOW + timedelta(1)), vigil_of(), id="it lies in the future"),
        pytest.param(memory(), vigil_of("True"), id="the node is not lost"),
        pytest.param(memory(), vigil_of(renewed=1), id="its Lease was renewed since"),
        pytest.param(memory(), vigil_of("False", transition=1), id="it was ready in between"),
    ],
)
def test_it_is_not_believed(told, seen):
    assert told.lost_for(seen, NOW) is None


def test_a_kubelet_that_is_not_ready_may_renew_meanwhile():
    assert memory().lost_for(vigil_of("False", renewed=99), NOW) == 200


def test_what_it_says_is_what_is_read():
    told = memory(released=NOW, fenced="http", tainted=True, state="Silent")
    assert memory_of(told.text()) == told
    assert len(told.text()) < 512


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
        memory(released=NOW),
        memory(fenced="http"),
        memory(tainted=True),
        memory(state="Silent"),
    ):
        assert not memory().says_the_same(other)
