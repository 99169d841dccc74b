"""What Kubernetes takes for the key and the value of a label."""

from __future__ import annotations

import pytest

from bailiff.kinds.names import is_label_key, is_label_value


@pytest.mark.parametrize(
    "text",
    ["a", "A", "0", "a.b_c-D", "a" * 63, "example.com/a", "a/b", "1.2-3/a", f"{'a' * 253}/a"],
)
def test_keys(text: str) -> None:
    assert is_label_key(text)


@pytest.mark.parametrize(
    "text",
    ["", "-a", "a-", ".a", "a_", "a b", "ä", "a\n", "a" * 64, "/a", "a/", "a/b/c", "A/a", "a_b/c",
     "a..b/c", f"{'a' * 254}/a", "a\n/b"],
)  # fmt: skip
def test_what_is_no_key(text: str) -> None:
    assert not is_label_key(text)


@pytest.mark.parametrize("text", ["", "a", "A.b_c-0", "a" * 63])
def test_values(text: str) -> None:
    assert is_label_value(text)


@pytest.mark.parametrize("text", [" ", "-", "a-", "a/b", "ä", "a\n", "a" * 64])
def test_what_is_no_value(text: str) -> None:
    assert not is_label_value(text)
