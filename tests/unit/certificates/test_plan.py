"""When a certificate is replaced, and whom callers are to believe meanwhile."""

from __future__ import annotations

import datetime as dt

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bailiff.certificates import Step, Terms, plan
from tests.harness.certificates import NAMES, NOW, TERMS, ended_by, holding, made, subjects

HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
FIRST, SECOND, THIRD = made(), made(NOW + 70 * DAY), made(NOW + 71 * DAY)


def believed(held: dict[str, bytes], now: dt.datetime, **more: bool) -> list[str]:
    return subjects(b"".join(plan(held, TERMS, now, **more).authorities))


@pytest.mark.parametrize(
    ("held", "why"),
    [
        ({}, "there is none"),
        ({"tls.crt": b"", "tls.key": b""}, "there is none"),
        (holding(FIRST) | {"tls.crt": b"no PEM"}, "it cannot be read"),
        (holding(FIRST) | {"tls.key": b"no PEM"}, "it cannot be read"),
        (holding(FIRST) | {"tls.key": SECOND.key}, "its private key is another's"),
        (holding(FIRST) | {"ca.crt": SECOND.authority}, "no authority vouches for it"),
        (holding(FIRST) | {"ca.crt": b""}, "no authority vouches for it"),
    ],
    ids=["empty", "as the chart makes it", "text", "no key", "a pair of two", "another's", "alone"],
)
def test_what_is_no_good_is_replaced(held: dict[str, bytes], why: str) -> None:
    found = plan(held, TERMS, NOW)
    assert (found.step, found.why, found.expires_at) == (Step.ISSUE, why, None)


@pytest.mark.parametrize(
    ("age", "step"),
    [
        (dt.timedelta(), Step.NONE),
        (60 * DAY - HOUR, Step.NONE),
        (60 * DAY, Step.ISSUE),
        (90 * DAY + HOUR, Step.ISSUE),
    ],
)
def test_it_is_replaced_so_long_before_its_end(age: dt.timedelta, step: Step) -> None:
    assert plan(holding(FIRST), TERMS, NOW + age).step is step


def test_it_is_replaced_for_other_names_whatever_their_order() -> None:
    assert plan(holding(FIRST), Terms(names=NAMES[::-1]), NOW).step is Step.NONE
    found = plan(holding(FIRST), Terms(names=(*NAMES, "new.example.com")), NOW)
    assert (found.step, found.why) == (Step.ISSUE, "it is for other names: new.example.com")
    assert plan(holding(FIRST), Terms(names=NAMES[1:]), NOW).step is Step.ISSUE


def test_one_that_begins_tomorrow_is_replaced() -> None:
    ahead = made(NOW + 2 * DAY)
    found = plan(holding(ahead), TERMS, NOW)
    assert found.step is Step.ISSUE
    assert found.why.startswith("it is not valid before 2026-01-0")


def test_one_whose_authority_ends_first_is_replaced_when_that_ends() -> None:
    """Ours end together; somebody else may have put one into the Secret."""
    one = made()
    held = holding(one) | {"ca.crt": ended_by(one, NOW + DAY)}
    assert plan(held, TERMS, NOW + DAY - HOUR).step is Step.NONE
    found = plan(held, TERMS, NOW + DAY)
    assert (found.step, found.why) == (Step.ISSUE, "its authority has ended")


def test_what_nobody_can_read_counts_as_none() -> None:
    unknown = ec.generate_private_key(ec.BrainpoolP256R1())
    as_pem = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    held = holding(FIRST) | {"tls.key": unknown.private_bytes(*as_pem)}
    assert plan(held, TERMS, NOW).step is Step.ISSUE


def test_of_a_bundle_without_end_the_end_is_read() -> None:
    held = holding(FIRST)
    held["ca.crt"] = b"-----BEGIN CERTIFICATE-----" * 40_000 + b"\n" + held["ca.crt"]
    assert plan(held, TERMS, NOW).step is Step.NONE
    held["ca.crt"] = FIRST.authority + b"\n" * 64 * 1024
    assert plan(held, TERMS, NOW).why == "no authority vouches for it"


def test_it_is_replaced_where_somebody_says_so() -> None:
    found = plan(holding(FIRST), TERMS, NOW, force=True)
    assert (found.step, found.why) == (Step.ISSUE, "told to")


def test_the_authority_of_what_is_served_is_believed_besides_the_new_one() -> None:
    now = NOW + 70 * DAY
    assert believed(holding(FIRST), now) == subjects(FIRST.authority)


def test_one_that_has_ended_is_believed_no_longer() -> None:
    assert believed(holding(FIRST), NOW + 91 * DAY) == []


def test_what_runs_that_ended_half_way_have_left_does_not_grow() -> None:
    # The authority of SECOND is published, its certificate was never served; and again.
    held = holding(FIRST) | {"ca.crt": FIRST.authority + SECOND.authority + THIRD.authority}
    expected = subjects(THIRD.authority + FIRST.authority)
    assert believed(held, NOW + 72 * DAY) == expected


@pytest.mark.parametrize(
    ("age", "step"),
    [
        (dt.timedelta(), Step.NONE),
        (HOUR - 1 * dt.timedelta(seconds=1), Step.NONE),
        (HOUR, Step.PRUNE),
    ],
)
def test_the_authority_before_goes_when_all_serve_the_new_certificate(
    age: dt.timedelta, step: Step
) -> None:
    held, now = holding(SECOND, FIRST), NOW + 70 * DAY + age
    assert plan(held, TERMS, now).step is step
    both = subjects(held["ca.crt"])
    assert believed(held, now) == (both if step is Step.NONE else subjects(SECOND.authority))


def test_a_bundle_with_anything_in_it_is_read() -> None:
    junk = b"-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n"
    held = holding(FIRST) | {"ca.crt": b"\xff text\n" + junk * 30 + FIRST.authority}
    assert believed(held, NOW) == subjects(FIRST.authority)
