"""What a process serves TLS with: files that are read at the start, and again when they change.

Content that cannot be used changes nothing: the certificate that is served stays. The files are
written one by one, so a change counts only if certificate and key are a pair.

Each change makes a context of its own, for the connections that come then: OpenSSL can add to
those who vouch for clients but forget none of them, and a pair that turns out to be none would
leave half of it in a context that is in use. Connections that stand are not touched.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import structlog
from prometheus_client import Counter, Gauge

from bailiff.file_watch import LOOK_EVERY, FileWatch, see
from bailiff.key_pairs import load_pair

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from prometheus_client import CollectorRegistry

# Of TLS 1.2, all with forward secrecy; those of 1.3 are all good, and OpenSSL's to choose.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"

log = structlog.get_logger(__name__)


class TlsUnusableError(Exception):
    """The files do not serve; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Where it stands what to serve with.

    Attributes:
        certificate: with its chain, in PEM.
        key: its private key, in PEM, not encrypted.
        client_ca: certificates, in PEM, that may vouch for clients; None: clients show none.
        clients_must: whether who shows no certificate is refused; else it is let in as nobody.
        hook_ca: certificates, in PEM, of which one must vouch for who calls hooks on their own
            port; None: nobody shows any there, whatever the other ports ask for.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    clients_must: bool = False
    hook_ca: Path | None = None


@dataclass(frozen=True, slots=True)
class TlsContent:
    """What the files hold, in PEM, or a part of it."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    client_ca: bytes | None = field(default=None, repr=False)
    hook_ca: bytes | None = field(default=None, repr=False)


# What a look has seen: the contents, or why they cannot be read.
_Sight: TypeAlias = "TlsContent | str"


@dataclass(frozen=True, slots=True)
class TlsInForce:
    """What new connections are served with.

    Attributes:
        content: of the files.
        http: the same for Python's TLS, for HTTP/1.1.
        grpc: the same for HTTP/2, which is named in the handshake, as gRPC wants it (ALPN).
        hooks: the same for HTTP/1.1 where hooks have a port of their own.
        expires_at: when the certificate does.
    """

    content: TlsContent
    http: ssl.SSLContext
    grpc: ssl.SSLContext
    hooks: ssl.SSLContext
    expires_at: dt.datetime


class ServingTls:
    """The TLS of all ports of one process.

    Attributes:
        files: see there.
        in_force: replaced as a whole, so that any thread may read it.
    """

    def __init__(
        self, files: TlsFiles, registry: CollectorRegistry, look_every: float = LOOK_EVERY
    ) -> None:
        """Read the files. Blocks as long as a disk does.

        Args:
            files: at most 1 MiB each.
            registry: for metrics.
            look_every: seconds between two looks, above 0.

        Raises:
            TlsUnusableError: there is nothing to serve with.
        """
        self.files = files
        self._watch = FileWatch(lambda: _see(files), look_every)
        found = _interpret(self._watch.seen, files)
        if isinstance(found, str):
            raise TlsUnusableError(found)
        self.in_force = found
        self._metrics = TlsMetrics(registry)
        self._metrics.applied(found)

    async def run(self) -> None:
        """Look until cancelled, in a thread: neither disk nor OpenSSL stops the event loop."""
        while True:
            await self._take(await self._watch.change())

    async def _take(self, sight: _Sight) -> None:
        found = await asyncio.to_thread(_interpret, sight, self.files)
        if isinstance(found, str):
            # Once for each content that has been seen twice, so at most every other look.
            log.error("certificate not changed", error=found)
            self._metrics.refused()
            return
        self.in_force = found
        self._metrics.applied(found)
        log.info("certificate read", expires_at=found.expires_at.isoformat())


class TlsMetrics:
    """What is told of the certificate, and of its reloads."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._expiry = Gauge(
            "bailiff_tls_certificate_expiry_timestamp_seconds",
            "When the certificate that is served expires, in seconds since 1970.",
            registry=registry,
        )
        self._reloads = Counter(
            "bailiff_tls_reloads_total",
            "Contents of the files of TLS that were read, the first included, by result: applied, "
            "or failed and the certificate that is served kept.",
            ["result"],
            registry=registry,
        )
        self._current = Gauge(
            "bailiff_tls_certificate_current",
            "1 while what is served is what the files of TLS hold, 0 after a failure.",
            registry=registry,
        )
        for result in ("applied", "failed"):
            self._reloads.labels(result)

    def applied(self, found: TlsInForce) -> None:
        """A content is served from now on."""
        self._reloads.labels("applied").inc()
        self._current.set(1)
        self._expiry.set(found.expires_at.timestamp())

    def refused(self) -> None:
        """A content cannot be served with."""
        self._reloads.labels("failed").inc()
        self._current.set(0)


