"""What is to be done about a certificate: pure, from what the Secret holds and the instant.

A certificate is replaced in two steps, so that at no moment a caller meets one that it has not been
told to believe:

- ISSUE: the new authority is put beside the old one wherever it is believed; only then is the new
  certificate served. Some pods serve the old one for a while still.
- PRUNE: when all must serve the new one, the old authority is taken away.

A run that ends half way leaves at most an authority too many, which the next PRUNE takes away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from bailiff.certificates.issuing import BACKDATED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
# Believed besides a new one: the present, and what a run that ended half way has left.
_KEPT = 2
# Bytes that are looked at of a bundle somebody else wrote.
_LONGEST = 64 * 1024


class Step(StrEnum):
    """See the module."""

    NONE = "none"
    ISSUE = "issue"
    PRUNE = "prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How certificates are to be.

    Attributes:
        names: DNS names that the server is called by, at least one.
        life: of a certificate.
        renewed_before: so long before its end it is replaced; shorter than `life`.
        kept: so long after a certificate was made its predecessor's authority is believed.
    """

    names: tuple[str, ...]
    life: timedelta = timedelta(days=90)
    renewed_before: timedelta = timedelta(days=30)
    kept: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and why.

    Attributes:
        step: what.
        why: for people.
        authorities: that are to be believed: with ISSUE besides the new one's.
        expires_at: of the certificate that is there; None where there is none that is any good.
        told: webhook configurations whose authorities were changed, when it was carried out.
    """

    step: Step
    why: str
    authorities: tuple[bytes, ...] = ()
    expires_at: datetime | None = None
    told: tuple[str, ...] = ()


def plan(held: Mapping[str, bytes], terms: Terms, now: datetime, *, force: bool = False) -> Plan:
    """What is to be done.

    Args:
        held: what the Secret holds: `tls.crt`, `tls.key`, `ca.crt`, as far as they are there.
        terms: how certificates are to be.
        now: with time zone.
        force: replace it whatever its age.
    """
    authorities = _authorities(held.get("ca.crt", b""))
    valid = [one for one in authorities if one.not_valid_after_utc > now]
    found = _served(held, authorities)
    if isinstance(found, str):
        return Plan(Step.ISSUE, found, _pems(valid[-_KEPT:]))
    certificate, signer = found
    why = "told to" if force else _why_to_issue(certificate, signer, terms, now)
    expires_at = certificate.not_valid_after_utc
    if why:
        # The one that is served is kept last: what is cut is older.
        others = [one for one in valid if one != signer]
        kept = [*others, signer] if signer in valid else others
        return Plan(Step.ISSUE, why, _pems(kept[-_KEPT:]), expires_at)
    made_at = certificate.not_valid_before_utc + BACKDATED
    if len(authorities) > 1 and now >= made_at + terms.kept:
        why = f"all serve the certificate of {made_at:%Y-%m-%dT%H:%M:%SZ} by now"
        return Plan(Step.PRUNE, why, _pems([signer]), expires_at)
    return Plan(Step.NONE, "it is good", _pems(authorities), expires_at)


def _why_to_issue(
    certificate: x509.Certificate, signer: x509.Certificate, terms: Terms, now: datetime
) -> str:
    begins = max(certificate.not_valid_before_utc, signer.not_valid_before_utc)
    if begins > now:
        # Made by somebody whose clock was ahead: whoever is called with it refuses it until then.
        return f"it is not valid before {begins:%Y-%m-%dT%H:%M:%SZ}"
    if signer.not_valid_after_utc <= now:
        return "its authority has ended"
    if now >= certificate.not_valid_after_utc - terms.renewed_before:
        return f"it ends at {certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"
    names = _names(certificate)
    if names != set(terms.names):
        return f"it is for other names: {', '.join(sorted(names ^ set(terms.names)))}"
    return ""


def _served(
    held: Mapping[str, bytes], authorities: Sequence[x509.Certificate]
) -> tuple[x509.Certificate, x509.Certificate] | str:
    """The certificate and the authority that vouches for it; as text, why it is no good."""
    if not held.get("tls.crt") or not held.get("tls.key"):
        return "there is none"
    try:
        certificate = x509.load_pem_x509_certificate(held["tls.crt"])
        key = load_pem_private_key(held["tls.key"], password=None).public_key()
        is_its_own = key == certificate.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "it cannot be read"
    if not is_its_own:
        return "its private key is another's"
    for authority in reversed(authorities):
        if _vouches(authority, certificate):
            return certificate, authority
    return "no authority vouches for it"


def _vouches(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _authorities(bundle: bytes) -> list[x509.Certificate]:
    found: list[x509.Certificate] = []
    for pem in _PEM.findall(bundle[-_LONGEST:]):
        try:
            found.append(x509.load_pem_x509_certificate(pem))
        except ValueError:
            continue
    return found


def _names(certificate: x509.Certificate) -> set[str]:
    try:
        told = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return set(told.get_values_for_type(x509.DNSName))


def _pems(certificates: Sequence[x509.Certificate]) -> tuple[bytes, ...]:
    return tuple(one.public_bytes(Encoding.PEM) for one in certificates)
