"""What a Secret of certificates holds, for tests of how they are made and replaced."""

from __future__ import annotations

import datetime as dt
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from bailiff.certificates import Issued, Terms, issue

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
NAMES = ("bailiff-api.kube-system.svc", "*.apps.example.com", "localhost")
TERMS = Terms(names=NAMES)


def made(now: dt.datetime = NOW, terms: Terms = TERMS) -> Issued:
    """One as the terms want it."""
    return issue(terms.names, now, terms.life)


def holding(one: Issued, *before: Issued) -> dict[str, bytes]:
    """A Secret that holds it; its authority stands behind those of others."""
    authorities = [*(other.authority for other in before), one.authority]
    return {"tls.crt": one.certificate, "tls.key": one.key, "ca.crt": b"".join(authorities)}


def ended_by(one: Issued, instant: dt.datetime) -> bytes:
    """Its authority, as somebody else has it: it ends at this instant."""
    authority = x509.load_pem_x509_certificate(one.authority)
    public: Any = authority.public_key()
    built = (
        x509.CertificateBuilder()
        .subject_name(authority.subject)
        .issuer_name(authority.subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(authority.not_valid_before_utc)
        .not_valid_after(instant)
    )
    signed = built.sign(ec.generate_private_key(ec.SECP256R1()), SHA256())
    return signed.public_bytes(Encoding.PEM)


def subjects(bundle: bytes) -> list[str]:
    """Whom a bundle names, in its order."""
    found = x509.load_pem_x509_certificates(bundle) if bundle else []
    return [one.subject.rfc4514_string() for one in found]
