"""How much CPU is in use: between two readings."""

from __future__ import annotations

from bailiff.agent.readings.cpu_usage import CpuUsage

SECOND = 1_000_000_000


def test_the_first_reading_says_nothing() -> None:
    assert CpuUsage().rate("pod", 5, 0) is None


def test_what_was_used_since_the_last() -> None:
    usage = CpuUsage()
    usage.rate("pod", 5 * SECOND, 0)
    assert usage.rate("pod", 7 * SECOND, 4 * SECOND) == SECOND // 2


def test_readings_within_a_second_are_one() -> None:
    usage = CpuUsage()
    usage.rate("pod", 0, 0)
    assert usage.rate("pod", SECOND // 2, SECOND // 2) is None
    assert usage.rate("pod", SECOND, 2 * SECOND) == SECOND // 2
    assert usage.rate("pod", 2 * SECOND, 2 * SECOND + 1) == SECOND // 2
    assert usage.rate("pod", 3 * SECOND, 4 * SECOND) == SECOND


def test_another_cgroup_under_the_old_name_starts_anew() -> None:
    usage = CpuUsage()
    usage.rate("pod", 5 * SECOND, 0)
    assert usage.rate("pod", SECOND, 2 * SECOND) is None
    assert usage.rate("pod", 2 * SECOND, 4 * SECOND) == SECOND // 2


def test_what_was_not_measured_leaves_the_last_as_it_is() -> None:
    usage = CpuUsage()
    usage.rate("pod", 0, 0)
    assert usage.rate("pod", None, SECOND) is None
    assert usage.rate("pod", SECOND, 2 * SECOND) == SECOND // 2


def test_others_are_forgotten() -> None:
    usage = CpuUsage()
    usage.rate("gone", 0, 0)
    usage.rate("there", 0, 0)
    usage.keep({"there"})
    assert usage.rate("gone", SECOND, 2 * SECOND) is None
    assert usage.rate("there", SECOND, 2 * SECOND) == SECOND // 2
