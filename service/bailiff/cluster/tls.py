"""What secures the connections to an API server: by content, not by the names of files."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from bailiff.cluster.errors import ConfigError
from bailiff.key_pairs import load_pair


@dataclass(frozen=True, slots=True)
class Tls:
    """Equal content makes equal connections; a file that was rotated in place is another content.

    Attributes:
        ca: certificates that may vouch for the server, in PEM; None is the system's.
        certificate: our own, in PEM; None where we log in otherwise.
        key: the private key of `certificate`, in PEM; None where it stands with that.
        verify: False takes whatever certificate the server has.
        server_name: the name to look for in the server's certificate; None is the host's.
    """

    ca: bytes | None = field(default=None, repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    verify: bool = True
    server_name: str | None = None

    def context(self) -> ssl.SSLContext:
        """What Python's TLS takes.

        Raises:
            ConfigError: one of them is no PEM, or certificate and key are not a pair, as when
                somebody has replaced one file and not yet the other.
        """
        try:
            # Only certificates count in a PEM, whatever else is written around them.
            ca = None if self.ca is None else self.ca.decode("ascii", "ignore")
            context = ssl.create_default_context(cadata=ca)
            if self.certificate is not None:
                load_pair(context, self.certificate, self.key or self.certificate)
        except (OSError, ValueError) as error:
            raise ConfigError(f"the certificates cannot be used: {error}") from None
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context
