"""One connection to a server of HTTP/1.1, for one request at a time."""

from __future__ import annotations

import asyncio

from bailiff.agent.api.answers import Incoming

_READ_AT_ONCE = 64 * 1024
# Seconds for which one is kept: what stands between may forget it then, and tell nobody.
_KEPT_FOR = 30.0


class Connection:
    """Owned by whoever has opened it, who closes it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send and read by these."""
        self._reader = reader
        self._writer = writer
        self._used_at = 0.0

    @property
    def is_usable(self) -> bool:
        """Whether the other side has not hung up, as far as is known, and is like to be there."""
        if self._reader.at_eof() or self._writer.is_closing():
            return False
        return asyncio.get_running_loop().time() - self._used_at < _KEPT_FOR

    def rest(self) -> None:
        """It is kept for the next request."""
        self._used_at = asyncio.get_running_loop().time()

    async def begin(self, head: bytes, body: bytes | None) -> Incoming:
        """Send a request and wait for the head of its answer."""
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
