"""The port of hooks: its callers' certificates are vouched for by an authority of their own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from bailiff.bootstrap.admission import hook_server
from bailiff.bootstrap.choices import AdmissionChoice
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import Edge, EdgeSettings, ServingTls, TlsFiles, TlsUnusableError
from bailiff.webhooks import Admission, AdmissionMetrics
from tests.harness.admission import SETTINGS, hooks, review_of
from tests.harness.secured import LOOK_EVERY, client_of, followed, made, trusting, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PATH = "/admission/v1/mutate/pods"


def tls_of(tls, callers: Path | None, hook_ca: Path | None) -> ServingTls:
    files = TlsFiles(tls.certificate, tls.key, callers, callers is not None, hook_ca)
    return ServingTls(files, CollectorRegistry(), LOOK_EVERY)


async def asked(tls: ServingTls, *contexts: ssl.SSLContext) -> list[int]:
    """The status that each client is answered with; 0: it got no connection."""
    async with hooks_port(tls, RestSettings()) as port:
        return [await status(port, context) for context in contexts]


@contextlib.asynccontextmanager
async def hooks_port(tls: ServingTls, settings: RestSettings) -> AsyncIterator[int]:
    registry, clock = CollectorRegistry(), SystemClock()
    app = create_app(settings, clock, registry, Options())
    admission = Admission(hooks(), SETTINGS, clock, AdmissionMetrics(registry))
    edge = Edge.of(EdgeSettings(), registry)
    server = hook_server(AdmissionChoice(port=0), app, admission, settings, edge, tls)
    try:
        yield await server.start()
    finally:
        await server.stop(1)


async def status(port: int, context: ssl.SSLContext, hold: float = 0.0) -> int:
    """What a client is answered with, whose connection stays open for so many seconds."""
    url = f"https://127.0.0.1:{port}{PATH}"
    async with aiohttp.ClientSession() as session:
        try:
            async with session.post(url, json=review_of(), ssl=context) as answer:
                await asyncio.sleep(hold)
                return answer.status
        except aiohttp.ClientError:
            return 0


async def test_only_who_its_own_authority_vouches_for_is_answered(tmp_path) -> None:
    ours, theirs = made(tmp_path / "ours"), made(tmp_path / "theirs")
    api_server = trusting(ours, client_of(theirs, tmp_path / "api-server"))
    caller = trusting(ours, client_of(ours, tmp_path / "caller"))
    tls = tls_of(ours, ours.ca, theirs.ca)
    assert await asked(tls, api_server, caller, trusting(ours)) == [200, 0, 0]


async def test_without_one_nobody_has_to_show_any_whatever_the_other_ports_ask_for(
    tmp_path,
) -> None:
    ours = made(tmp_path / "ours")
    assert await asked(tls_of(ours, ours.ca, None), trusting(ours)) == [200]


async def test_its_authority_is_read_again_when_it_changes(tmp_path) -> None:
    ours, theirs = made(tmp_path / "ours"), made(tmp_path / "theirs")
    api_server = trusting(ours, client_of(theirs, tmp_path / "api-server"))
    authority = tmp_path / "hooks.crt"
    authority.write_bytes(ours.ca.read_bytes())
    tls = tls_of(ours, None, authority)
    async with followed(tls):
        assert await asked(tls, api_server) == [0]
        before = tls.in_force
        authority.write_bytes(theirs.ca.read_bytes())
        await until(lambda: tls.in_force is not before)
        assert await asked(tls, api_server) == [200]


def test_a_file_without_certificates_is_named(tmp_path) -> None:
    ours = made(tmp_path / "ours")
    wrong = tmp_path / "hooks.crt"
    wrong.write_text("nothing")
    with pytest.raises(TlsUnusableError, match=r"hooks\.crt: "):
        tls_of(ours, None, wrong)
    with pytest.raises(TlsUnusableError, match=r"none: No such file"):
        tls_of(ours, None, tmp_path / "none")


async def test_one_address_may_have_all_connections(tmp_path) -> None:
    """All API servers may come from one, with a connection for each call under way."""
    ours = made(tmp_path / "ours")
    bounds = RestSettings(max_connections=40, max_connections_per_peer=2)
    callers = [trusting(ours)] * 8
    async with hooks_port(tls_of(ours, None, None), bounds) as port:
        found = await asyncio.gather(*(status(port, one, hold=0.2) for one in callers))
    assert found == [200] * 8
