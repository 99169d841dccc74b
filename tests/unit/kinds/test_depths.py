"""What nests too deep is left out, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.kinds import without_depths

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\{}[]é'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='b"\\{}[]'), inner),
    max_leaves=30,
)


def cut(value: Any, levels: int) -> Any:
    """The model: what is left of a decoded value."""
    if isinstance(value, list):
        return [cut(item, levels - 1) for item in value] if levels else []
    if isinstance(value, dict):
        return {key: cut(item, levels - 1) for key, item in value.items()} if levels else {}
    return value


@given(VALUES, st.integers(1, 5), st.booleans())
def test_only_what_is_too_deep_is_left_out(value: Any, levels: int, ascii_only: bool) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert json.loads(without_depths(written, levels)) == cut(value, levels)


@pytest.mark.parametrize("inner", [b"", b"{}", b'"}]"', b'"\\"]", [1, 2]'])
def test_any_depth(inner: bytes) -> None:
    deep = b"[" * 100_000 + inner + b"]" * 100_000
    assert without_depths(b'{"a":%s,"b":1}' % deep, 3) == b'{"a":[[[]]],"b":1}'


@pytest.mark.parametrize("written", [b"[" * 9, b'{"a":"\\', b'"' * 7, b"]]", b"\xff{", b"[[[[1]]"])
def test_what_is_no_json_stays_none(written: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the codec's own, or a JSONDecodeError
        json.loads(without_depths(written, 2))
