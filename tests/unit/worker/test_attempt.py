"""One attempt, step by step: what is sent, in which order, and what it comes to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bailiff.cluster import ConflictError, DryRunUnsupportedError, ForbiddenError
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.timers.eviction import By
from tests.harness.attempt_scene import GO, LATER, LATER_STILL, OF_DEVICES, STAY, WRITTEN, Scene
from tests.harness.clocks import START


def test_the_condition_is_written_and_the_version_that_comes_back_is_deleted():
    scene = Scene()
    assert scene.make() is Outcome.DELETED
    assert scene.sent == ["patch", "delete 6"]
    assert scene.condition is not None
    assert (scene.condition.type, scene.condition.status) == ("DisruptionTarget", "True")
    assert (scene.eviction.by, scene.eviction.marked) == (By.DELETE, True)


@pytest.mark.parametrize(
    ("says", "outcome", "revoked"),
    [
        pytest.param(STAY, Outcome.KEPT, "stay", id="may stay"),
        pytest.param(None, Outcome.KEPT, "nobody knows web", id="nothing is said"),
        pytest.param(LATER, Outcome.PUT_OFF, "", id="not yet, by a clock put right"),
        pytest.param(LATER_STILL, Outcome.KEPT, "later", id="its deadline has moved"),
    ],
)
def test_what_speaks_against_it_beforehand_ends_it_with_nothing_sent(says, outcome, revoked):
    scene = Scene()
    scene.says["5"] = says
    assert scene.make() is outcome
    assert (scene.sent, scene.eviction.revoked, scene.eviction.marked) == ([], revoked, False)


def test_one_that_was_revoked_is_not_begun_whatever_is_found():
    scene = Scene()
    scene.eviction.revoked = "the taint has gone"
    assert scene.make() is Outcome.KEPT
    assert (scene.sent, scene.eviction.revoked) == ([], "the taint has gone")
    assert scene.nodes == []


@pytest.mark.parametrize(
    "ended",
    [
        replace(WRITTEN, status=replace(WRITTEN.status, phase="Succeeded")),
        replace(WRITTEN, metadata=replace(WRITTEN.metadata, deletion_timestamp=START)),
    ],
    ids=["finished", "terminating"],
)
def test_a_pod_that_turns_out_to_have_ended_is_not_deleted(ended):
    scene = Scene()
    scene.answer = ended
    scene.says["6"] = STAY
    assert scene.make() is Outcome.ENDED
    assert scene.sent == ["patch"]


@pytest.mark.parametrize(
    ("at_first", "fresh", "outcome"),
    [
        pytest.param(GO, STAY, Outcome.CONFLICT, id="the watch has not told that it may stay"),
        pytest.param(GO, LATER_STILL, Outcome.CONFLICT, id="the watch has not told of its time"),
        pytest.param(GO, LATER, Outcome.PUT_OFF, id="the clock was put right meanwhile"),
    ],
)
def test_the_answer_to_the_condition_is_the_last_word(at_first, fresh, outcome):
    scene = Scene()
    scene.says = {"5": at_first, "6": fresh}
    assert scene.make() is outcome
    assert (scene.sent, scene.eviction.marked, scene.eviction.revoked) == (["patch"], True, "")


def test_a_pod_that_all_know_to_stay_by_now_is_kept():
    scene = Scene()
    written = scene._send

    def meanwhile(what: str) -> None:
        written(what)
        scene.says = {"5": STAY, "6": STAY}

    scene._send = meanwhile  # type: ignore[method-assign]  # the taint goes while it is written
    assert scene.make() is Outcome.KEPT
    assert (scene.sent, scene.eviction.revoked) == (["patch"], "stay")


def test_a_pod_that_changes_after_its_condition_was_written_is_not_deleted():
    scene = Scene()
    scene.failures["delete"] = ConflictError("changed", status=409)
    with pytest.raises(ConflictError):
        scene.make()
    assert scene.sent == ["patch", "delete 6"]


# Where the watch of nodes may be behind.


@pytest.mark.parametrize(
    ("on_node", "outcome", "sent"),
    [
        (GO, Outcome.DELETED, ["patch", "delete 6"]),
        (STAY, Outcome.CONFLICT, []),
        (None, Outcome.CONFLICT, []),
    ],
)
def test_the_node_that_was_read_decides_before_anything_is_sent(on_node, outcome, sent):
    scene, names = Scene(), list[str]()
    scene.read_nodes(names)
    scene.on_node = on_node
    assert scene.make() is outcome
    assert (scene.sent, names, scene.eviction.revoked) == (sent, ["n1"], "")


def test_the_last_word_is_by_the_node_that_was_read():
    scene = Scene()
    scene.read_nodes([])
    assert scene.make() is Outcome.DELETED
    assert [node is not None for node in scene.nodes] == [False, True, True]


def test_for_taints_of_devices_no_node_is_read():
    scene, names = Scene(OF_DEVICES), list[str]()
    scene.read_nodes(names)
    scene.on_node = STAY
    assert scene.make() is Outcome.DELETED
    assert names == []


# After a denial.


@pytest.mark.parametrize("denied", [0, 1, 5])
def test_what_was_denied_is_asked_for_before_it_is_announced_again(denied):
    scene = Scene()
    for _ in range(denied):
        scene.eviction.count_failure("denied")
    assert scene.make() is Outcome.DELETED
    assert scene.sent == (["try 5"] if denied else []) + ["patch", "delete 6"]


def test_what_is_still_denied_is_not_announced():
    scene = Scene()
    scene.eviction.count_failure("denied")
    scene.failures["try"] = ForbiddenError("no", status=403)
    with pytest.raises(ForbiddenError):
        scene.make()
    assert (scene.sent, scene.eviction.marked) == (["try 5"], False)


def test_where_a_webhook_cannot_be_asked_the_delete_asks_it():
    scene = Scene()
    scene.eviction.count_failure("denied")
    scene.failures["try"] = DryRunUnsupportedError("no dry run", status=400)
    assert scene.make() is Outcome.DELETED
    assert scene.sent == ["try 5", "patch", "delete 6"]
