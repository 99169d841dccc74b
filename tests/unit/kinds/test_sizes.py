"""How many values a body holds is bounded before any of it is decoded."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.kinds import DecodeError, check_size, is_larger

JSON = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(st.sampled_from('a,[{"'), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
)


def values(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(values, value.values()))
    return 1 + sum(map(values, value)) if isinstance(value, list) else 1


@given(JSON)
def test_no_body_holds_more_values_than_it_is_said_to(value: object) -> None:
    data = msgspec.json.encode(value)
    if values(value) > 1:
        assert is_larger(data, (values(value) - 1) // 2 - 1)
    assert not is_larger(data, len(data))


@pytest.mark.parametrize(
    ("data", "marks"), [(b"[1,2,3]", 3), (b'{"a":[{}]}', 3), (b'["{[,"]', 4), (b"12345", 0)]
)
def test_marks_are_counted_those_in_texts_too(data: bytes, marks: int) -> None:
    check_size(data, marks)
    if marks:
        with pytest.raises(DecodeError, match=f"at most {marks - 1} of") as caught:
            check_size(data, marks - 1)
        assert (caught.value.path, caught.value.malformed) == ("$", False)
