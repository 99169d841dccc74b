"""An HTTP proxy that passes TLS on to one server, and notes what it was asked for."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from tests.harness.kube.relay import Relay

if TYPE_CHECKING:
    import asyncio

    from tests.harness.kube.tls import Tls


class Tunnel(Relay):
    """A relay to one loopback port that is told by CONNECT to begin.

    Args:
        target: the port to pass on to, whatever host is asked for.
        tls: it is an HTTPS proxy with these files; None is plain HTTP.

    Attributes:
        asked: of each connection the host with its port, and the Proxy-Authorization header.
    """

    def __init__(self, target: int, tls: Tls | None = None) -> None:
        super().__init__(target)
        self.asked: list[tuple[str, str]] = []
        if tls is not None:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(tls.certificate, tls.key)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        self.asked.append((head[0].split(" ")[1], headers.get("Proxy-Authorization", "")))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await super()._pass(reader, writer)
