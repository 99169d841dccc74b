"""Requests against a server that answers badly, late, too much, or not at all."""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.agent.api import connecting
from bailiff.cluster import PODS, ClusterSettings, Request
from bailiff.cluster.kubeconfig import kubeconfig_reader
from tests.harness.clocks import LoopClock
from tests.harness.kube.programs import free_port
from tests.harness.scripted_server import Answer, kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr3t-t0ken"
connect: Any = k8s.connect


async def connect_agent(path: Path, *, settings: ClusterSettings | None = None) -> k8s.Cluster:
    """As an agent on a node does, by a wire of its own."""
    log = structlog.get_logger()
    return await connecting.connect(kubeconfig_reader(path, None), LoopClock(), log, settings)


@pytest.fixture(params=[k8s.connect, connect_agent], ids=["aiohttp", "agent"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is told here holds for both that send requests."""
    monkeypatch.setitem(globals(), "connect", request.param)


GET = Request("GET", "/x", {"a": "b c"})


async def ask(folder: Path, answer: Answer, request: Request = GET, **settings: float) -> bytes:
    async with serving(answer) as port:
        path = kubeconfig(folder, port, token=SECRET)
        own = ClusterSettings(**settings)  # type: ignore[arg-type]  # names and numbers of a test
        async with await connect(path, settings=own) as cluster:
            answered: bytes = await cluster.send(request)
            return answered


async def test_a_request_says_who_asks_for_what(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        headers = {k: request.headers[k] for k in ("Authorization", "Accept", "User-Agent")}
        return web.json_response({"url": str(request.rel_url), "headers": headers})

    said = json.loads(await ask(tmp_path, answer))
    assert said["url"] == "/x?a=b+c"
    assert said["headers"]["Authorization"] == f"Bearer {SECRET}"
    assert said["headers"]["Accept"] == "application/json"
    assert said["headers"]["User-Agent"].startswith("bailiff/")


async def test_a_quoted_name_arrives_as_it_was_quoted(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=request.raw_path.encode())

    request = Request("GET", PODS.path("n", "a/b c"))
    assert await ask(tmp_path, answer, request) == b"/api/v1/namespaces/n/pods/a%2Fb%20c"


@pytest.mark.parametrize(
    ("code", "headers", "error"),
    [
        (404, {}, k8s.NotFoundError),
        (429, {"Retry-After": "3"}, k8s.TooManyRequestsError),
        (503, {"Retry-After": "3"}, k8s.ServerError),
        (302, {"Location": "http://127.0.0.1:1/"}, k8s.StatusError),
    ],
)
async def test_refusals(
    tmp_path: Path, code: int, headers: dict[str, str], error: type[k8s.StatusError]
) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=code, headers=headers, text="no")

    with pytest.raises(error, match=f"GET /x: {code} no") as caught:
        await ask(tmp_path, answer)
    assert caught.value.retry_after == (3 if "Retry-After" in headers else None)
    assert SECRET not in repr(caught.value)


async def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(k8s.RequestTimeoutError, match=r"within 0\.05 s") as caught:
        await ask(tmp_path, answer, request_timeout=0.05)
    assert isinstance(caught.value.__cause__, TimeoutError)


async def test_a_server_that_never_ends_its_answer_is_given_up(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"{")
        await asyncio.Event().wait()
        return response

    with pytest.raises(k8s.RequestTimeoutError):
        await ask(tmp_path, answer, request_timeout=0.05)


async def test_a_server_that_hangs_up_is_unreachable(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    with pytest.raises(k8s.UnreachableError, match="GET /x"):
        await ask(tmp_path, answer)


async def test_a_server_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, free_port(), token=SECRET)
    async with await connect(path) as cluster:
        with pytest.raises(k8s.UnreachableError) as caught:
            await cluster.get(PODS, "a", "n")
    assert caught.value.__cause__ is not None


async def test_an_answer_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b"x" * 1001)

    with pytest.raises(k8s.ResponseError, match="exceeds 1000 bytes"):
        await ask(tmp_path, answer, max_response_bytes=1000)
    assert len(await ask(tmp_path, answer, max_response_bytes=1001)) == 1001


async def test_a_refused_answer_is_not_kept_by_its_error(tmp_path: Path) -> None:
    """The health of a watch keeps the last error, and that its traceback and all it refers to."""
    bound = 8 * 2**20

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=bytes(2 * bound))

    with pytest.raises(k8s.ResponseError) as caught:
        await ask(tmp_path, answer, max_response_bytes=bound)
    frames = [frame.f_locals for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    held = [len(part) for part in frames[-1]["parts"]]
    assert sum(held) < bound / 2


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"spec":{"nodeName":7}}'])
async def test_an_answer_that_is_no_pod_is_refused(tmp_path: Path, body: bytes) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body)

    async with serving(answer) as port, await connect(kubeconfig(tmp_path, port)) as cluster:
        with pytest.raises(k8s.ResponseError, match="GET /api/v1/namespaces/n/pods/a"):
            await cluster.get(PODS, "a", "n")


async def test_a_closed_client_refuses(tmp_path: Path) -> None:
    cluster = await connect(kubeconfig(tmp_path, free_port()))
    await cluster.close()
    with pytest.raises(k8s.UnreachableError, match="closed"):
        await cluster.send(GET)


async def test_after_a_401_the_token_is_read_again_and_the_request_sent_once_more(
    tmp_path: Path,
) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        token.write_text("new")
        return web.Response(status=200 if seen[-1] == "Bearer new" else 401, text="{}")

    async with serving(answer) as port:
        path = kubeconfig(tmp_path, port, tokenFile="token")
        async with await connect(path) as cluster:
            assert await cluster.send(GET) == b"{}"
            assert await cluster.send(GET) == b"{}"
    assert seen == ["Bearer old", "Bearer new", "Bearer new"]


async def test_a_token_that_stays_wrong_is_sent_once(tmp_path: Path) -> None:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.path)
        return web.Response(status=401, text="no")

    with pytest.raises(k8s.UnauthorizedError):
        await ask(tmp_path, answer)
    assert seen == ["/x"]


async def test_a_list_that_expires_over_and_over_ends(tmp_path: Path) -> None:
    tokens: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        tokens.append(request.query.get("continue", ""))
        if tokens[-1]:
            return web.json_response({"reason": "Expired"}, status=410)
        return web.json_response({"metadata": {"resourceVersion": "1", "continue": "next"}})

    async with serving(answer) as port:
        settings = ClusterSettings(max_list_restarts=2)
        path = kubeconfig(tmp_path, port)
        async with await connect(path, settings=settings) as cluster:
            with pytest.raises(k8s.ExpiredError):
                await cluster.list(PODS)
    assert tokens == ["", "next"] * 3


async def test_a_stream_without_a_byte_is_idle(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one\n")
        await asyncio.Event().wait()
        return response

    async with serving(answer) as port:
        settings = ClusterSettings(watch_idle_timeout=0.05)
        path = kubeconfig(tmp_path, port)
        async with (
            await connect(path, settings=settings) as cluster,
            await cluster.open(GET) as stream,
        ):
            assert await stream.read() == b"one\n"
            with pytest.raises(k8s.RequestTimeoutError):
                await stream.read()
