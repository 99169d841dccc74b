"""TLS as the two transports want it."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

if TYPE_CHECKING:
    from bailiff.client.settings import Tls


def context_of(tls: Tls) -> ssl.SSLContext:
    """For HTTPS; OSError, ssl.SSLError."""
    context = ssl.create_default_context(cafile=tls.ca_file)
    if tls.certificate_file is not None:
        context.load_cert_chain(tls.certificate_file, tls.key_file)
    return context


def credentials_of(tls: Tls) -> grpc.ChannelCredentials:
    """For gRPC; OSError."""
    own = _bytes(tls.certificate_file)
    key = _bytes(tls.key_file) if tls.key_file is not None else own
    return grpc.ssl_channel_credentials(_bytes(tls.ca_file), key, own)


def _bytes(path: str | Path | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
