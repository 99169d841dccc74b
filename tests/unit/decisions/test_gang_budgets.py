"""Whether PodDisruptionBudgets let a gang go at once: before its first one, and while it goes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import budgets
from bailiff.decisions.budgets import (
    SeveralBudgetsError,
    TooManyBudgetsError,
    guarded_by,
    refusal,
)
from bailiff.kinds import ObjectMeta, Pod, PodDisruptionBudget, PodDisruptionBudgetStatus
from tests.harness.gating import SHOP, allows, ready, shop_pod


@dataclass
class Shop:
    """A budget as the disruption controller keeps it, over a gang and over pods of none.

    Attributes:
        desired: how many have to be ready.
        others: how many of no gang are.
        gang: its pods by name, and whether they are ready.
    """

    desired: int
    others: int
    gang: dict[str, bool]

    def budget(self) -> PodDisruptionBudget:
        healthy = self.others + sum(self.gang.values())
        status = PodDisruptionBudgetStatus(
            current_healthy=healthy,
            desired_healthy=self.desired,
            disruptions_allowed=max(0, healthy - self.desired),
        )
        return replace(allows(0), status=status)

    def pod(self, name: str) -> Pod:
        pod = shop_pod(name, group="g")
        return ready(pod) if self.gang[name] else pod

    def gate_lets_go(self, name: str) -> bool:
        others = [self.pod(other) for other in self.gang if other != name]
        return not refusal(guarded_by(self.pod(name), [self.budget()], others))

    def api_lets_go(self, name: str) -> bool:
        """As pkg/registry/core/pod/storage/eviction.go, Create."""
        budget = self.budget()
        return budget.allowed > 0 or (not self.gang[name] and budget.lets_unready_go())

    def evict(self, name: str) -> None:
        """It goes, and its controller makes another, which is not ready yet."""
        del self.gang[name]
        self.gang[f"{name}-again"] = False


SHOPS = st.builds(
    Shop,
    desired=st.integers(0, 4),
    others=st.integers(0, 4),
    gang=st.dictionaries(st.sampled_from("abcde"), st.booleans(), min_size=1),
)
# What becomes of which of the gang: it is evicted, is ready, or ceases to be.
STEPS = st.lists(st.tuples(st.sampled_from(("evict", "ready", "unready")), st.integers(0, 9)))


@given(SHOPS)
def test_before_the_first_one_goes_all_that_are_ready_may_go_at_once(shop: Shop) -> None:
    """No more than the budget allows: no recount is needed for the last of them."""
    serving = [name for name, is_ready in shop.gang.items() if is_ready]
    for name in serving:
        assert shop.gate_lets_go(name) is (len(serving) <= shop.budget().allowed)


@given(SHOPS, STEPS)
def test_once_it_goes_the_gate_keeps_nobody_whom_the_eviction_api_would_let_go(
    shop: Shop, steps: list[tuple[str, int]]
) -> None:
    """And whoever is ready is let go by both: no gang is left with some gone and some held."""
    assume(shop.gate_lets_go(next(iter(shop.gang))))
    for what, number in steps:
        name = list(shop.gang)[number % len(shop.gang)]
        if what != "evict":
            shop.gang[name] = what == "ready"
        elif shop.api_lets_go(name):
            shop.evict(name)
        for one, is_ready in shop.gang.items():
            assert shop.gate_lets_go(one) is shop.api_lets_go(one)
            assert shop.api_lets_go(one) or not is_ready


def test_who_has_come_in_the_place_of_one_that_has_gone_keeps_nobody() -> None:
    shop = Shop(desired=0, others=0, gang=dict.fromkeys("abcd", True))
    shop.evict("a")
    assert [name for name in shop.gang if shop.gate_lets_go(name)] == ["b", "c", "d", "a-again"]


def test_a_gang_that_the_others_are_not_enough_for_stays_whole() -> None:
    shop = Shop(desired=2, others=1, gang=dict.fromkeys("abc", True))
    assert not any(shop.gate_lets_go(name) for name in "abc")


def named(name: str) -> PodDisruptionBudget:
    return replace(allows(9), metadata=ObjectMeta(name=name, namespace=SHOP))


def test_one_of_the_gang_that_is_never_evicted_keeps_all_ready_or_not() -> None:
    with pytest.raises(SeveralBudgetsError, match="x and y: pod b has more than one"):
        guarded_by(ready(shop_pod("a")), [named("x"), named("y")], [shop_pod("b")])


def test_what_would_take_too_long_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_STEPS", 11)
    pods = [shop_pod(f"p{one}") for one in range(4)]
    assert guarded_by(pods[0], [named("a")], pods[1:])
    with pytest.raises(TooManyBudgetsError, match="4 pods and 3 PodDisruptionBudgets are too many"):
        guarded_by(pods[0], [named(one) for one in "abc"], pods[1:])
