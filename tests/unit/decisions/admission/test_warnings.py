"""Warnings are what an API server and kubectl can show."""

from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.admission import MAX_WARNING, MAX_WARNINGS, cut_warnings


def test_a_short_one_stays() -> None:
    assert cut_warnings(["evicts 37 pods now"]) == ("evicts 37 pods now",)


def test_the_longest_that_fits_stays_and_one_more_is_cut() -> None:
    assert cut_warnings(["a" * 120]) == ("a" * 120,)
    assert cut_warnings(["a" * 121]) == ("a" * 119 + "…",)


def test_what_no_header_can_carry_is_a_blank() -> None:
    assert cut_warnings(["a\r\nb\x00c\x7fd\u2028e\u0085f"]) == ("a b c d e f",)


def test_nothing_is_said_twice_or_empty() -> None:
    assert cut_warnings(["a", "", " \n", "a", "b"]) == ("a", "b")


def test_of_too_many_the_number_is_told() -> None:
    assert cut_warnings(map(str, range(20))) == tuple(map(str, range(20)))
    assert cut_warnings(map(str, range(21)))[18:] == ("18", "and 2 more warnings")


@given(st.lists(st.text(max_size=200), max_size=40))
def test_whatever_is_said_it_stays_within_its_bounds(warnings: list[str]) -> None:
    found = cut_warnings(warnings)
    assert len(found) <= MAX_WARNINGS
    assert all((0 < len(one) <= MAX_WARNING and one.isprintable()) or "\xad" for one in found)
    assert cut_warnings(found) == found
