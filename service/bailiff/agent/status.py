"""The status port: /healthz, /readyz, /metrics and /v1/agent, in a few kilobytes.

It answers GET alone, one request a connection, few connections at a time, each within five seconds:
whoever asks must not slow a round down. uvicorn and an ASGI framework would take a third of the
memory that the agent has.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import httptools
import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.agent.log import Log

# Seconds for a request and its answer.
_TIMEOUT = 5.0
_MAX_HEAD = 8 * 1024
_MOST_CONNECTIONS = 16
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
_REASONS = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
}
_UNAVAILABLE = 503


class Page(NamedTuple):
    """What is answered."""

    body: bytes
    status: int = 200
    media_type: str = TEXT


Pages: TypeAlias = "Mapping[str, Callable[[], Page]]"


class StatusPort:
    """Serves pages. Start it, and stop it."""

    def __init__(self, pages: Pages, log: Log, private: frozenset[str] = frozenset()) -> None:
        """Prepare.

        Args:
            pages: by path; a page is made when it is asked for, and must be quick.
            log: hears of who is not answered.
            private: paths that only this machine, or pod, is told.
        """
        self._pages = pages
        self._private = private
        self._log = log
        self._open: dict[asyncio.Task[None] | None, asyncio.StreamWriter] = {}
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; the port that was taken.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._server = await asyncio.start_server(self._serve, host, port, limit=_MAX_HEAD)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Listen no more; what is being answered is cut off."""
        if self._server is not None:
            self._server.close()
            for writer in self._open.values():
                writer.transport.abort()
            # Whoever is answered sees that, and ends.
            while tasks := [one for one in self._open if one is not None]:
                await asyncio.wait(tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open[task] = writer
        try:
            if len(self._open) > _MOST_CONNECTIONS:
                # The oldest has not asked for anything yet, and a probe asks at once.
                next(iter(self._open.values())).transport.abort()
            async with asyncio.timeout(_TIMEOUT):
                await self._answer(reader, writer)
        except (TimeoutError, OSError) as error:
            # Whoever asked has gone, or is too slow.
            self._log.debug("not answered", error=str(error))
        finally:
            del self._open[task]
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            page = self._page(head, writer.get_extra_info("peername"))
        except (asyncio.LimitOverrunError, asyncio.IncompleteReadError):
            page = Page(b"the head of the request is too long\n", 400)
        reason = _REASONS.get(page.status, "Service Unavailable")
        lines = (
            f"HTTP/1.1 {page.status} {reason}",
            f"Content-Type: {page.media_type}",
            f"Content-Length: {len(page.body)}",
            "Connection: close",
            "",
            "",
        )
        writer.write("\r\n".join(lines).encode() + page.body)
        await writer.drain()

    def _page(self, head: bytes, peer: tuple[str, int] | None) -> Page:
        asked = _Asked()
        try:
            asked.read(head)
        except httptools.HttpParserError:
            return Page(b"this is no HTTP request\n", 400)
        page = self._pages.get(asked.path)
        if page is None:
            known = ", ".join(self._pages)
            return Page(f"no such page, there are {known}\n".encode(), 404)
        if asked.path in self._private and not _is_here(peer):
            return Page(b"only by 127.0.0.1, in a pod by kubectl port-forward\n", 403)
        if asked.method not in ("GET", "HEAD"):
            return Page(b"only GET\n", 405)
        found = page()
        return found._replace(body=b"") if asked.method == "HEAD" else found


def _is_here(peer: tuple[str, int] | None) -> bool:
    """Of one that has hung up already the address is not known."""
    return peer is not None and ipaddress.ip_address(peer[0]).is_loopback


class _Asked:
    """A request's method and path."""

    def __init__(self) -> None:
        self.method = ""
        self.path = ""

    def read(self, head: bytes) -> None:
        """Raises httptools.HttpParserError."""
        parser: Any = httptools.HttpRequestParser(self)
        # An upgrade may be offered, and is not taken.
        with contextlib.suppress(httptools.HttpParserUpgrade):
            parser.feed_data(head)
        self.method = parser.get_method().decode("latin-1")

    def on_url(self, url: bytes) -> None:
        """What httptools calls."""
        self.path += url.partition(b"?")[0].decode("latin-1")


def verdict(complaints: list[str]) -> Page:
    """Of a probe: `ok`, or what is wrong, a line each."""
    if not complaints:
        return Page(b"ok\n")
    return Page("".join(f"{one}\n" for one in complaints).encode(), _UNAVAILABLE)


def as_json(told: object) -> Page:
    """A value as JSON."""
    return Page(msgspec.json.encode(told) + b"\n", media_type=JSON)
