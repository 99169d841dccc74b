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
    from collections.abc import Sequence
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


def new_pair(tls: Tls, life: dt.timedelta = _LIFE) -> tuple[bytes, bytes]:
    """Another serving certificate of the same CA for 127.0.0.1, and its key; in PEM."""
    ca, ca_key = _authority(tls)
    own = _new_key()
    signed = _server(ca, ca_key, own.public_key(), life)
    return signed.public_bytes(serialization.Encoding.PEM), _pem(own)


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

    def rotate(
        self,
        tls: Tls,
        life: dt.timedelta = _LIFE,
        user: str = "admin",
        groups: Sequence[str] = ("system:masters",),
    ) -> None:
        """Write a new key and its certificate over the old files.

        Args:
            tls: whose CA signs.
            life: from now until it expires; a negative one is over already.
            user: the common name.
            groups: the organizations.
        """
        own = _new_key()
        signed = _client(tls, own.public_key(), life, _user(user, groups))
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
    ca: x509.Certificate,
    ca_key: ec.EllipticCurvePrivateKey,
    key: ec.EllipticCurvePublicKey,
    life: dt.timedelta = _LIFE,
) -> x509.Certificate:
    names = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    )
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = x509.CertificateBuilder(ca.subject, _name("127.0.0.1")).public_key(key)
    builder = builder.add_extension(names, critical=False).add_extension(issuer, critical=False)
    return _dated(builder.add_extension(usage, critical=False), life).sign(ca_key, hashes.SHA256())


def _user(name: str, groups: Sequence[str]) -> x509.Name:
    """Kubernetes takes the common name for the user and organizations for the groups."""
    of = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in groups]
    return x509.Name([*of, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _authority(tls: Tls) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    ca_key = serialization.load_pem_private_key(tls.ca_key.read_bytes(), None)
    assert isinstance(ca_key, ec.EllipticCurvePrivateKey)
    return x509.load_pem_x509_certificate(tls.ca.read_bytes()), ca_key


def _client(
    tls: Tls, key: ec.EllipticCurvePublicKey, life: dt.timedelta, user: x509.Name
) -> x509.Certificate:
    ca, ca_key = _authority(tls)
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = x509.CertificateBuilder(ca.subject, user).public_key(key)
    builder = builder.add_extension(issuer, critical=False).add_extension(usage, critical=False)
    return _dated(builder, life).sign(ca_key, hashes.SHA256())


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(_pem(key))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
