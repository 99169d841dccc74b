"""Lines that others can cause: a few at once, then one in so many seconds, the others counted."""

from __future__ import annotations

import pytest

from bailiff.log_limit import LogLimit


def test_after_a_burst_there_is_one_in_so_many_seconds_and_the_others_are_counted() -> None:
    now = [100.0]
    limit = LogLimit(lambda: now[0], seconds=6, burst=3)
    assert [limit.left_out() for _ in range(7)] == [0, 0, 0, None, None, None, None]
    now[0] += 5.9
    assert limit.left_out() is None
    now[0] += 0.1
    assert [limit.left_out() for _ in range(2)] == [5, None]


@pytest.mark.parametrize(("rest", "lines"), [(6, 1), (17, 2), (18, 3), (10_000, 3)])
def test_no_more_than_a_burst_is_saved_up(rest: float, lines: int) -> None:
    now = [0.0]
    limit = LogLimit(lambda: now[0], seconds=6, burst=3)
    for _ in range(3):
        limit.left_out()
    now[0] += rest
    assert sum(limit.left_out() is not None for _ in range(9)) == lines


def test_each_kind_has_lines_and_a_count_of_its_own() -> None:
    now = [0.0]
    limit = LogLimit(lambda: now[0], seconds=10)
    assert [limit.left_out(kind) for kind in "aaab"] == [0, None, None, 0]
    now[0] = 10.0
    assert [limit.left_out(kind) for kind in "ab"] == [2, 0]
