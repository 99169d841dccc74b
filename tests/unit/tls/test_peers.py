"""Who a client is by the subject of its certificate, read as Kubernetes reads it."""

from __future__ import annotations

import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from bailiff.serving import Peer, peer_of
from bailiff.serving.peers import PEER, peer_from_der

KEY = ec.generate_private_key(ec.SECP256R1())
NOW = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
CN, O, OU = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME  # noqa: E741 - as in certificates


def certificate(subject: x509.Name) -> x509.Certificate:
    issuer = x509.Name([x509.NameAttribute(CN, "ca")])
    builder = x509.CertificateBuilder(issuer, subject, KEY.public_key(), 1, NOW - DAY, NOW + DAY)
    return builder.sign(KEY, hashes.SHA256())


def subject(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in parts])


def der(of: x509.Certificate) -> bytes:
    return of.public_bytes(serialization.Encoding.DER)


GOOD = der(certificate(subject((O, "dev"), (CN, "jane"))))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(CN, "jane")], ("jane", ())),
        ([(O, "dev"), (CN, "jane"), (O, "ops")], ("jane", ("dev", "ops"))),
        # Go's pkix.Name keeps the last (FillFromRDNSequence).
        ([(CN, "first"), (CN, "last")], ("last", ())),
        ([(OU, "ops"), (CN, "jane")], ("jane", ())),
        ([(CN, "system:serviceaccount:a:b")], ("system:serviceaccount:a:b", ())),
        ([(CN, "O=system:masters,CN=x")], ("O=system:masters,CN=x", ())),
        ([(O, "system:masters")], None),
        ([], None),
    ],
)
def test_the_subject_is_read_as_kube_apiserver_reads_it(parts, expected) -> None:
    found = peer_from_der(der(certificate(subject(*parts))))
    assert (None if found is None else (found.user, found.groups)) == expected


def test_parts_that_stand_together_are_all_read() -> None:
    together = x509.RelativeDistinguishedName(
        [x509.NameAttribute(CN, "jane"), x509.NameAttribute(O, "dev")]
    )
    found = peer_from_der(der(certificate(x509.Name([together]))))
    assert found == Peer("jane", ("dev",), NOW + DAY)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64).map(
    # As many bytes as RFC 5280 has it (ub-common-name).
    lambda text: text.encode()[:64].decode(errors="ignore")
)


@given(user=NAMES, groups=st.lists(NAMES, max_size=4))
def test_any_name_is_read_as_it_was_written(user, groups) -> None:
    own = certificate(subject(*((O, one) for one in groups), (CN, user)))
    assert peer_from_der(der(own)) == Peer(user, tuple(groups), NOW + DAY)


@given(st.binary(max_size=200))
def test_what_is_no_certificate_is_nobody(noise) -> None:
    assert peer_from_der(noise) is None


# cryptography warns of what certificates should not have.
@pytest.mark.filterwarnings("ignore")
@given(st.lists(st.tuples(st.integers(0, 9_999), st.integers(0, 255)), min_size=1, max_size=3))
def test_a_broken_certificate_is_nobody_or_somebody(changes) -> None:
    """It never raises; that it is vouched for has been found out before."""
    broken = bytearray(GOOD)
    for place, value in changes:
        broken[place % len(broken)] = value
    peer_from_der(bytes(broken))


@pytest.mark.parametrize("value", range(256))
def test_a_certificate_of_any_version_is_nobody_or_somebody(value) -> None:
    place = GOOD.index(b"\xa0\x03\x02\x01\x02") + 4
    broken = GOOD[:place] + bytes([value]) + GOOD[place + 1 :]
    assert (peer_from_der(broken) is None) == (value != 2)


JANE = Peer("jane", (), NOW)


@pytest.mark.parametrize(
    ("scope", "now", "expected"),
    [
        ({"state": {PEER: JANE}}, NOW, JANE),
        ({"state": {PEER: JANE}}, NOW + dt.timedelta(seconds=1), None),
        ({"state": {PEER: None}}, NOW, None),
        ({"state": {}}, NOW, None),
        ({}, NOW, None),
    ],
)
def test_a_request_has_the_peer_of_its_connection_until_that_expires(scope, now, expected) -> None:
    assert peer_of(scope, now) == expected
