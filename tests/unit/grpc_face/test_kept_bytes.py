"""What streams keep: half of the budget together, and a quarter of it for one address."""

from __future__ import annotations

from bailiff.grpc_api.kept_bytes import KeptBytes
from bailiff.serving import ByteBudget

MOST = 100_000


def test_all_streams_together_keep_half_of_the_budget_so_that_others_messages_have_room() -> None:
    budget = ByteBudget(MOST)
    kept = KeptBytes(budget)
    assert kept.take(MOST // 4, "a")
    assert not kept.take(1, "a"), "one address has a quarter"
    assert kept.take(MOST // 4, "b")
    assert not kept.take(1, "c")
    assert budget.taken == MOST // 2
    assert kept.take(-MOST // 4, "b")
    assert kept.take(MOST // 4, "c")
