"""Attacks on any port that speaks HTTP/1.1."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping

from tests.attack.clients import ONE, Attack, connected, crowd, together, until_closed

MIB = 1024 * 1024
_CHUNKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
_HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: local"


def request(
    method: str, path: str, body: bytes = b"", length: int | None = None, token: str = ""
) -> bytes:
    """A request whose head tells `length`, or else that of the body."""
    told = len(body) if length is None else length
    proof = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"{proof}Content-Length: {told}\r\n\r\n"
    ).encode() + body


def trailers() -> Attack:
    """One connection whose trailers never end."""

    async def attack(port: int, tally: Counter[str]) -> None:
        async def act() -> None:
            async with connected(port, ONE) as (_, writer):
                writer.write(_CHUNKED)
                while not writer.transport.is_closing():
                    writer.write(b"X-Trailer: " + b"a" * 8000 + b"\r\n")
                    await writer.drain()

        await together([act], tally)

    return attack


def held(number: int, sent: bytes, trickle: bytes = b"", every: float = 0.5) -> Attack:
    """Connections that each send something, and then nothing or next to nothing."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(source: str) -> Callable[[], asyncio.Future[None]]:
            async def act() -> None:
                async with connected(port, source) as (reader, writer):
                    writer.write(sent)
                    closed = asyncio.ensure_future(until_closed(reader))
                    while not closed.done():
                        if trickle:
                            writer.write(trickle)
                        await asyncio.wait({closed}, timeout=every)

            return lambda: asyncio.ensure_future(act())

        await together([one(source) for source in crowd(number)], tally)

    return attack


def half_heads(number: int) -> Attack:
    """Heads of which half is sent."""
    return held(number, _HALF_HEAD)


def line_ends(number: int) -> Attack:
    """One request, and then line ends for ever."""
    return held(number, request("GET", "/healthz"), b"\r\n", every=2.0)


def one_byte_bodies(number: int, path: str) -> Attack:
    """Bodies of which one byte is sent."""
    return held(number, request("POST", path, b"{", length=1000))


def stalled_bodies(number: int, path: str, size: int) -> Attack:
    """Long bodies of which all but the last byte is sent."""
    return held(number, request("POST", path, b" " * (size - 1), length=size))


def unread_answers(number: int, asked: bytes, source: str | None = None) -> Attack:
    """Clients that ask for more than the kernel takes, and read nothing."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(address: str) -> Callable[[], asyncio.Future[None]]:
            async def act() -> None:
                async with connected(port, address) as (_, writer):
                    writer.transport.pause_reading()  # type: ignore[attr-defined]  # a Transport
                    for _ in range(20):
                        writer.write(asked)
                        await asyncio.sleep(1.0)

            return lambda: asyncio.ensure_future(act())

        sources = [source] * number if source else crowd(number)
        await together([one(address) for address in sources], tally)

    return attack


def asked_again(number: int, asked: bytes, source: str | None = None) -> Attack:
    """Clients that ask and read, each the next question when the last one is answered."""

    async def attack(port: int, tally: Counter[str]) -> None:
        def one(address: str) -> Callable[[], asyncio.Future[None]]:
            async def act() -> None:
                async with connected(port, address) as (reader, writer):
                    while True:
                        writer.write(asked)
                        tally[await status_of(reader)] += 1

            return lambda: asyncio.ensure_future(act())

        sources = [source] * number if source else crowd(number)
        await together([one(address) for address in sources], tally)

    return attack


def malformed(number: int) -> Attack:
    """What is no HTTP, again and again."""
    return asked_again(number, b"\x16\x03\x01 nonsense\r\n\r\n", ONE)


def connections(number: int) -> Attack:
    """Connections that are opened and then do nothing."""
    return held(number, b"")


async def status_of(reader: asyncio.StreamReader) -> str:
    """Read an answer; its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = head.partition("content-length: ")[2].partition("\r\n")[0]
    await reader.readexactly(int(length or 0))
    return head[9:12]


def many_taints() -> bytes:
    """1,000 pods on a node with 4,000 taints, each to be explained: 0.2 MiB that meant 816 MB."""
    pods = [{"metadata": {"name": f"p{i}"}} for i in range(1000)]
    taints = [{"key": f"k{i}", "effect": "NoExecute"} for i in range(4000)]
    node = {"metadata": {"name": "n"}, "spec": {"taints": taints}}
    return _batch({"pods": pods, "node": node, "options": {"explain": True}})


def long_key() -> bytes:
    """A taint with a key of 1 MB and 400 pods: 1 MiB that meant 1.2 GB."""
    pods = [{"metadata": {"name": f"p{i}"}} for i in range(400)]
    taints = [{"key": "k" * 950_000, "effect": "NoExecute"}]
    node = {"metadata": {"name": "n"}, "spec": {"taints": taints}}
    return _batch({"pods": pods, "node": node})


def empty_objects() -> bytes:
    """16 MiB of empty pods: one body that meant 937 MiB."""
    size = 16 * MIB - 200
    body = b'{"pods":[' + b",".join([b"{}"] * (size // 3)) + b'],"node":{}}'
    return request("POST", "/v1/decisions/batch", body)


def slices_of_one_device() -> bytes:
    """16,000 slices that all tell of one device."""
    taints = [{"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]
    spec = {
        "driver": "x",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "d", "taints": taints}],
    }
    slices = [{"metadata": {"name": f"s{i}"}, "spec": spec} for i in range(16_000)]
    pods = [{"metadata": {"name": "p"}}]
    facts = {"pods": pods, "deviceTaints": {"resourceClaims": [], "resourceSlices": slices}}
    return _batch(facts)


def _batch(facts: Mapping[str, object]) -> bytes:
    body = json.dumps(facts, separators=(",", ":")).encode()
    return request("POST", "/v1/decisions/batch", body)
