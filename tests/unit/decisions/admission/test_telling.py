"""What whoever makes a change is told: numbers first, in few words, each warning within bounds."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, Verdict, combine
from bailiff.decisions.admission.telling import signed, warning_of, warnings_of
from bailiff.decisions.admission.warnings import MAX_WARNING, MAX_WARNINGS
from bailiff.decisions.changes import ChangedPod, Consequences
from bailiff.kinds import (
    LabelSelector,
    ObjectMeta,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from tests.harness.device_kinds import NOW
from tests.harness.kinds import pod_of

ABOUT = "node n"
OF_NODE, OF_TAINT = " (bailiff: node n)", " (bailiff: node n, c)"
STAYS = Finding(system="s", verdict=Verdict.KEEP, reason="r", message="m")


def going(seconds: float | None, name: str = "p", namespace: str = "default") -> ChangedPod:
    """At once, or after so many seconds."""
    at = None if seconds is None else NOW + timedelta(seconds=seconds)
    verdict = Verdict.EVICT_NOW if seconds is None else Verdict.EVICT_AT
    after = Finding(system="s", verdict=verdict, reason="r", message="m", evict_at=at, cause="c")
    return ChangedPod(pod_of(name, "n", namespace=namespace), STAYS, after)


def told(*pods: ChangedPod) -> tuple[str, ...]:
    return warnings_of(Consequences(pods=pods), (), NOW, ABOUT)


def budget(name: str, namespace: str = "default", allowed: int = 0) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector()),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ([], ()),
        ([None], ("evicts 1 pod now",)),
        ([None] * 37 + [300] * 5, ("evicts 37 pods now, 5 in 300 s",)),
        ([300], ("evicts 1 pod in 300 s",)),
        ([300, 60, 60], ("evicts 2 pods in 60 s, 1 in 300 s",)),
        ([0.2], ("evicts 1 pod in 1 s",)),
        ([59.6, 60.4], ("evicts 2 pods in 60 s",)),
        ([1, 2, 3], ("evicts 1 pod in 1 s, 1 in 2 s, 1 in 3 s",)),
        ([None, 4, 3, 2, 1], ("evicts 1 pod now, 4 later, the first in 1 s",)),
        ([4, 3, 2, 1], ("evicts 4 pods later, the first in 1 s",)),
    ],
)
def test_counts_by_time(seconds: list[float | None], words: tuple[str, ...]) -> None:
    assert told(*map(going, seconds)) == tuple(one + OF_TAINT for one in words)


def test_a_budget_stands_beside_the_counts_where_there_is_room() -> None:
    found = Consequences(pods=(going(None),))
    violated = "PodDisruptionBudget default/web would be violated"
    assert warnings_of(found, [budget("web")], NOW, ABOUT) == (
        f"evicts 1 pod now; {violated}{OF_TAINT}",
    )
    long = "w" * 45
    assert warnings_of(found, [budget(long)], NOW, ABOUT) == (
        f"evicts 1 pod now{OF_TAINT}",
        f"PodDisruptionBudget default/{long} would be violated{OF_NODE}",
    )


def test_a_budget_that_allows_as_many_is_not_violated() -> None:
    found = Consequences(pods=(going(None, "a"), going(None, "b"), going(60, "c")))
    assert warnings_of(found, [budget("web", allowed=2)], NOW, ABOUT) == (
        f"evicts 2 pods now, 1 in 60 s{OF_TAINT}",
    )
    assert warnings_of(found, [budget("web", "other")], NOW, ABOUT) == (
        f"evicts 2 pods now, 1 in 60 s{OF_TAINT}",
    )


def test_what_was_not_looked_at_is_told_last() -> None:
    found = Consequences(
        pods=(going(None),), not_seen=("budgets",), too_many=("3 pods",), uncounted=("4",)
    )
    assert warnings_of(found, (), NOW, ABOUT) == (
        f"evicts 1 pod now{OF_TAINT}",
        f"not looked at: 3 pods{OF_NODE}",
        f"not looked at: 4{OF_NODE}",
        f"not looked at: budgets{OF_NODE}",
    )


@given(
    seconds=st.lists(st.none() | st.integers(1, 10**11), max_size=50),
    budgets=st.lists(st.text("abc-.", min_size=1, max_size=253), max_size=30),
)
def test_numbers_are_whole_wherever_a_warning_is_cut(
    seconds: list[int | None], budgets: list[str]
) -> None:
    pods = [going(one, f"p{number}") for number, one in enumerate(seconds)]
    found = warnings_of(
        Consequences(pods=tuple(pods)), [budget(one) for one in budgets], NOW, ABOUT
    )
    assert len(found) <= MAX_WARNINGS
    at_once = seconds.count(None)
    counts = [one for one in found if one.startswith("evicts ")]
    assert len(counts) == bool(seconds)
    for one in counts:
        assert len(one) <= MAX_WARNING
        number = int(one.split()[1])
        assert number == at_once if at_once else 0 < number <= len(seconds)


@pytest.mark.parametrize(
    ("verdict", "seconds", "words"),
    [
        (Verdict.KEEP, None, ""),
        (Verdict.EVICT_NOW, None, "evicted at once from node n: it is so"),
        (Verdict.EVICT_AT, 299.7, "evicted in 300 s from node n by it is so"),
        (Verdict.EVICT_AT, 0.1, "evicted in 1 s from node n by it is so"),
    ],
)
def test_of_one_pod(verdict: Verdict, seconds: float | None, words: str) -> None:
    at = None if seconds is None else NOW + timedelta(seconds=seconds)
    said = Finding(system="s", verdict=verdict, reason="r", message="it is so", evict_at=at)
    assert warning_of(combine(pod_of("p"), "n", (said,), NOW)) == words


def test_a_pod_that_goes_later_is_told_by_what_and_not_what_it_tolerates() -> None:
    at = NOW + timedelta(seconds=300)
    said = Finding(
        system="s", verdict=Verdict.EVICT_AT, reason="r", message="m", evict_at=at, cause="c"
    )
    assert (
        warning_of(combine(pod_of("p"), "n", (said,), NOW)) == "evicted in 300 s from node n by c"
    )


@pytest.mark.parametrize(
    ("text", "about", "cause", "expected"),
    [
        ("t", "node n", "c", "t (bailiff: node n, c)"),
        ("t", "DeviceTaintRule r", "DeviceTaintRule r", "t (bailiff: DeviceTaintRule r)"),
        ("t" * 100, "node n", "c", f"{'t' * 100} (bailiff: node n)"),
        ("t" * 103, "node n", "", f"{'t' * 101}… (bailiff: node n)"),
        ("t" * 99, "node " + "n" * 90, "", f"{'t' * 59}… (bailiff: node {'n' * 90})"),
    ],
)
def test_who_speaks_stands_last(text: str, about: str, cause: str, expected: str) -> None:
    assert signed(text, about, cause) == expected