def _see(files: TlsFiles) -> _Sight:
    """The contents of the files; as text, why they cannot be had."""
    read: list[bytes | None] = []
    for path in (files.certificate, files.key, files.client_ca, files.hook_ca):
        content = None if path is None else see(path)
        if isinstance(content, str):
            return f"{path}: {content}"
        read.append(content)
    certificate, key, client_ca, hook_ca = read
    return TlsContent(certificate or b"", key or b"", client_ca, hook_ca)


def _interpret(sight: _Sight, files: TlsFiles) -> TlsInForce | str:
    """What to serve with; as text, why that cannot be."""
    if isinstance(sight, str):
        return sight
    http, grpc, hooks = map(_new_context, ("http/1.1", "h2", "http/1.1"))
    try:
        for context in (http, grpc, hooks):
            load_pair(context, sight.certificate, sight.key)
        expires_at = _expiry(sight.certificate)
    except (OSError, ValueError) as error:
        return _why_no_pair(sight, files, error)
    asking = (
        (http, sight.client_ca, files.clients_must, files.client_ca),
        (grpc, sight.client_ca, files.clients_must, files.client_ca),
        (hooks, sight.hook_ca, True, files.hook_ca),
    )
    for context, authorities, must, path in asking:
        try:
            if authorities is not None:
                _ask_clients(context, authorities, must=must)
        except (OSError, ValueError) as error:
            return f"{path}: {error}"
    return TlsInForce(sight, http, grpc, hooks, expires_at)


def _why_no_pair(sight: TlsContent, files: TlsFiles, error: Exception) -> str:
    """By OpenSSL's words alone nobody sees which file it is about."""
    if b"-----BEGIN CERTIFICATE-----" not in sight.certificate:
        return f"{files.certificate}: no certificate in PEM"
    if b"PRIVATE KEY-----" not in sight.key:
        return f"{files.key}: no private key in PEM"
    return f"{files.certificate}, {files.key}: {error}"


def _new_context(protocol: str) -> ssl.SSLContext:
    """As Mozilla's "intermediate" configuration, but for DHE, which nobody needs any more."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    # A client could have our processor work on one handshake after the other.
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols([protocol])
    return context


def _ask_clients(context: ssl.SSLContext, authorities: bytes, *, must: bool) -> None:
    # Only certificates count in a PEM, whatever else is written around them.
    context.load_verify_locations(cadata=authorities.decode("ascii", "ignore"))
    context.verify_mode = ssl.CERT_REQUIRED if must else ssl.CERT_OPTIONAL
    # As Go's, and so kube-apiserver's: an intermediate authority in the file is enough.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # A session that is resumed is not verified again. In TLS 1.2 it may be all the same, by its
    # number; one whose certificate has expired by then is nobody (Peer.expires_at), and a change
    # of the authorities makes another context, which knows no session.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0


def _expiry(certificate: bytes) -> dt.datetime:
    # Who serves without TLS does not wait for it.
    from cryptography import x509  # noqa: PLC0415

    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
