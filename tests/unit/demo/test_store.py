from __future__ import annotations

import pytest

from bailiff.embedded.errors import ApiError
from bailiff.embedded.resources import EVENTS, NODES, PODS
from bailiff.embedded.settings import EmbeddedSettings
from bailiff.embedded.storage import Store
from tests.unit.embedded.api import HandClock


def store(**bounds: int) -> Store:
    return Store(HandClock(), EmbeddedSettings(**bounds))


def fill(target: Store, *names: str, resource: str = "pods") -> None:
    for name in names:
        target.create(resource, {"metadata": {"name": name, "namespace": "d"}})


def test_versions_rise_over_all_resources() -> None:
    s = store()
    first = s.create("pods", {"metadata": {"name": "a", "namespace": "d"}})
    second = s.create("nodes", {"metadata": {"name": "n"}})
    versions = [int(o["metadata"]["resourceVersion"]) for o in (first, second)]
    assert versions == [s.version - 1, s.version]
    assert s.delete("nodes", "n")["metadata"]["resourceVersion"] == str(s.version)


def test_callers_cannot_change_what_is_stored() -> None:
    s = store()
    given = {"metadata": {"name": "a", "namespace": "d", "labels": {"x": "1"}}}
    s.create("pods", given)["metadata"]["labels"]["x"] = "2"
    given["metadata"]["labels"]["x"] = "3"  # type: ignore[index]  # it is a dict
    s.list("pods")[0]["metadata"]["labels"]["x"] = "4"
    assert s.get("pods", "a", "d")["metadata"]["labels"] == {"x": "1"}


def test_lists_are_in_order_of_namespace_and_name() -> None:
    s = store()
    for namespace, name in [("b", "a"), ("a", "z"), ("a-b", "c"), ("a", "b")]:
        s.create("pods", {"metadata": {"name": name, "namespace": namespace}})
    keys = [(o["metadata"]["namespace"], o["metadata"]["name"]) for o in s.list("pods")]
    assert keys == [("a", "b"), ("a", "z"), ("a-b", "c"), ("b", "a")]
    assert [o["metadata"]["name"] for o in s.list("pods", "a")] == ["b", "z"]


def test_a_snapshot_is_the_state_at_its_version() -> None:
    s = store()
    fill(s, "a", "b")
    s.update("pods", {"metadata": {"name": "b", "namespace": "d", "labels": {"then": "yes"}}})
    then = s.version
    fill(s, "c")
    s.delete("pods", "a", "d")
    s.update("pods", {"metadata": {"name": "b", "namespace": "d"}})
    snapshot = s.bucket(PODS).snapshot(then)
    assert sorted(name for _, name in snapshot) == ["a", "b"]
    assert snapshot["d", "b"].labels == {"then": "yes"}


def test_history_is_bounded_and_says_410_beyond() -> None:
    s = store(history=3)
    fill(s, "a", "b", "c", "d", "e")
    with pytest.raises(ApiError) as caught:
        s.watch(PODS, 1)
    assert (caught.value.code, caught.value.reason) == (410, "Expired")
    assert [c.record.key[1] for c in s.watch(PODS, s.version - 3).read()] == ["c", "d", "e"]
    # Others' changes do not push a quiet resource's history out.
    assert s.watch(NODES, 1).read() == []


def test_a_reader_that_falls_behind_gets_410_and_holds_nobody_up() -> None:
    s = store(history=3)
    watch = s.watch(PODS)
    fill(s, "a", "b", "c")
    assert len(watch.read()) == 3
    fill(s, "d", "e", "f", "g")
    with pytest.raises(ApiError) as caught:
        watch.read()
    assert caught.value.code == 410


def test_a_compacted_history_answers_410_but_now_is_fine() -> None:
    s = store()
    fill(s, "a")
    s.compact()
    with pytest.raises(ApiError):
        s.watch(PODS, s.version - 1)
    assert s.watch(PODS, s.version).read() == []


def test_the_number_of_objects_is_bounded() -> None:
    s = store(max_objects=2)
    fill(s, "a", "b")
    with pytest.raises(ApiError) as caught:
        fill(s, "c")
    assert caught.value.code == 403


def test_the_oldest_events_go_first() -> None:
    s = store(max_events=3)
    fill(s, "e9", "e1", "e5", "e7", resource="events")
    assert [o["metadata"]["name"] for o in s.list("events")] == ["e1", "e5", "e7"]
    assert len(s.bucket(EVENTS)) == 3
