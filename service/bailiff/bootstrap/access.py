"""Who may ask a process, and how its connections are secured; light, as bootstrap/choices.py."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Where all of this may stand in the environment.
ACCESS_VARIABLES = frozenset(
    {
        "BAILIFF_TLS_CERT_FILE",
        "BAILIFF_TLS_PRIVATE_KEY_FILE",
        "BAILIFF_CLIENT_CA_FILE",
        "BAILIFF_TOKEN_AUTH_FILE",
        "BAILIFF_AUTHENTICATION_TOKEN_WEBHOOK",
        "BAILIFF_INSECURE",
    }
)


@dataclass(frozen=True, kw_only=True)
class AccessChoice:
    """What the command line says of TLS and of callers; the same for all ports of a process.

    Attributes:
        tls_cert_file: certificate to serve with and its chain, in PEM; None: no TLS.
        tls_private_key_file: its private key, in PEM, not encrypted.
        client_ca_file: certificates, in PEM, that may vouch for callers; None: callers have none.
        token_auth_file: callers and their tokens, as kube-apiserver's `--token-auth-file`.
        token_webhook: have the cluster tell who is behind a token (TokenReview).
        insecure: listen elsewhere than on loopback though nobody is asked who they are.

    Raises:
        ValueError: they make no sense together; the message names the options.
    """

    tls_cert_file: Path | None = None
    tls_private_key_file: Path | None = None
    client_ca_file: Path | None = None
    token_auth_file: Path | None = None
    token_webhook: bool = False
    insecure: bool = False

    def __post_init__(self) -> None:
        if (self.tls_cert_file is None) != (self.tls_private_key_file is None):
            raise ValueError("--tls-cert-file and --tls-private-key-file need each other")
        if self.client_ca_file is not None and self.tls_cert_file is None:
            raise ValueError("--client-ca-file needs --tls-cert-file and --tls-private-key-file")

    @property
    def asks_for_tokens(self) -> bool:
        """Whether a caller can prove by a token who it is."""
        return self.token_auth_file is not None or self.token_webhook

    @property
    def asks_who(self) -> bool:
        """Whether callers have to prove who they are."""
        return self.client_ca_file is not None or self.asks_for_tokens

    @property
    def scheme(self) -> str:
        """Of the URLs of this process."""
        return "http" if self.tls_cert_file is None else "https"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches who listens on `host`.

    Args:
        host: an address, or a name, which is looked up.

    Raises:
        OSError: nobody knows such a name.
    """
    found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)
