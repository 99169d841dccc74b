"""A certificate authority for one test server, and what it signs."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from pathlib import Path

_LIFE = dt.timedelta(days=1)


@dataclass(frozen=True)
class Tls:
    """Files of a server that only its own CA vouches for."""

    ca: Path
    ca_key: Path
    certificate: Path
    key: Path
    service_account_key: Path


def make_tls(folder: Path) -> Tls:
    """Write a CA, a serving certificate for 127.0.0.1 and a service account key."""
    names = ("ca.crt", "ca.key", "server.crt", "server.key", "accounts.key")
    tls = Tls(*(folder / name for name in names))
    ca_key, server_key = _new_key(), _new_key()
    ca = _ca(ca_key)
    tls.ca.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    server = _server(ca, ca_key, server_key.public_key())
    tls.certificate.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    _write_key(tls.ca_key, ca_key)
    _write_key(tls.key, server_key)
    _write_key(tls.service_account_key, _new_key())
    return tls


@dataclass(frozen=True)
class ClientCertificate:
    """What one user proves with who it is, as two files of one folder."""

    folder: Path

    @property
    def certificate(self) -> Path:
        """In PEM."""
        return self.folder / "client.crt"

    @property
    def key(self) -> Path:
        """The certificate's private key, in PEM."""
        return self.folder / "client.key"

    def rotate(self, tls: Tls, life: dt.timedelta = _LIFE) -> None:
        """Write a new key and its certificate over the old files.

        Args:
            tls: whose CA signs.
            life: from now until it expires; a negative one is over already.
        """
        own = _new_key()
        signed = _client(tls, own.public_key(), life)
        self.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        _write_key(self.key, own)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _dated(builder: x509.CertificateBuilder, life: dt.timedelta = _LIFE) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    dated = builder.not_valid_before(now - _LIFE).not_valid_after(now + life)
    return dated.serial_number(x509.random_serial_number())


def _ca(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = x509.CertificateBuilder(_name("bailiff-test-ca"), _name("bailiff-test-ca"))
    builder = builder.public_key(key.public_key()).add_extension(own, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return _dated(builder.add_extension(_ca_usage(), critical=True)).sign(key, hashes.SHA256())


def _ca_usage() -> x509.KeyUsage:
    names = (
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "encipher_only",
        "decipher_only",
    )
    unused = dict.fromkeys(names, False)
    return x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **unused)


def _server(
    ca: x509.Certificate, ca_key: ec.EllipticCurvePrivateKey, key: ec.EllipticCurvePublicKey
) -> x509.Certificate:
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = x509.CertificateBuilder(ca.subject, _name("127.0.0.1")).public_key(key)
    builder = builder.add_extension(names, critical=False).add_extension(issuer, critical=False)
    return _dated(builder.add_extension(usage, critical=False)).sign(ca_key, hashes.SHA256())


def _client(tls: Tls, key: ec.EllipticCurvePublicKey, life: dt.timedelta) -> x509.Certificate:
    ca = x509.load_pem_x509_certificate(tls.ca.read_bytes())
    ca_key = serialization.load_pem_private_key(tls.ca_key.read_bytes(), None)
    assert isinstance(ca_key, ec.EllipticCurvePrivateKey)
    # Kubernetes takes the common name for the user and the organization for the group.
    group = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters")
    user = x509.Name([group, x509.NameAttribute(NameOID.COMMON_NAME, "admin")])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = x509.CertificateBuilder(ca.subject, user).public_key(key)
    builder = builder.add_extension(issuer, critical=False).add_extension(usage, critical=False)
    return _dated(builder, life).sign(ca_key, hashes.SHA256())


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    path.touch(mode=0o600)
    path.write_bytes(pem)
