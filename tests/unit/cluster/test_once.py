"""A write leaves at most once: neither the HTTP library nor a closed connection repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest

from bailiff import cluster as k8s
from bailiff.cluster import Request
from bailiff.cluster.sending import Sending
from tests.harness.dropping_server import dropping
from tests.harness.scripted_server import kubeconfig

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = Request("GET", "/before")


@pytest.mark.parametrize("body", [None, b"{}"], ids=["no body", "body"])
@pytest.mark.parametrize("method", ["DELETE", "PUT", "POST", "PATCH"])
async def test_a_write_on_a_dropped_connection_is_not_sent_again(
    tmp_path: Path, method: str, body: bytes | None
) -> None:
    async with (
        dropping() as server,
        await k8s.connect(kubeconfig(tmp_path, server.port)) as cluster,
    ):
        await cluster.send(BEFORE)
        with pytest.raises(k8s.UnreachableError, match=f"{method} /x: ") as caught:
            await cluster.send(Request(method, "/x", body=body))
        assert caught.value.__cause__ is not None
    assert server.arrived == ["GET", method]


async def test_a_read_on_a_dropped_connection_is_sent_again(tmp_path: Path) -> None:
    """So the library does repeat what it takes for harmless, and the test above can fail."""
    async with (
        dropping() as server,
        await k8s.connect(kubeconfig(tmp_path, server.port)) as cluster,
    ):
        await cluster.send(BEFORE)
        assert await cluster.send(Request("GET", "/x")) == b"{}"
    assert server.arrived == ["GET", "GET", "GET"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_in_a_session_that_was_closed_meanwhile_nothing_is_repeated(method: str) -> None:
    """As when the certificates have changed; aiohttp would find itself without its connections."""
    sent: list[str] = []

    async def closing(
        request: aiohttp.ClientRequest, _: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        sent.append(request.method)
        await session.close()
        raise aiohttp.ServerDisconnectedError

    session = aiohttp.ClientSession()
    own = Sending(Request(method, "/x"), session)
    with pytest.raises(k8s.UnreachableError, match=f"{method} /x: "):
        await session.request(method, "http://127.0.0.1:1/x", middlewares=(own, closing))
    assert sent == [method]


async def test_a_timeout_of_a_write_stays_a_timeout() -> None:
    """Whoever set it tells a server that is slow from one that is not there."""

    async def hanging(
        _: aiohttp.ClientRequest, __: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        raise aiohttp.ServerTimeoutError

    async with aiohttp.ClientSession() as session:
        own = Sending(Request("DELETE", "/x"), session)
        with pytest.raises(TimeoutError):
            await session.request("DELETE", "http://127.0.0.1:1/x", middlewares=(own, hanging))
