"""Attacks on ports that have TLS and ask who calls."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from tests.attack.access import given
from tests.attack.clients import ANY, ANY_GRPC, ONE, Attack, connected, crowd, together
from tests.attack.grpc_attacks import SERVICE
from tests.attack.http2 import connect
from tests.attack.http_attacks import held, request, status_of

# Of an attacker with several addresses.
FOUR = [f"127.0.3.{number}" for number in range(2, 6)]
# Calls that are under way on one connection.
_CALLS = 20


def made_up_tokens(each: int, method: str, path: str, body: bytes = b"") -> Attack:
    """Requests with a token that nobody has, another each time; so many clients of one address."""
    asked = (request(method, path, body, token=secrets.token_hex(400)) for _ in itertools.count())
    return _asking(FOUR * each, asked)


def denied(number: int) -> Attack:
    """One that is known and has no right asks for a pod, another each time."""

    def asked() -> Iterator[bytes]:
        access = given()
        assert access is not None
        for pod in itertools.count():
            path = f"/v1/namespaces/default/pods/guessed-{pod}/decision"
            yield request("GET", path, token=access.guest)

    return _asking([ONE] * number, asked())


def _asking(sources: list[str], asked: Iterator[bytes]) -> Attack:
    async def attack(port: int, tally: Counter[str]) -> None:
        def one(source: str) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                async with connected(port, source, ANY) as (reader, writer):
                    while True:
                        writer.write(next(asked))
                        tally[await status_of(reader)] += 1

            return act

        await together(map(one, sources), tally)

    return attack


def made_up_tokens_over_grpc(each: int) -> Attack:
    """Calls with a token that nobody has, another each time; so many connections of one address."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(source: str) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                connection = await connect(port, source, tls=ANY_GRPC)
                try:
                    while not connection.gone:
                        bearers = [f"Bearer {secrets.token_hex(400)}" for _ in range(_CALLS)]
                        calls = [
                            connection.open(
                                SERVICE + "Decide", (b"authorization", one.encode()), end=True
                            )
                            for one in bearers
                        ]
                        for call in calls:
                            await connection.ended(call)
                        tally["ended"] += len(calls)
                finally:
                    connection.close()

            return act

        await together(map(one, FOUR * each), tally)

    return attack


def half_handshakes(number: int) -> Attack:
    """Handshakes that are begun: one half of them by half a greeting, the other by a whole one."""
    hello = _hello()
    parts = held(number // 2, hello[: len(hello) // 2]), held(number // 2, hello)

    async def attack(port: int, tally: Counter[str]) -> None:
        await asyncio.gather(*(part(port, tally) for part in parts))

    return attack


def _hello() -> bytes:
    """What a client of TLS says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ANY.wrap_bio(incoming, outgoing)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("a handshake of one side")


def handshakes(number: int) -> Attack:
    """Whole handshakes, one after the other, so many side by side; nothing is asked."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(source: str) -> Callable[[], Awaitable[None]]:
            async def act() -> None:
                while True:
                    async with connected(port, source, ANY):
                        tally["handshakes"] += 1

            return act

        await together(map(one, crowd(number, each=number // len(FOUR))), tally)

    return attack
