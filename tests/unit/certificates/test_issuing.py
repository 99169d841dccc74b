"""What is made is believed by a client that knows its authority, and by no other."""

from __future__ import annotations

import datetime as dt
import ssl

import pytest
from cryptography import x509

from bailiff.certificates import Issued, issue
from bailiff.certificates.issuing import BACKDATED
from bailiff.key_pairs import load_pair
from tests.harness.certificates import NAMES, NOW, made

DAY = dt.timedelta(days=1)


def shake_hands(server: Issued, believed: Issued, name: str) -> None:
    """A handshake in memory, with Python's strictest checks of X.509.

    Raises:
        ssl.SSLError: the client does not believe the server.
    """
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_pair(serving, server.certificate, server.key)
    asking = ssl.create_default_context(cadata=believed.authority.decode())
    asking.verify_flags |= ssl.VERIFY_X509_STRICT
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        asking.wrap_bio(down, up, server_hostname=name),
        serving.wrap_bio(up, down, server_side=True),
    ]
    for _ in range(5):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize("name", [*NAMES[::2], "court.apps.example.com"])
def test_a_client_believes_it_by_each_of_its_names(name: str) -> None:
    one = made(dt.datetime.now(dt.UTC))
    shake_hands(one, one, name)


def test_by_another_name_or_another_authority_it_is_not_believed() -> None:
    one, other = (made(dt.datetime.now(dt.UTC)) for _ in range(2))
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(one, one, "bailiff-worker.kube-system.svc")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(one, other, NAMES[0])


def test_both_live_as_long_as_they_are_told_to_and_clocks_may_be_behind() -> None:
    one = issue(NAMES, NOW, 10 * DAY)
    for pem in (one.certificate, one.authority):
        found = x509.load_pem_x509_certificate(pem)
        assert found.not_valid_before_utc == NOW - BACKDATED
        assert found.not_valid_after_utc == NOW + 10 * DAY


def test_authorities_are_told_apart_by_name_and_sign_no_other_authority() -> None:
    authorities = [x509.load_pem_x509_certificate(made().authority) for _ in range(2)]
    assert authorities[0].subject != authorities[1].subject
    for one in authorities:
        limits = one.extensions.get_extension_for_class(x509.BasicConstraints)
        assert (limits.critical, limits.value.ca, limits.value.path_length) == (True, True, 0)


def test_a_private_key_stands_in_no_repr() -> None:
    assert "PRIVATE KEY" in made().key.decode()
    assert "PRIVATE" not in repr(made())
