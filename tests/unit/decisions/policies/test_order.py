"""Which pod goes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.policies import DrainOrder, rank
from bailiff.decisions.policies.order import is_daemon
from bailiff.kinds import Annotations, OwnerReference, Pod, decode
from tests.harness.kinds import pod_of

NO_ANNOTATIONS = Annotations()
START = datetime(2026, 1, 1, tzinfo=UTC)


def ranked(
    name: str = "p",
    priority: int = 0,
    age: int = 0,
    owner: OwnerReference | None = None,
    annotations: Annotations = NO_ANNOTATIONS,
) -> Pod:
    return pod_of(
        name,
        priority=priority,
        creation_timestamp=START - timedelta(hours=age),
        owner_references=(owner,) if owner else (),
        annotations=annotations,
    )


DAEMON = OwnerReference(api_version="apps/v1", kind="DaemonSet", controller=True)
IN_ORDER = (
    ranked("low", -10, age=9),
    ranked("young", 0, age=1),
    ranked("old", 0, age=2),
    ranked("high", 1_999_999_999, age=1),
    ranked("daemon", 0, owner=DAEMON),
    ranked("static", 5, annotations=Annotations(config_source="file")),
    ranked("critical", 2_000_000_000, age=1),
)


def test_priority_puts_what_matters_least_first() -> None:
    for mixed in list(permutations(IN_ORDER))[::97]:
        ordered = sorted(mixed, key=lambda one: rank(one, DrainOrder.PRIORITY))
        assert [one.metadata.name for one in ordered] == [one.metadata.name for one in IN_ORDER]


def test_due_keeps_the_order_of_deadlines() -> None:
    assert len({rank(one, DrainOrder.DUE) for one in IN_ORDER}) == 1


def test_a_pod_without_a_time_of_creation_has_a_rank_too() -> None:
    assert rank(Pod(), DrainOrder.PRIORITY) > rank(ranked(), DrainOrder.PRIORITY)


@pytest.mark.parametrize(
    ("annotations", "priority", "critical"),
    [
        ("{}", 0, False),
        ("{}", 1_999_999_999, False),
        ("{}", 2_000_000_000, True),
        ('{"kubernetes.io/config.source": "api"}', 0, False),
        ('{"kubernetes.io/config.source": "file"}', 0, True),
        ('{"kubernetes.io/config.source": ""}', 0, True),
        ('{"kubernetes.io/config.mirror": ""}', 0, True),
        ('{"kubernetes.io/config.mirror": "abc"}', 0, True),
    ],
)
def test_critical_pods(annotations: str, priority: int, critical: bool) -> None:
    text = f'{{"metadata": {{"annotations": {annotations}}}, "spec": {{"priority": {priority}}}}}'
    assert is_critical(decode(text.encode(), Pod)) is critical


@pytest.mark.parametrize(
    ("owner", "daemon"),
    [
        (DAEMON, True),
        (OwnerReference(api_version="apps/v1", kind="DaemonSet"), False),
        (OwnerReference(api_version="apps/v1", kind="ReplicaSet", controller=True), False),
        (OwnerReference(api_version="example.com/v1", kind="DaemonSet", controller=True), False),
    ],
)
def test_daemons(owner: OwnerReference, daemon: bool) -> None:
    assert is_daemon(ranked(owner=owner)) is daemon
