"""Tables and texts: aligned, greppable, and harmless to a terminal."""

import sys

import pytest

from bailiff.cli.output import coloured, printable, table


def test_columns_are_aligned_and_no_cell_is_empty():
    shown = table(("A", "LONG", "C"), [("1", "", "x"), ("333333", "2", "y z")])
    assert shown.splitlines() == [
        "A        LONG     C",
        "1        <none>   x",
        "333333   2        y z",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größer", "größer"),
        ("red\x1b[31m", "red\\x1b[31m"),
        ("a\nb", r"a\nb"),
        ("\ud800", "\\ud800"),
        ("a\rb", "a\\rb"),
    ],
)
def test_nobodys_words_do_anything_to_a_terminal(text, shown):
    assert printable(text) == shown


def test_a_row_stays_a_line():
    assert table(("A",), [("a\nb",)]).splitlines() == ["A", "a b"]


@pytest.mark.parametrize(
    ("terminal", "no_color", "has_colour"),
    [(True, "", True), (True, "1", False), (False, "", False)],
)
def test_colour_is_for_terminals_whose_user_wants_it(monkeypatch, terminal, no_color, has_colour):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("NO_COLOR", no_color)
    assert ("\x1b" in coloured("EVICT_NOW", "red")) == has_colour
    rows = table(("V",), [("EVICT_NOW",)], {"EVICT_NOW": "red"})
    assert ("\x1b" in rows) == has_colour
