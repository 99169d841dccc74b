"""The same Event told twice is one object; another occurrence is another."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.actions.event_bodies import Regarding
from bailiff.actions.event_names import EventNames
from bailiff.decisions import EventNote
from bailiff.worker import ClusterActions
from tests.harness.clocks import START
from tests.harness.kinds import pod_of
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path


def regarding(name: str, uid: str) -> Regarding:
    return Regarding(api_version="v1", kind="Pod", name=name, namespace="default", uid=uid)


NOTE = EventNote("Normal", "TaintManagerEviction", "Marking for deletion")
POD = pod_of("web", "n1", uid="u1")
TOLD: dict[str, Any] = {
    "about": regarding("web", "u1"),
    "note": NOTE,
    "at": START,
    "component": "taint-eviction-controller",
}
OTHERS: list[dict[str, Any]] = [
    {"about": regarding("web", "u2")},
    {"note": EventNote("Warning", "TaintManagerEviction", "Marking for deletion")},
    {"note": EventNote("Normal", "EvictionDenied", "Marking for deletion")},
    {"note": EventNote("Normal", "TaintManagerEviction", "Cancelling deletion")},
    {"component": "device-taint-eviction-controller"},
    {"at": START + timedelta(minutes=10)},
]


def test_two_workers_that_tell_the_same_at_about_one_time_name_it_alike() -> None:
    later = TOLD | {"at": START + timedelta(seconds=20)}
    assert EventNames().next(**TOLD) == EventNames().next(**later)


@pytest.mark.parametrize("changed", OTHERS, ids=lambda changed: next(iter(changed)))
def test_whatever_else_is_told_has_another_name(changed: dict[str, Any]) -> None:
    assert EventNames().next(**TOLD) != EventNames().next(**TOLD | changed)


def test_what_is_told_of_a_node_after_a_restart_has_another_name() -> None:
    """A transition, a worker that ends, and the same transition two minutes later are two."""
    told = TOLD | {"about": Regarding(api_version="v1", kind="Node", name="n1", uid="u1")}
    later = told | {"at": START + timedelta(seconds=120)}
    assert EventNames().next(**told) != EventNames().next(**later)


def test_one_worker_that_tells_it_again_tells_of_another_occurrence() -> None:
    one, other = EventNames(), EventNames()
    names = [one.next(**TOLD) for _ in range(3)]
    assert len(set(names)) == 3
    assert [other.next(**TOLD) for _ in range(3)] == names


def test_the_longest_name_of_a_pod_leaves_room_for_the_suffix() -> None:
    name = EventNames().next(**TOLD | {"about": regarding("x" * 253, "u1")})
    assert len(name) == 253
    assert name.startswith("x" * 236 + ".")


def test_what_was_told_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.actions.event_names._CAPACITY", 2)
    names = EventNames()
    first = names.next(**TOLD)
    for number in range(2):
        names.next(**TOLD | {"component": str(number)})
    assert names.next(**TOLD) == first


async def test_an_event_that_is_there_already_counts_as_written(tmp_path: Path) -> None:
    told: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        name = (await request.json())["metadata"]["name"]
        told.append(name)
        reason = {"reason": "AlreadyExists"}
        return web.json_response(reason if told.count(name) > 1 else {}, status=409)

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        first, second = (ClusterActions(cluster, instance=name) for name in ("a", "b"))
        with pytest.raises(k8s.ConflictError):
            await first.record(POD, NOTE, START, "taint-eviction-controller")
        await second.record(POD, NOTE, START, "taint-eviction-controller")
    assert len(set(told)) == 1
