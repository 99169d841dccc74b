from __future__ import annotations

import pytest

from bailiff_demo.errors import ApiError
from bailiff_demo.resources import EVENTS, NODES, PODS, Resource
from bailiff_demo.settings import DemoSettings
from bailiff_demo.store import Store
from tests.unit.demo.api import HandClock


def store(**bounds: int) -> Store:
    return Store(HandClock(), DemoSettings(**bounds))


def fill(target: Store, *names: str, resource: Resource = PODS, namespace: str = "d") -> None:
    for name in names:
        target.insert(resource, {"metadata": {"name": name, "namespace": namespace}})


def test_versions_rise_over_all_resources() -> None:
    s = store()
    fill(s, "a")
    record = s.insert(NODES, {"metadata": {"name": "n"}})
    assert record.version == s.version == 3
    gone = s.remove(NODES, record)
    assert gone.object["metadata"]["resourceVersion"] == str(s.version) == "4"
    assert record.object["metadata"]["resourceVersion"] == "3"


def test_records_are_in_order_of_namespace_and_name() -> None:
    s = store()
    for namespace, name in [("b", "a"), ("a", "z"), ("a-b", "c"), ("a", "b")]:
        fill(s, name, namespace=namespace)
    assert s.bucket(PODS).keys() == [("a", "b"), ("a", "z"), ("a-b", "c"), ("b", "a")]
    assert [r.key[1] for r in s.bucket(PODS).records("a")] == ["b", "z"]


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


def test_a_forgotten_history_answers_410_but_now_is_fine() -> None:
    s = store()
    fill(s, "a")
    with s.watch(PODS) as watch:
        s.forget()
    assert watch.ended
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
    fill(s, "e9", "e1", "e5", "e7", resource=EVENTS)
    assert [r.key[1] for r in s.bucket(EVENTS).records()] == ["e1", "e5", "e7"]
