"""TLS as the two transports want it."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.client.settings import Tls


def context_of(tls: Tls) -> ssl.SSLContext:
    """For HTTPS; ValueError: a file cannot be read, or has nothing of TLS in it."""
    for name in ("ca_file", "certificate_file", "key_file"):
        _bytes(tls, name)
    with _named(f"ca_file {tls.ca_file}"):
        context = ssl.create_default_context(cafile=tls.ca_file)
    if tls.certificate_file is not None:
        with _named(f"certificate_file {tls.certificate_file}, key_file {tls.key_file}"):
            context.load_cert_chain(tls.certificate_file, tls.key_file)
    return context


def credentials_of(tls: Tls) -> grpc.ChannelCredentials:
    """For gRPC; ValueError."""
    # grpcio takes whatever bytes there are, and then just reaches nobody.
    context_of(tls)
    own = _bytes(tls, "certificate_file")
    key = _bytes(tls, "key_file") or own
    return grpc.ssl_channel_credentials(_bytes(tls, "ca_file"), key, own)


def _bytes(tls: Tls, name: str) -> bytes | None:
    path = getattr(tls, name)
    with _named(f"{name} {path}"):
        return None if path is None else Path(path).read_bytes()


@contextmanager
def _named(setting: str) -> Iterator[None]:
    """Errors of files, of which those of ssl are some, with the setting that names the file."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{setting}: {error.strerror or error}") from error
