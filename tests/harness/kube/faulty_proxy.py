"""An HTTP proxy between a client and the API server that does what bad networks and servers do.

Clients speak plain HTTP to it on loopback, it speaks TLS to the server. What goes wrong, and with
which request, comes from a seeded generator.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, Self

import aiohttp
import yaml
from aiohttp import web

from tests.harness.kube.storms import Storm, refusal

if TYPE_CHECKING:
    import random
    from pathlib import Path

_PASSED_ON = ("Authorization", "Content-Type", "Accept", "Accept-Encoding", "User-Agent")
_PASSED_BACK = ("Content-Type", "Content-Encoding", "Retry-After")
# Seconds. Below the client's request timeout, so that slow is not the same as silent.
_LONGEST_DELAY = 3.0
_WATCH_LIFE = (1.0, 15.0)
_SERVER_PATIENCE = 30.0


class Fault(Enum):
    """What happens to a request; the value names it in the counts."""

    DROP = "dropped before the server had it"
    SWALLOW = "done, and its answer dropped"
    TRUNCATE = "its answer cut in half"
    DELAY = "delayed"
    TOO_MANY = "answered 429"
    BROKEN = "answered 500"
    UNAVAILABLE = "answered 503"


_REFUSALS = {
    Fault.TOO_MANY: (429, "TooManyRequests"),
    Fault.BROKEN: (500, "InternalError"),
    Fault.UNAVAILABLE: (503, "ServiceUnavailable"),
}


class FaultyProxy:
    """The proxy.

    Args:
        target: the API server's port on 127.0.0.1.
        ca: the CA it is verified with; None: it speaks plain HTTP.
        rng: chooses.
        rate: which share of requests goes wrong, 0 to 1.

    Attributes:
        down: hangs up on everybody while true; see `cut` for what is open already.
        storm: answers instead of the server while it is set.
        counts: how many requests went which way.
    """

    def __init__(self, target: int, ca: Path | None, rng: random.Random, rate: float) -> None:
        self._target = f"{'https' if ca else 'http'}://127.0.0.1:{target}"
        self._tls = ssl.create_default_context(cafile=str(ca)) if ca else False
        self._rng = rng
        self._rate = rate
        self._open: set[asyncio.Transport] = set()
        self._watches: Counter[str] = Counter()
        self._forgotten: set[str] = set()
        self.down = False
        self.storm: Storm | None = None
        self.counts: Counter[str] = Counter()

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._tls, limit=0)
        self._client = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        # Who has hung up must not leave a watch behind that nobody reads.
        server = web.Server(self._answer, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.down = True
        self.cut()
        await self._runner.cleanup()
        await self._client.close()

    def cut(self) -> None:
        """Break every request that is under way."""
        for transport in list(self._open):
            transport.abort()

    def expire(self) -> None:
        """Break everything; watches that then want to go on where they were meet 410 Gone."""
        self._forgotten |= {path for path, count in self._watches.items() if count}
        self.cut()

    def kubeconfig(self, like: Path) -> Path:
        """A kubeconfig that goes by this proxy, beside the one that it is made from."""
        content = yaml.safe_load(like.read_text())
        content["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.port}"}
        path = like.with_name(f"proxy-{self.port}.kubeconfig")
        path.write_text(yaml.safe_dump(content))
        return path

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if transport is None or self.down:
            return _hang_up(transport)
        self._open.add(transport)
        try:
            return await self._go_between(request, transport)
        except (aiohttp.ClientError, OSError, TimeoutError):
            # The server is down, or has broken off: so do we.
            return _hang_up(transport)
        finally:
            self._open.discard(transport)

    async def _go_between(
        self, request: web.BaseRequest, transport: asyncio.Transport
    ) -> web.StreamResponse:
        if self.storm is not None and (answer := self.storm(request)) is not None:
            self.counts[f"answered {answer.status} by a storm"] += 1
            return answer
        fault = await self._choose(request)
        if fault in _REFUSALS:
            return refusal(*_REFUSALS[fault])
        if fault is Fault.DROP:
            return _hang_up(transport)
        if fault is Fault.DELAY:
            await asyncio.sleep(self._rng.uniform(0.0, _LONGEST_DELAY))
        if request.query.get("watch") == "true":
            return await self._pass_watch(request, transport, fault)
        return await self._pass_request(request, transport, fault)

    async def _choose(self, _request: web.BaseRequest) -> Fault | None:
        fault = self._rng.choice(list(Fault)) if self._rng.random() < self._rate else None
        self.counts[fault.value if fault else "passed on"] += 1
        return fault

    async def _pass_request(
        self, request: web.BaseRequest, transport: asyncio.Transport, fault: Fault | None
    ) -> web.StreamResponse:
        async with asyncio.timeout(_SERVER_PATIENCE), await self._ask(request) as answer:
            body = await answer.read()
        if fault is Fault.SWALLOW:
            return _hang_up(transport)
        response = web.StreamResponse(status=answer.status, headers=_headers(answer))
        response.content_length = len(body)
        await response.prepare(request)
        if fault is Fault.TRUNCATE:
            await response.write(body[: len(body) // 2])
            return _hang_up(transport)
        await response.write(body)
        return response

    async def _pass_watch(
        self, request: web.BaseRequest, transport: asyncio.Transport, fault: Fault | None
    ) -> web.StreamResponse:
        if request.path in self._forgotten and "sendInitialEvents" not in request.query:
            self._forgotten.discard(request.path)
            self.counts["watches answered 410"] += 1
            return await _expired(request)
        self._watches[request.path] += 1
        try:
            return await self._stream(request, transport, fault)
        finally:
            self._watches[request.path] -= 1

    async def _stream(
        self, request: web.BaseRequest, transport: asyncio.Transport, fault: Fault | None
    ) -> web.StreamResponse:
        async with await self._ask(request) as answer:
            response = web.StreamResponse(status=answer.status, headers=_headers(answer))
            await response.prepare(request)
            # A watch that is chosen breaks some time later, as like as not inside a line.
            life = self._rng.uniform(*_WATCH_LIFE) if fault is not None else None
            async with asyncio.timeout(life):
                async for chunk in answer.content.iter_any():
                    half = fault is Fault.TRUNCATE and self._rng.random() < self._rate
                    await response.write(chunk[: len(chunk) // 2] if half else chunk)
                    if half:
                        return _hang_up(transport)
        return response

    async def _ask(self, request: web.BaseRequest) -> aiohttp.ClientResponse:
        return await self._client.request(
            request.method,
            self._target + request.raw_path,
            data=await request.read() or None,
            headers={name: request.headers[name] for name in _PASSED_ON if name in request.headers},
            timeout=aiohttp.ClientTimeout(total=None),
        )


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers}


def _hang_up(transport: asyncio.Transport | None) -> web.StreamResponse:
    if transport is not None:
        transport.abort()
    # Goes nowhere: the connection is gone.
    return web.Response()


async def _expired(request: web.BaseRequest) -> web.StreamResponse:
    """What the API server tells a watch whose version it does not remember."""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410}
    status |= {"reason": "Expired", "message": "too old resource version"}
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
    return response
