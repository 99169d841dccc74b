"""What attackers have in common: where they come from, and connections that are held open."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeAlias

# One attacker has one address; a crowd has as many as connections per address make necessary.
ONE = "127.0.0.2"
# Seconds before a connection that was refused or cut is made again.
_AGAIN = 0.1
_HURRY = 5.0
Stream: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# What is done with a port until it is cancelled, and what it counts meanwhile.
Attack: TypeAlias = Callable[[int, Counter[str]], Awaitable[None]]


def crowd(number: int, each: int = 200) -> list[str]:
    """An address for each of so many connections, `each` of them from one."""
    return [f"127.0.1.{2 + index // each}" for index in range(number)]


def _any_server(*protocols: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


# TLS of who does not mind whom it attacks, and the same for gRPC.
ANY, ANY_GRPC = _any_server(), _any_server("h2")


@contextlib.asynccontextmanager
async def connected(
    port: int, source: str, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Stream]:
    """A connection from an address of this machine; reset in the end."""
    async with asyncio.timeout(_HURRY):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(source, 0), ssl=tls
        )
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def forever(act: Callable[[], Awaitable[None]], tally: Counter[str]) -> None:
    """Again and again, whatever becomes of it."""
    while True:
        try:
            await act()
            tally["done"] += 1
        except (OSError, asyncio.IncompleteReadError, TimeoutError, RuntimeError) as error:
            # uvloop says by a RuntimeError that a connection was closed meanwhile.
            tally[type(error).__name__] += 1
        await asyncio.sleep(_AGAIN)


async def together(acts: Iterable[Callable[[], Awaitable[None]]], tally: Counter[str]) -> None:
    """All of them side by side, each again and again."""
    async with asyncio.TaskGroup() as group:
        for act in acts:
            group.create_task(forever(act, tally))


async def until_closed(reader: asyncio.StreamReader) -> None:
    """Read and forget whatever comes, until the server hangs up."""
    with contextlib.suppress(OSError):
        while await reader.read(65536):
            pass
