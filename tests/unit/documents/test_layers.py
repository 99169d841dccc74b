"""The picture of who imports whom is the one that the contracts and the code make."""

from __future__ import annotations

import pytest

from handbook.layers import PAGE, drawn, imports, layers, picture, table


def test_the_page_has_what_make_pictures_draws() -> None:
    assert PAGE.read_text() == drawn(PAGE.read_text()), "make reference"


def test_a_row_holds_siblings_and_points_to_the_next() -> None:
    lines = [line.strip() for line in picture([["cli"], ["rest_api", "worker"]]).splitlines()]
    assert lines[3:6] == ['subgraph row1[" "]', "direction TB", "cli"]
    assert lines[9:11] == ["rest_api", "worker"]
    assert lines[-2:] == ["row1 --> row2", "```"]


def test_imports_are_read_from_the_code() -> None:
    found = imports(layers())
    assert found["decisions"] == ["kinds"]
    assert found["kinds"] == []
    assert "rest_api" not in found["worker"]


def test_a_change_of_the_layers_is_seen() -> None:
    assert picture(layers()[1:]) != picture(layers())
    assert table(layers()[1:]) != table(layers())


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="one place"):
        drawn(PAGE.read_text().replace("make reference", "hand"))
