"""The status port: few, short and patient with nobody."""

from __future__ import annotations

import asyncio
import contextlib
import io

import pytest

from bailiff.agent import status
from bailiff.agent.log import Log
from bailiff.agent.status import Page, StatusPort, as_json, verdict


@pytest.fixture
async def port():
    complaints: list[str] = []
    pages = {"/readyz": lambda: verdict(complaints), "/v1/agent": lambda: as_json({"a": 1})}
    served = StatusPort(pages, Log(io.StringIO()))
    yield await served.start("127.0.0.1", 0), complaints
    await served.stop()


async def ask(port: int, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def get(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    answer = await ask(port, f"{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


async def test_pages(port):
    at, complaints = port
    assert await get(at, "/v1/agent") == (200, b'{"a":1}\n')
    assert await get(at, "/v1/agent?x=1") == (200, b'{"a":1}\n')
    assert await get(at, "/readyz") == (200, b"ok\n")
    complaints.append("the pods of the node are not known yet")
    assert await get(at, "/readyz") == (503, b"the pods of the node are not known yet\n")


async def test_what_is_no_page_is_told_with_those_that_are(port):
    code, body = await get(port[0], "/")
    assert (code, body) == (404, b"no such page, there are /readyz, /v1/agent\n")
    assert await get(port[0], "/readyz", "POST") == (405, b"only GET\n")
    assert await get(port[0], "/readyz", "HEAD") == (200, b"")


@pytest.mark.parametrize("said", [b"\0\0\r\n\r\n", b"GET\r\n\r\n", b"A" * 20_000])
async def test_what_is_no_request_is_refused(port, said):
    assert b" 400 " in (await ask(port[0], said)).partition(b"\r\n")[0]


async def test_who_says_nothing_is_hung_up_on(port, monkeypatch):
    monkeypatch.setattr(status, "_TIMEOUT", 0.05)
    assert await ask(port[0], b"GET / HT") == b""


async def test_of_many_that_ask_nothing_the_oldest_is_hung_up_on_and_who_asks_is_answered(port):
    at, _ = port
    held = [await asyncio.open_connection("127.0.0.1", at) for _ in range(30)]
    await asyncio.sleep(0.05)
    assert (await get(at, "/readyz"))[0] == 200
    left = [one for one, _ in held if not one.at_eof() and one.exception() is None]
    assert len(left) == 15
    for _, writer in held:
        await hang_up(writer)


def test_what_names_pods_is_told_to_nobody_else():
    pages = {"/v1/agent": lambda: as_json({"pod": "a"}), "/metrics": lambda: Page(b"1")}
    served = StatusPort(pages, Log(io.StringIO()), private=frozenset({"/v1/agent"}))
    head = b"GET /v1/agent HTTP/1.1\r\n\r\n"
    assert served._page(head, ("10.0.0.7", 1)).status == 403
    assert served._page(head, ("127.0.0.1", 1)).status == 200
    assert served._page(head.replace(b"v1/agent", b"metrics"), ("10.0.0.7", 1)).status == 200


def test_a_page_says_what_it_is():
    assert Page(b"x").media_type.startswith("text/plain")
    assert as_json(1).media_type == "application/json"


@pytest.mark.parametrize(
    ("peer", "code"),
    [(("127.0.0.1", 1), 200), (("::1", 1), 200), (("10.0.0.7", 1), 403), (None, 403)],
)
def test_what_is_private_is_told_on_this_machine_alone(peer, code):
    """Of one that has hung up already the address is not known."""
    port = StatusPort(
        {"/v1/agent": lambda: as_json({})}, Log(io.StringIO()), frozenset(["/v1/agent"])
    )
    assert port._page(b"GET /v1/agent HTTP/1.1\r\n\r\n", peer).status == code
