"""Since when a node is lost: by elapsed time, whatever any clock says."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.decisions.node_loss.silence import Moment, Vigil
from bailiff.decisions.node_loss.standing import NodeState
from bailiff.kinds import Node
from bailiff.kinds.lease import Lease
from tests.unit.decisions.node_loss.scene import NOW, at

SETTINGS = NodeLossSettings()
SILENT = SETTINGS.silent_after


def node(ready: str = "True", since: int = 0) -> Node:
    condition = {"type": "Ready", "status": ready}
    condition["lastTransitionTime"] = at(NOW + timedelta(seconds=since))
    body = {"metadata": {"name": "n1"}, "status": {"conditions": [condition]}}
    return msgspec.convert(body, Node)


def lease(second: float) -> Lease:
    return msgspec.convert({"spec": {"renewTime": at(NOW + timedelta(seconds=second))}}, Lease)


class Watching:
    """A vigil, told of what happens second by second."""

    def __init__(self) -> None:
        self.vigil = Vigil("uid")

    def see(
        self, second: float, renewed: float | None, ready: str = "True", step: float = 0.0
    ) -> NodeState:
        now = NOW + timedelta(seconds=second + step)
        told = None if renewed is None else lease(renewed)
        return self.vigil.see(node(ready), told, Moment(now, second), SETTINGS)


def test_a_node_is_silent_so_long_after_its_last_sign_of_life():
    watching = Watching()
    assert watching.see(0, 0) is NodeState.READY
    assert watching.see(10, 10) is NodeState.READY
    assert watching.see(10 + SILENT - 0.1, 10) is NodeState.READY
    assert watching.see(10 + SILENT, 10) is NodeState.SILENT
    assert watching.vigil.lost_for(10 + SILENT + 7) == 7


def test_it_lives_again_with_the_next_sign_and_its_time_is_forgotten():
    watching = Watching()
    watching.see(0, 0)
    assert watching.see(100, 0) is NodeState.SILENT
    assert watching.see(101, 101) is NodeState.READY
    assert watching.vigil.lost_for(200) == 0
    assert watching.see(300, 101) is NodeState.SILENT
    assert watching.vigil.lost_for(310) == 10


def test_the_first_look_at_a_node_that_is_not_ready_proves_no_life():
    watching = Watching()
    assert watching.see(0, 0, "Unknown") is NodeState.UNKNOWN
    assert watching.see(1, 1, "Unknown") is NodeState.LEASE_RENEWED
    assert watching.see(1 + SILENT, 1, "Unknown") is NodeState.UNKNOWN


def test_the_first_look_at_one_that_is_ready_is_believed_and_no_more():
    watching = Watching()
    watching.see(0, 0)
    assert not watching.vigil.is_known
    watching.see(10, 10)
    assert watching.vigil.is_known


@pytest.mark.parametrize("ready", ["False", "Unknown"])
def test_whether_a_node_lives_that_was_lost_before_the_first_look_is_known_later(ready):
    watching = Watching()
    watching.see(0, 0, ready)
    watching.see(SILENT - 1, 0, ready)
    assert not watching.vigil.is_known
    watching.see(SILENT, 0, ready)
    assert (watching.vigil.is_known, watching.vigil.lives) == (True, False)


def test_the_first_sign_of_life_tells_too():
    watching = Watching()
    watching.see(0, 0, "False")
    watching.see(10, 10, "False")
    assert (watching.vigil.is_known, watching.vigil.lives) == (True, True)


def test_one_that_is_known_to_have_been_silent_is_known_at_once():
    watching = Watching()
    watching.vigil.condemn(node(), lease(0))
    assert watching.see(0, 0) is NodeState.SILENT
    assert (watching.vigil.is_known, watching.vigil.lives) == (True, False)


def test_what_was_before_its_time_started_over_is_not_brought_back():
    watching = Watching()
    watching.see(0, 0)
    watching.see(100, 0)
    watching.vigil.start_anew(200)
    watching.vigil.resume(500, 210)
    assert watching.vigil.lost_for(210) == 10


def test_a_kubelet_that_says_it_is_not_ready_is_lost_though_it_renews():
    watching = Watching()
    for second in range(0, 60, 10):
        assert watching.see(second, second, "False") is NodeState.NOT_READY
    assert (watching.vigil.lives, watching.vigil.lost_for(60)) == (True, 60)


def test_a_node_without_a_lease_is_known_by_its_condition_alone():
    watching = Watching()
    assert watching.see(0, None) is NodeState.READY
    assert watching.see(10_000, None) is NodeState.READY
    assert watching.see(10_001, None, "Unknown") is NodeState.UNKNOWN


def test_a_lease_that_goes_away_is_no_sign_of_life():
    watching = Watching()
    watching.see(0, 0)
    watching.see(40, None)
    assert watching.vigil.peek(node(), None, SILENT, SETTINGS) == (NodeState.SILENT, False)
    assert watching.see(SILENT, None) is NodeState.SILENT
    assert watching.see(51, 0) is NodeState.READY  # it has come back, which is a sign
    assert watching.see(51 + SILENT, 0) is NodeState.SILENT


def test_peeking_keeps_nothing():
    watching = Watching()
    watching.see(0, 0)
    assert watching.vigil.peek(node(), lease(0), 100, SETTINGS) == (NodeState.SILENT, False)
    assert watching.vigil.state is NodeState.READY
    assert watching.vigil.peek(node(), lease(99), 100, SETTINGS) == (NodeState.READY, True)
    assert watching.see(100, 0) is NodeState.SILENT


STEPS = st.lists(st.floats(-90_000, 90_000), min_size=1, max_size=20)


@given(STEPS)
def test_no_step_of_the_wall_clock_makes_the_time_shorter_or_longer(steps):
    watching = Watching()
    watching.see(0, 0)
    for index, step in enumerate(steps):
        watching.see(SILENT + 10 * index, 0, step=step)
    last = SILENT + 10 * (len(steps) - 1)
    assert watching.vigil.lost_for(last) == last - SILENT
    # What is told is the same span, by the wall clock as it is now.
    moment = Moment(NOW + timedelta(seconds=last + steps[-1]), last)
    since = watching.vigil.lost_since(moment)
    assert since is not None
    assert abs((moment.now - since).total_seconds() - (last - SILENT)) <= 2.0


@given(
    st.lists(
        st.tuples(st.floats(0.1, 49.0), st.integers(-1_000_000, 1_000_000)), min_size=1, max_size=30
    )
)
def test_a_node_that_renews_often_enough_is_never_silent_whatever_its_clock_says(renewals):
    watching = Watching()
    second, last = 0.0, 0.0
    watching.see(0, 0)
    for pause, told in renewals:
        second += pause
        # Two renewals never tell the same time: even a clock that is set goes on.
        last = told if told != last else told + 1
        assert watching.see(second, last) is NodeState.READY


def test_the_instant_that_is_told_stays_where_clocks_go_together():
    watching = Watching()
    watching.see(0, 0)
    watching.see(SILENT, 0)
    told = {
        watching.vigil.lost_since(Moment(NOW + timedelta(seconds=s + 0.1 * (s % 2)), s))
        for s in range(int(SILENT), 500)
    }
    assert len(told) == 1
