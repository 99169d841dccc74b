"""A serving certificate, and an authority that signs it and nothing else ever."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

# It counts from so long before it was made: clocks of API servers may be behind.
BACKDATED = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Issued:
    """What was made, in PEM.

    Attributes:
        certificate: of the server.
        key: its private key, not encrypted (PKCS #8).
        authority: the certificate that vouches for it.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    authority: bytes


def issue(names: Sequence[str], now: datetime, life: timedelta) -> Issued:
    """Make a certificate for a server of these names.

    Args:
        names: DNS names, at least one; `*.example.com` is one.
        now: with time zone.
        life: from now on.

    Raises:
        ValueError: a name is none.
    """
    # A name of its own for each: several may stand in one bundle.
    authority_name = _named(f"bailiff-ca-{secrets.token_hex(4)}")
    signing, serving = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    span = now - BACKDATED, now + life
    authority = _authority(authority_name, signing, span)
    built = _builder(_named("bailiff"), authority_name, serving.public_key(), span)
    for extension, critical in _of_server(names, authority):
        built = built.add_extension(extension, critical=critical)
    return Issued(
        certificate=built.sign(signing, SHA256()).public_bytes(Encoding.PEM),
        key=serving.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        authority=authority.public_bytes(Encoding.PEM),
    )


def _authority(
    name: x509.Name, key: ec.EllipticCurvePrivateKey, span: tuple[datetime, datetime]
) -> x509.Certificate:
    built = _builder(name, name, key.public_key(), span)
    for extension, critical in (
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (_usage(signs_certificates=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ):
        built = built.add_extension(extension, critical=critical)
    return built.sign(key, SHA256())


def _of_server(
    names: Sequence[str], authority: x509.Certificate
) -> list[tuple[x509.ExtensionType, bool]]:
    known = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    identifier = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)
    return [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), False),
        (identifier, False),
    ]


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    name: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    span: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    begins, ends = span
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )
