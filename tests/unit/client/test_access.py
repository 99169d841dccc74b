"""Who asks, and by which way: TLS, certificates, tokens, and where tokens may go."""

from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from bailiff.access import AccessSettings, Guard
from bailiff.client import (
    AsyncRestClient,
    BailiffError,
    ClientSettings,
    GrpcClient,
    InvalidQuestionError,
    RestClient,
    Retries,
    Tls,
    UnauthenticatedError,
    UnavailableError,
)
from bailiff.client.tokens import Bearer, host_of, is_this_machine
from tests.harness.clocks import START, ManualClock
from tests.harness.kube.tls import Tls as Files
from tests.harness.reviewing import Reviewer
from tests.harness.scripts import QUESTION, QUICK, REST, Script, ok, ok_grpc, scripted
from tests.harness.secured import client_of, made, serving_tls
from tests.harness.ways import WAYS, Way, client, serving

NODE = {"metadata": {"name": "n1"}}
ASKED = {"pod": {}, "node": NODE}
ONCE = Retries(attempts=1)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return made(tmp_path / "server")


async def verdict(asking: Way) -> str:
    answer = await asking.ask("decide", ASKED)
    return str(answer.decision.reason)


@pytest.mark.parametrize("way", WAYS)
async def test_over_tls(way: str, files: Files) -> None:
    settings = ClientSettings(tls=Tls(ca_file=files.ca))
    async with (
        serving(tls=serving_tls(files)) as ports,
        client(way, ports, settings) as asking,
    ):
        assert await verdict(asking) == "NoTaint"


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_nobody_vouches_for_is_told_nothing(
    way: str, files: Files, tmp_path: Path
) -> None:
    other = made(tmp_path / "other")
    settings = ClientSettings(tls=Tls(ca_file=other.ca), retries=ONCE)
    async with (
        serving(tls=serving_tls(files)) as ports,
        client(way, ports, settings) as asking,
    ):
        with pytest.raises(UnavailableError):
            await verdict(asking)


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_of_another_name_is_told_nothing(way: str, files: Files) -> None:
    settings = ClientSettings(
        tls=Tls(ca_file=files.ca, server_name="bailiff.example"), retries=ONCE
    )
    async with (
        serving(tls=serving_tls(files)) as ports,
        client(way, ports, settings) as asking,
    ):
        with pytest.raises(UnavailableError):
            await verdict(asking)


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_shows_a_certificate(way: str, files: Files, tmp_path: Path) -> None:
    own = client_of(files, tmp_path / "own")
    shown = Tls(ca_file=files.ca, certificate_file=own.certificate, key_file=own.key)
    theirs = serving_tls(files, client_ca=files.ca, must=True)
    async with serving(tls=theirs) as ports:
        async with client(way, ports, ClientSettings(tls=shown)) as asking:
            assert await verdict(asking) == "NoTaint"
        nameless = ClientSettings(tls=Tls(ca_file=files.ca), retries=ONCE)
        async with client(way, ports, nameless) as asking:
            with pytest.raises(UnavailableError):
                await verdict(asking)


@pytest.mark.parametrize("way", WAYS)
async def test_tokens(way: str, tmp_path: Path) -> None:
    """Reviewer knows `good`."""
    guard = Guard(AccessSettings(), ManualClock(START), reviewer=Reviewer())
    CollectorRegistry().register(guard.metrics)
    file = tmp_path / "token"
    file.write_text("bad\n")
    async with serving(guard=guard) as ports:
        async with client(way, ports, ClientSettings(token="good")) as asking:
            assert await verdict(asking) == "NoTaint"
        async with client(way, ports, ClientSettings(token=lambda: "good")) as asking:
            assert await verdict(asking) == "NoTaint"
        async with client(way, ports, ClientSettings(token_file=file)) as asking:
            with pytest.raises(UnauthenticatedError):
                await verdict(asking)
            file.write_text("good\n")
            assert await verdict(asking) == "NoTaint"
            file.unlink()
            with pytest.raises(UnauthenticatedError) as raised:
                await verdict(asking)
            assert raised.value.code == "no_token"
        async with client(way, ports) as asking:
            with pytest.raises(UnauthenticatedError):
                await verdict(asking)


@pytest.mark.parametrize("token", ["", "two\nlines", "ümlaut", "x" * 20_000])
def test_what_no_header_can_have_is_not_sent(token: str) -> None:
    bearer = Bearer(ClientSettings(token=lambda: token), host="127.0.0.1", secure=False)
    with pytest.raises(UnauthenticatedError):
        bearer.headers()


def test_of_a_file_no_more_is_read_than_a_token_may_have(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"x" * 4_000_000)
    bearer = Bearer(ClientSettings(token_file=tmp_path / "token"), host="127.0.0.1", secure=False)
    tracemalloc.start()
    with pytest.raises(UnauthenticatedError, match="too long"):
        bearer.headers()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda settings: RestClient("http://bailiff.example:8080", settings),
        lambda settings: AsyncRestClient("http://10.0.0.1", settings),
        lambda settings: GrpcClient("bailiff.example:9090", settings),
        lambda settings: GrpcClient("dns:///bailiff.example:9090", settings),
    ],
)
def test_a_token_goes_to_another_machine_by_tls_only(make) -> None:
    with pytest.raises(ValueError, match="TLS"):
        make(ClientSettings(token="secret"))
    made = make(ClientSettings(token="secret", token_in_clear=True))
    if not isinstance(made, AsyncRestClient):
        made.close()


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("127.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
        ("::2", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_address_alone(host: str, here: bool) -> None:
    assert is_this_machine(host) is here


@pytest.mark.parametrize("way", WAYS)
async def test_no_proxy_reads_what_goes_to_this_machine(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = bytearray()

    async def reading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        read.extend(await reader.read(1000))
        writer.close()

    proxy = await asyncio.start_server(reading, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "grpc_proxy", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    settings = replace(QUICK, token="SECRET")
    script = Script(ok if way in REST else ok_grpc)
    async with (
        proxy,
        scripted(way, script) as ports,
        client(way, ports, settings) as asking,
    ):
        await asking.ask("decide", QUESTION)
    assert read == b""


def test_by_tls_a_token_goes_anywhere(files: Files) -> None:
    settings = ClientSettings(token="secret", tls=Tls(ca_file=files.ca))
    RestClient("https://bailiff.example:8080", settings).close()
    GrpcClient("bailiff.example:9090", settings).close()


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("127.0.0.1:9090", "127.0.0.1"),
        ("[::1]:9090", "::1"),
        ("localhost:9090", "localhost"),
        ("dns:///bailiff.example:9090", "bailiff.example"),
        ("dns:bailiff.example:9090", "bailiff.example"),
        ("dns://8.8.8.8/bailiff.example:9090", "bailiff.example"),
    ],
)
def test_the_host_of_a_target(target: str, host: str) -> None:
    assert host_of(target) == host


@pytest.mark.parametrize("way", WAYS)
async def test_errors_name_field_and_request(way: str) -> None:
    async with serving() as ports, client(way, ports) as asking:
        with pytest.raises(InvalidQuestionError) as raised:
            await asking.ask("decide", QUESTION)
    error: BailiffError = raised.value
    (field,) = error.fields
    assert (error.code, field.path, field.reason) == ("invalid_field", "$.node", "required")
    assert (error.request_id is not None) == ("rest" in way)
    assert "node" in str(error)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("method", "question", "path", "allowed"),
    [
        ("decide", {"pod": {}, "nodes": NODE}, "$.nodes", {"pod", "node", "systems"}),
        ("decide", {"pod": {}, "nodes": []}, "$.nodes", {"pod", "node", "systems"}),
        ("decide_batch", {"items": []}, "$.items", {"pods", "node"}),
        ("decide", {"pod": {}, "options": {"explan": 1}}, "$.options.explan", {"explain"}),
        (
            "preview_taint_change",
            {"node": NODE, "add_taints": []},
            "$.add_taints",
            {"node", "pods", "addTaints", "removeTaints"},
        ),
    ],
    ids=["a section", "no section", "batch", "options", "protobuf's name"],
)
async def test_a_field_that_a_question_has_not(
    way: str, method: str, question: dict[str, Any], path: str, allowed: set[str]
) -> None:
    async with serving() as ports, client(way, ports) as asking:
        with pytest.raises(InvalidQuestionError) as raised:
            await asking.ask(method, question)
    (field,) = raised.value.fields
    told, names = field.reason.split(" are ")
    assert (field.path, told) == (path, "unknown field, allowed")
    assert allowed <= set(names.split(", "))
    assert "others" not in names
