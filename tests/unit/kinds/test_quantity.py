"""Quantities are exact, and written as Kubernetes writes them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bailiff.kinds import DecodeError, Pod, decode, quantity
from bailiff.kinds.quantity import (
    NANO,
    Format,
    QuantityText,
    format_binary,
    format_decimal,
    parse_quantity,
    total,
)

LARGEST = (2**63 - 1) * NANO
# What apimachinery v0.37.1 answers: text, String(), Value().
READ = [
    ("0", "0", 0),
    ("-0", "0", 0),
    ("1024Mi", "1Gi", 2**30),
    ("1500Mi", "1500Mi", 1500 * 2**20),
    ("1.5Gi", "1536Mi", 1536 * 2**20),
    ("0.5Ki", "512", 512),
    ("1e3", "1e3", 1000),
    ("1E", "1E", 10**18),
    ("1000", "1k", 1000),
    ("100m", "100m", 1),
    ("1n", "1n", 1),
    ("0.1n", "1n", 1),
    (".5", "500m", 1),
    ("5.", "5.", 5),
    ("+5Mi", "+5Mi", 5 * 2**20),
    ("-2500m", "-2500m", -3),
    ("99999999Ei", "9223372036854775807", 2**63 - 1),
]
REFUSED = [
    "",
    " 1Gi",
    "1Gi ",
    "1,5Gi",
    "100MB",
    "abc",
    "1ki",
    "1K",
    "1e",
    "1e3Mi",
    "1_0",
    "NaN",
    "\u0661",
    "5Mi\n",
]


@pytest.mark.parametrize(("text", "written", "value"), READ)
def test_as_kubernetes_reads_and_writes_it(text: str, written: str, value: int) -> None:
    read = parse_quantity(text)
    assert (read.text, read.value) == (written, value)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_none_is_refused_where_it_is_read_and_where_it_is_used(text: str) -> None:
    with pytest.raises(ValueError, match="must be a quantity"):
        parse_quantity(text)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text, QuantityText)


def test_a_pod_with_a_malformed_quantity_is_refused_with_its_path() -> None:
    body = b'{"spec":{"containers":[{"resources":{"requests":{"memory":"1GB"}}}]}}'
    with pytest.raises(DecodeError) as caught:
        decode(body, Pod)
    assert caught.value.path.startswith("$.spec.containers[0].resources.requests")


def test_a_number_is_a_quantity_too_and_null_is_none_of_it() -> None:
    body = b'{"spec":{"overhead":{"cpu":1,"memory":0.5,"x":null}}}'
    assert decode(body, Pod).spec.overhead == {"cpu": "1", "memory": "0.5", "x": "0"}
    assert decode(b'{"spec":{"overhead":{"cpu":0}}}', Pod).spec.overhead == {"cpu": "0"}


@pytest.mark.parametrize(
    ("number", "binary", "decimal"),
    [(0, "0", "0"), (1000, "1k", "1k"), (1024, "1Ki", "1024"), (-2048, "-2Ki", "-2048")],
)
def test_whole_numbers(number: int, binary: str, decimal: str) -> None:
    assert (format_binary(number), format_decimal(number)) == (binary, decimal)


@given(st.integers(1 - 2**63, 2**63 - 1))
def test_what_is_written_is_read_as_the_same(number: int) -> None:
    for text in (format_binary(number), format_decimal(number)):
        assert parse_quantity(text).nano == number * NANO


@given(st.lists(st.sampled_from([text for text, _, _ in READ]), min_size=1))
@example(["1024Mi", "99999999Ei"])
def test_a_sum_is_exact_and_is_read_as_the_same(texts: list[str]) -> None:
    """What is above 2**63-1 is exact as well; its text may be read as that, as upstream does."""
    quantities = [parse_quantity(text) for text in texts]
    found = total(quantities)
    assert found is not None
    assert found.nano == sum(one.nano for one in quantities)
    assert parse_quantity(found.text).nano == found.nano or found.nano > LARGEST


def test_of_nothing_there_is_no_sum() -> None:
    assert total(()) is None


def test_an_exponent_takes_no_memory() -> None:
    with pytest.raises(ValueError, match="must be a quantity"):
        parse_quantity("1e999999999")


def test_a_sum_is_written_when_somebody_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # A pod may have thousands of containers, each of which asks for a number of 1,000 digits.
    huge = parse_quantity("2e998")
    written: list[int] = []

    def write(nano: int, _: Format) -> str:
        written.append(nano)
        return "written"

    monkeypatch.setattr(quantity, "_written", write)
    found = total([huge] * 100)
    assert found is not None
    assert written == []
    assert (found.text, written) == ("written", [200 * 10**1007])
