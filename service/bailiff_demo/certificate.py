"""A certificate authority of one demo cluster, and what it serves TLS with.

kubectl sends a token over TLS alone (clientcmd of k8s.io/client-go), so a cluster that asks for one
has to serve it. Both keys are made anew at each start, and are written nowhere that outlives it.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from prometheus_client import CollectorRegistry

from bailiff.serving import ServingTls, TlsFiles

# Longer than a demo is left running.
_LIFE = dt.timedelta(days=365)
_ADDRESSES = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class Certificate:
    """What a demo cluster proves with that it is this one.

    Attributes:
        authority: who vouches for it, in PEM; for kubeconfigs.
        tls: to serve with.
    """

    authority: str
    tls: ServingTls


def new_certificate() -> Certificate:
    """For `localhost` and the addresses of loopback."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _authority(authority_key)
    served = _served(authority, authority_key, key.public_key())
    with tempfile.TemporaryDirectory(prefix="bailiff-") as folder:
        files = TlsFiles(Path(folder) / "tls.crt", Path(folder) / "tls.key")
        files.certificate.write_bytes(_pem(served))
        files.key.write_bytes(_key_pem(key))
        # It is never asked to look at them again.
        tls = ServingTls(files, CollectorRegistry())
    return Certificate(_pem(authority).decode(), tls)


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    usage = dict.fromkeys(_USAGES, False) | {"key_cert_sign": True, "crl_sign": True}
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    name = _name("bailiff-demo-ca")
    builder = _dated(name, name, key.public_key()).add_extension(own, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return builder.add_extension(x509.KeyUsage(**usage), critical=True).sign(key, hashes.SHA256())


def _served(
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    key: ec.EllipticCurvePublicKey,
) -> x509.Certificate:
    addresses = [x509.IPAddress(ipaddress.ip_address(one)) for one in _ADDRESSES]
    names = x509.SubjectAlternativeName([*addresses, x509.DNSName("localhost")])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = _dated(authority.subject, _name("bailiff-demo"), key)
    for extension in (names, issuer, usage):
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(authority_key, hashes.SHA256())


_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _dated(
    issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
    # Clocks of containers on this machine may differ a little.
    return builder.not_valid_before(now - dt.timedelta(hours=1)).not_valid_after(now + _LIFE)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
