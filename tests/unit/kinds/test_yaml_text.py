"""YAML from anybody becomes plain values, in bounded time, or a DecodeError."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.kinds import DecodeError
from bailiff.kinds.yaml_text import parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("22:00", "22:00", id="hours are text, not base 60"),
        pytest.param("2026-01-31", "2026-01-31", id="so are dates"),
        pytest.param("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z", id="and instants"),
        pytest.param("1e3", 1000.0, id="a number as JSON writes it"),
        pytest.param("1.5E-3", 0.0015, id="another"),
        pytest.param("-5", -5, id="negative"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param(".5", 0.5, id="without a leading zero"),
        pytest.param(".nan", ".nan", id="JSON has no such number"),
        pytest.param(".inf", ".inf", id="nor this one"),
        pytest.param("1_000", "1_000", id="nor this one with grouped digits"),
        pytest.param("true", True, id="a boolean"),
        pytest.param("~", None, id="null"),
        pytest.param("", None, id="nothing"),
        pytest.param('"5"', "5", id="quoted"),
        pytest.param("{a: [1, {b: c}]}", {"a": [1, {"b": "c"}]}, id="nested"),
        pytest.param("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}, id="merged"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_yaml(text.encode()) == value


BILLION_LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}]\n"
    for before, name in zip("abcdefghijkl", "bcdefghijklm", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(BILLION_LAUGHS, "aliases are not allowed", id="billion laughs"),
        pytest.param("&a [*a]", "aliases are not allowed", id="a list within itself"),
        pytest.param("!!bool maybe", "tags are not allowed", id="a tag that lies"),
        pytest.param("!!python/object:os.system []", "tags are not allowed", id="an object"),
        pytest.param("! x", "tags are not allowed", id="a tag without a name"),
        pytest.param("a: 1\na: 2", "given once", id="a key twice"),
        pytest.param("? [a]\n: 1", "a key must be one word", id="a list as a key"),
        pytest.param("a\n---\nb", "single document", id="two documents"),
        pytest.param("[" * 10_000, "nested too deep", id="deep"),
        pytest.param("9" * 10_000, "digits", id="a long number"),
        pytest.param("\x00", "unacceptable character", id="a zero byte"),
        pytest.param("{", "not valid YAML", id="not closed"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason) as caught:
        parse_yaml(text.encode())
    assert caught.value.malformed


def test_bytes_that_are_no_utf8_are_refused() -> None:
    with pytest.raises(DecodeError, match="not valid YAML"):
        parse_yaml(b"a: \xff\xfe\xff")


@given(st.binary(max_size=60) | st.text("[]{}&*!<>?:-,\n'\"|%@`#a1.eE_ ", max_size=40))
def test_anything_is_a_value_or_refused(data: bytes | str) -> None:
    with suppress(DecodeError):
        parse_yaml(data if isinstance(data, bytes) else data.encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text("abc :'\\\"#", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=8,
)


@given(JSON)
def test_json_is_yaml(value: object) -> None:
    assert parse_yaml(json.dumps(value).encode()) == value
