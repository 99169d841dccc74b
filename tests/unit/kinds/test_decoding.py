"""What is read from JSON, and what is said of what cannot be."""

import pytest

from bailiff.decisions.node_taints.change import TaintSelector
from bailiff.kinds import INT64_MAX, DecodeError, Pod, Toleration, decode

DEEP = 100_000


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (b"{}", None),
        (b'{"tolerationSeconds":null}', None),
        (b'{"tolerationSeconds":5}', 5),
        (b'{"tolerationSeconds":5.0}', 5),
        (b'{"tolerationSeconds":-0.0}', 0),
        (b'{"tolerationSeconds":9223372036854775807}', INT64_MAX),
    ],
)
def test_integers(written: bytes, seconds: int | None) -> None:
    assert decode(written, Toleration).toleration_seconds == seconds


@pytest.mark.parametrize(
    "written", [b"5.5", b"1e300", b"9223372036854775808", b"-9223372036854775809", b'"5"', b"true"]
)
def test_no_int64(written: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{"spec":{"tolerations":[{"tolerationSeconds":%s}]}}' % written, Pod)
    assert caught.value.path == "$.spec.tolerations[0].tolerationSeconds"
    assert not caught.value.malformed


def test_null_counts_as_absent_and_as_an_empty_item() -> None:
    written = b'{"metadata":null,"spec":{"nodeName":null,"tolerations":[null]}}'
    assert decode(written, Pod) == decode(b'{"spec":{"tolerations":[{}]}}', Pod)


@pytest.mark.parametrize(
    "written",
    [b"", b"{", b"nul", b"\xff", b'"\\ud800"', b"[" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP],
    ids=["empty", "cut", "word", "utf-8", "surrogate", "lists", "objects"],
)
def test_malformed(written: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(written, Pod)
    assert caught.value.malformed


@pytest.mark.parametrize(
    ("written", "path"),
    [(b"{}", "$.key"), (b'{"key":null,"effect":""}', "$.key")],
)
def test_what_is_missing_is_named(written: bytes, path: str) -> None:
    with pytest.raises(DecodeError, match="required") as caught:
        decode(written, TaintSelector)
    assert caught.value.path == path
