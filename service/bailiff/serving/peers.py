"""Who a client says it is by its certificate, once that has been verified."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import datetime as dt
    from collections.abc import Mapping

    from cryptography import x509

# Where it stands in the state of an ASGI scope: scope["state"]["tls_peer"].
PEER = "tls_peer"


@dataclass(frozen=True, slots=True)
class Peer:
    """The subject of a client's certificate, as Kubernetes reads it.

    The rule is kube-apiserver's (CommonNameUserConversion of
    apiserver/pkg/authentication/request/x509).

    Attributes:
        user: the common name; the last of several, as Go's; never empty.
        groups: the organizations, in their order.
        expires_at: when the certificate does. A connection may live longer.
    """

    user: str
    groups: tuple[str, ...]
    expires_at: dt.datetime


def peer_of(scope: Mapping[str, Any], now: dt.datetime) -> Peer | None:
    """Who has sent an HTTP request, by its certificate.

    Args:
        scope: of ASGI.
        now: in UTC.

    Returns:
        None: it has shown no certificate, one without a common name, or one that has expired
        since; or the port has no TLS, or asks for none.
    """
    peer: Peer | None = scope.get("state", {}).get(PEER)
    return peer if peer is not None and now <= peer.expires_at else None


def knowing_peer(protocol: Any) -> Any:  # noqa: ANN401 - a type that mypy cannot add to
    """The same protocol of uvicorn for TLS: its requests say whose certificate was verified."""
    return type("Secured", (_KnowingPeer, protocol), {})


class _KnowingPeer:
    """Beside uvicorn's protocol, which gives each request a copy of `app_state`."""

    app_state: dict[str, Any]

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.app_state = self.app_state | {PEER: peer_of_connection(transport)}
        super().connection_made(transport)  # type: ignore[misc]  # the protocol's


def peer_of_connection(secured: asyncio.BaseTransport) -> Peer | None:
    """Whose certificate was verified in a TLS handshake that is over; None: nobody's."""
    connection: ssl.SSLObject = secured.get_extra_info("ssl_object")
    # Else a certificate may be there that nobody has verified.
    if connection.context.verify_mode is ssl.CERT_NONE:
        return None
    certificate = connection.getpeercert(binary_form=True)
    return None if certificate is None else peer_from_der(certificate)


def peer_from_der(certificate: bytes) -> Peer | None:
    """The subject of a verified certificate; None where it names nobody, or cannot be read."""
    # Who serves without client certificates does not wait for it.
    from cryptography import x509  # noqa: PLC0415

    try:
        return _subject(x509.load_der_x509_certificate(certificate))
    except (ValueError, TypeError, x509.InvalidVersion):
        # OpenSSL takes some that are not as they should be; so does cryptography, until a field
        # is looked at.
        return None


def _subject(certificate: x509.Certificate) -> Peer | None:
    from cryptography.x509.oid import NameOID  # noqa: PLC0415 - as there

    names = _texts(certificate, NameOID.COMMON_NAME)
    if not names or not names[-1]:
        return None
    groups = _texts(certificate, NameOID.ORGANIZATION_NAME)
    return Peer(names[-1], tuple(groups), certificate.not_valid_after_utc)


def _texts(certificate: x509.Certificate, kind: x509.ObjectIdentifier) -> list[str]:
    found = (one.value for one in certificate.subject.get_attributes_for_oid(kind))
    return [one for one in found if isinstance(one, str)]
