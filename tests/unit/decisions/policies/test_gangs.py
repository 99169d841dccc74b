"""A gang goes whole or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from bailiff.decisions.policies import (
    EMPTY_BOOK,
    UNKNOWN,
    Cause,
    Circumstances,
    Gang,
    Gangs,
    Hold,
    OverTime,
    OverTimeBudget,
    Policies,
    hold,
)
from bailiff.kinds import Annotations, PodSchedulingGroup, parse_time
from tests.harness.kinds import pod_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
GANGS = Policies(gangs=Gangs(), protection=True)


def member(name: str, do_not_evict: str | None = None, group: str | None = "g") -> Circumstances:
    annotations = Annotations(do_not_evict=do_not_evict)
    found = pod_of(name, "n1", namespace="shop", uid=f"uid-{name}", annotations=annotations)
    spec = replace(found.spec, scheduling_group=PodSchedulingGroup(pod_group_name=group))
    return Circumstances(pod=replace(found, spec=spec), pause=None, book=EMPTY_BOOK)


def of(*others: Circumstances) -> Circumstances:
    return replace(member("a"), gang=Gang(name="shop/g", others=others))


def held(facts: Circumstances, policies: Policies = GANGS) -> Hold | None:
    return hold(facts, policies, NOW)


def test_all_may_go() -> None:
    assert held(of(member("b"), member("c"))) is None


def test_one_that_may_not_go_holds_the_others() -> None:
    found = held(of(member("b"), member("c", "2026-01-31T13:00:00Z")))
    assert found is not None
    assert found.cause is Cause.GANG
    assert found.until == parse_time("2026-01-31T13:00:00Z")
    assert found.message.startswith("PodGroup shop/g goes whole, and pod c may not go: annotation")


def test_what_holds_the_pod_itself_is_told_first() -> None:
    facts = replace(member("a", "true"), gang=Gang(name="shop/g", others=(member("b", "true"),)))
    found = held(facts)
    assert found is not None
    assert found.cause is Cause.PROTECTED


def test_a_group_that_has_not_been_read_holds() -> None:
    found = held(replace(member("a"), gang=UNKNOWN))
    assert found is not None
    assert found.message == "PodGroup shop/g has not been read yet"


def test_pods_of_no_gang_go_one_by_one() -> None:
    alone: tuple[Any, ...] = (
        replace(member("a"), gang=None),
        member("a", group=None),
        member("a", group=""),
    )
    for facts in alone:
        assert held(facts) is None


def test_without_the_policy_there_are_no_gangs() -> None:
    assert held(of(member("b", "true")), Policies(protection=True)) is None


def test_what_is_left_of_a_budget_is_to_do_for_all() -> None:
    budget = OverTimeBudget(name="two", evictions=2, seconds=60)
    policies = replace(GANGS, over_time=OverTime(budgets=(budget,)))
    assert held(of(member("b")), policies) is None
    found = held(of(member("b"), member("c")), policies)
    assert found is not None
    assert found.cause is Cause.OVER_TIME
