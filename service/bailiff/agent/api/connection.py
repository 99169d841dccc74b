"""One connection to a server of HTTP/1.1, for one request at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.agent.api.answers import Incoming

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable
    from typing import SupportsIndex

_READ_AT_ONCE = 64 * 1024
# Seconds for which one is kept: what stands between may forget it then, and tell nobody.
_KEPT_FOR = 30.0


class _Reader(asyncio.StreamReader):
    """Notes that something has come which nobody has asked for."""

    rests = False
    was_disturbed = False

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """What the transport calls."""
        self.was_disturbed = self.was_disturbed or self.rests
        super().feed_data(data)


class Connection:
    """Owned by whoever has opened it, who closes it."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        """Send and read by these; see `opened`."""
        self._reader = reader
        self._writer = writer
        self._used_at = 0.0

    @classmethod
    async def opened(
        cls, host: str, port: int, tls: ssl.SSLContext | None, server_name: str | None
    ) -> Connection:
        """A new one.

        Args:
            host: where to.
            port: of the host.
            tls: who vouches for the other side; None: in plain.
            server_name: that its certificate is to be for; None with no TLS.

        Raises:
            OSError: there is none, or it is not who it should be.
        """
        loop = asyncio.get_running_loop()
        reader = _Reader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.create_connection(
            lambda: protocol, host, port, ssl=tls, server_hostname=server_name
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    @property
    def is_usable(self) -> bool:
        """Whether the other side has not hung up, as far as is known, and is like to be there.

        One that has said something meanwhile, as a proxy that takes it for idle (408), is about to.
        """
        if self._reader.at_eof() or self._reader.was_disturbed or self._writer.is_closing():
            return False
        return asyncio.get_running_loop().time() - self._used_at < _KEPT_FOR

    def rest(self) -> None:
        """It is kept for the next request."""
        self._used_at = asyncio.get_running_loop().time()
        self._reader.rests = True

    async def begin(self, head: bytes, body: bytes | None) -> Incoming:
        """Send a request and wait for the head of its answer."""
        self._reader.rests = False
        self._writer.write(head + (body or b""))
        await self._writer.drain()
        answer = Incoming()
        while answer.in_head:
            await self.more(answer)
        return answer

    async def more(self, answer: Incoming) -> None:
        """Wait for something more of an answer.

        Raises:
            ConnectionError: the connection ended before the answer did.
            NoHttpError: see Incoming.
        """
        data = await self._reader.read(_READ_AT_ONCE)
        if not data:
            raise ConnectionResetError("the connection ended before the answer did")
        answer.feed(data)

    def close(self) -> None:
        """Hang up, without waiting for the other side."""
        self._writer.transport.abort()
