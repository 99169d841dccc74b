"""What a pod has asked for, and may take: containers, sidecars, init containers, the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.pressure.allocation import as_allocated
from bailiff.decisions.pressure.requests import limit_of, request_of
from bailiff.kinds import Pod, decode
from bailiff.kinds.quantity import NANO


def asks(memory: str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"memory": memory}, "limits": {"memory": memory}}, **more}


def sidecar(memory: str) -> dict[str, Any]:
    return asks(memory, restartPolicy="Always")


def pod(**spec: Any) -> Pod:
    return decode(json.dumps({"spec": spec}).encode(), Pod)


CASES = [
    pytest.param({}, 0, id="nothing"),
    pytest.param({"containers": [asks("1"), asks("2")]}, 3, id="containers together"),
    pytest.param({"containers": [asks("1")], "initContainers": [asks("5")]}, 5, id="a larger init"),
    pytest.param({"containers": [asks("1")], "initContainers": [sidecar("5")]}, 6, id="a sidecar"),
    pytest.param(
        {"containers": [asks("1")], "initContainers": [sidecar("2"), asks("5")]},
        7,
        id="an init container with the sidecar before it",
    ),
    pytest.param(
        {"containers": [asks("1")], "initContainers": [asks("5"), sidecar("2")]},
        5,
        id="and not with the one after it",
    ),
    pytest.param({"containers": [asks("1")], "overhead": {"memory": "9"}}, 10, id="overhead"),
    pytest.param({"containers": [asks("0")], "overhead": {"memory": "9"}}, 0, id="of nothing"),
    pytest.param(
        {"containers": [asks("1")], "resources": {"requests": {"memory": "4"}}}, 4, id="as a whole"
    ),
    pytest.param(
        {"containers": [asks("1")], "resources": {"requests": {"cpu": "4"}}},
        0,
        id="whose cpu is asked for as a whole has asked for no memory",
    ),
]


@pytest.mark.parametrize(("spec", "memory"), CASES)
def test_requests(spec: dict[str, Any], memory: int) -> None:
    assert request_of(pod(**spec), "memory") == memory * NANO


@given(st.lists(st.integers(0, 9)), st.lists(st.tuples(st.booleans(), st.integers(0, 9))))
def test_requests_are_those_of_the_busiest_moment(
    own: list[int], started: list[tuple[bool, int]]
) -> None:
    stays = [memory if is_sidecar else 0 for is_sidecar, memory in started]
    moments = [sum(own) + sum(stays)]
    moments += [sum(stays[:place]) + memory for place, (_, memory) in enumerate(started)]
    one = pod(
        containers=[asks(str(memory)) for memory in own],
        initContainers=[
            (sidecar if is_sidecar else asks)(str(memory)) for is_sidecar, memory in started
        ],
    )
    assert request_of(one, "memory") == max(moments) * NANO


def test_disk_is_never_asked_for_as_a_whole() -> None:
    disk = {"requests": {"ephemeral-storage": "4"}}
    one = pod(containers=[{"resources": disk}], resources={"requests": {"ephemeral-storage": "9"}})
    assert request_of(one, "ephemeral-storage") == 4 * NANO


@pytest.mark.parametrize(
    ("spec", "limit"),
    [
        ({}, None),
        ({"containers": [asks("1Ki"), {}]}, "1Ki"),
        ({"containers": [asks("512"), asks("1Ki")]}, "1536"),
        ({"containers": [asks("1Ki"), asks("1Ki")]}, "2Ki"),
        ({"containers": [asks("1Ki")], "overhead": {"memory": "1Ki"}}, "2Ki"),
        ({"containers": [asks("1Ki")], "resources": {"limits": {"memory": "4Ki"}}}, "4Ki"),
    ],
)
def test_limits(spec: dict[str, Any], limit: str | None) -> None:
    found = limit_of(pod(**spec), "memory")
    assert (None if found is None else found.text) == limit


def test_a_resize_that_is_pending_does_not_count() -> None:
    body = {
        "spec": {"containers": [asks("8Gi", name="c"), asks("1", name="other")]},
        "status": {
            "containerStatuses": [
                {
                    "name": "c",
                    "allocatedResources": {"memory": "1Gi"},
                    "resources": {"limits": {"memory": "2Gi"}},
                },
                {"name": "gone", "allocatedResources": {"memory": "9Gi"}},
            ]
        },
    }
    granted = as_allocated(decode(json.dumps(body).encode(), Pod))
    resources = [one.resources for one in granted.spec.containers]
    assert [one.requests["memory"] for one in resources] == ["1Gi", "1"]
    assert [one.limits["memory"] for one in resources] == ["2Gi", "1"]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"allocatedResources": {"memory": "1"}},
        {"allocatedResources": {"memory": "1"}, "resources": {"limits": {"memory": "1"}}},
        {"resources": {"limits": {"memory": "2"}}},
    ],
)
def test_where_the_status_tells_nothing_else_the_pod_is_the_very_same(told: dict[str, Any]) -> None:
    body = {
        "spec": {"containers": [asks("1", name="c")], "initContainers": [asks("1", name="i")]},
        "status": {
            "containerStatuses": [{"name": "c", **told}],
            "initContainerStatuses": [{"name": "i", **told}],
        },
    }
    one = decode(json.dumps(body).encode(), Pod)
    assert as_allocated(one) is one
