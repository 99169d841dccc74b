"""The files that `make mutants` changes are there: one that has moved would be left out."""

from __future__ import annotations

import pytest

from tests.mutants.__main__ import FILES, ROOT


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_where_it_is_said_to_be(file: str) -> None:
    assert (ROOT / "service" / "bailiff" / file).is_file()
