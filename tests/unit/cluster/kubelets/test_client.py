"""The client against a server that speaks TLS, well and badly."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import re
import weakref
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bailiff.cluster.kubelets import (
    KubeletAddressError,
    KubeletError,
    KubeletForbiddenError,
    KubeletMalformedError,
    Kubelets,
    KubeletSettings,
    KubeletStatusError,
    KubeletTimeoutError,
    KubeletTlsError,
    KubeletTooLongError,
    KubeletUnauthenticatedError,
    KubeletUnreachableError,
)
from bailiff.cluster.kubelets.answers import Answer
from bailiff.cluster.kubelets.login import KubeletLogin
from bailiff.cluster.login import Login
from bailiff.cluster.tls import Tls
from tests.harness.clocks import ManualClock
from tests.harness.fake_kubelet import (
    TOKEN,
    Behaviour,
    answering,
    asking_for_the_token,
    dripping,
    fake_kubelet,
    hanging,
    node_at,
    raw,
)
from tests.harness.kube.tls import ClientCertificate, make_tls
from tests.harness.summaries import summary_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.harness.kube import tls as files

HERE = (ipaddress.ip_network("127.0.0.0/8"),)
SUMMARY = summary_json("n1", pods=3)
WELL = asking_for_the_token(answering(SUMMARY))


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> files.Tls:
    return make_tls(tmp_path_factory.mktemp("kubelet"))


def silent(_danger: str) -> None:
    pass


@asynccontextmanager
async def client(
    tls: files.Tls, *, api_token: str | None = TOKEN, clock: ManualClock | None = None, **own: Any
) -> AsyncIterator[Kubelets]:
    """A client that knows the token, from the login for the API server."""
    settings = replace(KubeletSettings(networks=HERE, ca_file=tls.ca), **own)
    shown = Login("https://api", Tls(), authorization=api_token and f"Bearer {api_token}")

    async def api() -> Login:
        return shown

    time = clock or ManualClock()
    login = KubeletLogin(api, settings, time, silent)
    await login.start()
    async with Kubelets(login, settings, time, None) as made:
        yield made


async def test_a_summary_is_read_with_the_token_of_the_login(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        read = await kubelets.summary(kubelet.node())
    assert read.measured.summary.node.node_name == "n1"
    assert [pod.pod_ref.name for pod in read.measured.summary.pods][:1] == ["web-7d9c5b6f8d-00000"]
    assert (read.size, read.via_api_server) == (len(SUMMARY), False)
    assert kubelet.heads[0].startswith(b"GET /stats/summary HTTP/1.1\r\n")
    assert b"Host: 127.0.0.1:%d\r\n" % kubelet.port in kubelet.heads[0]


async def test_one_of_real_size_comes_over_in_pieces(tls: files.Tls) -> None:
    long = summary_json("n1")
    async with fake_kubelet(answering(long), tls) as kubelet, client(tls) as kubelets:
        read = await kubelets.summary(kubelet.node())
    assert (read.size, len(read.measured.summary.pods)) == (len(long), 110)


async def test_the_configuration_is_handed_over_as_it_is(tls: files.Tls) -> None:
    said = b'{"kubeletconfig":{}}'
    async with fake_kubelet(answering(said), tls) as kubelet, client(tls) as kubelets:
        assert await kubelets.configuration(kubelet.node()) == said
    assert kubelet.heads[0].startswith(b"GET /configz HTTP/1.1\r\n")


async def test_a_name_is_looked_up_and_is_what_the_certificate_is_for(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        await kubelets.summary(kubelet.node(address="localhost", kind="Hostname"))
    assert b"Host: localhost:" in kubelet.heads[0]


async def test_a_proxy_of_the_environment_is_not_asked(
    tls: files.Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        await kubelets.summary(kubelet.node())


BAD: dict[str, tuple[Behaviour, type[KubeletError], str]] = {
    "hanging": (hanging, KubeletTimeoutError, r"no whole answer within 0\.3 s"),
    "dripping": (dripping, KubeletTimeoutError, r"no whole answer within 0\.3 s"),
    "too long": (answering(b" " * 200_000), KubeletTooLongError, "exceeds 100000 bytes"),
    "bad request": (answering(b"?", "400 Bad Request"), KubeletStatusError, "answered 400: '\\?'"),
    "no login": (
        answering(b"Unauthorized", "401 Unauthorized"),
        KubeletUnauthenticatedError,
        "answered 401: 'Unauthorized'",
    ),
    "no right": (
        answering(b'{"kind":"Status","message":"cannot get nodes/stats"}', "403 Forbidden"),
        KubeletForbiddenError,
        "answered 403: 'cannot get nodes/stats'",
    ),
    "not found": (answering(b"404 page", "404 Not Found"), KubeletStatusError, "404"),
    "broken": (answering(b"panic", "500 Internal Server Error"), KubeletStatusError, "500"),
    "redirect": (
        answering(b"", "307 Temporary Redirect", "Location: https://127.0.0.1:1/"),
        KubeletStatusError,
        "answered 307",
    ),
    "garbage": (raw(b"\x00\x01\x02 garbage\r\n\r\n"), KubeletMalformedError, "no HTTP"),
    "no JSON": (answering(b"<html>"), KubeletMalformedError, "no summary: \\$: "),
    "another shape": (answering(b'{"node":5}'), KubeletMalformedError, "no summary: \\$.node: "),
    "another node": (
        answering(summary_json("n2", pods=0)),
        KubeletMalformedError,
        "of the node 'n2', not of 'n1'",
    ),
    "no node": (answering(b"{}"), KubeletMalformedError, "of the node '', not of 'n1'"),
    "nothing": (answering(b""), KubeletMalformedError, "empty"),
    "compressed": (
        answering(b"\x1f\x8b", "200 OK", "Content-Encoding: gzip"),
        KubeletMalformedError,
        "compressed",
    ),
    "cut in the middle": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", then_close=True),
        KubeletUnreachableError,
        "ended before the answer did|reset",
    ),
    "cut at once": (raw(b"", then_close=True), KubeletUnreachableError, "ended before|reset"),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_else_may_be_answered_is_an_error_of_that_node(
    tls: files.Tls, case: str
) -> None:
    behaviour, error, words = BAD[case]
    bounds = client(tls, timeout=0.3, max_bytes=100_000)
    async with fake_kubelet(behaviour, tls) as kubelet, bounds as kubelets:
        with pytest.raises(error, match=words) as caught:
            await kubelets.summary(kubelet.node())
        assert type(caught.value) is error
        assert TOKEN not in str(caught.value)
        # The next answer is taken, over another connection or the same.
        kubelet.behaviour = WELL
        await kubelets.summary(kubelet.node())


async def test_many_small_pieces_are_given_up(
    tls: files.Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.cluster.kubelets.connection._MAX_READS", 5)

    async def pieces(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(20):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.005)

    async with fake_kubelet(pieces, tls) as kubelet, client(tls) as kubelets:
        with pytest.raises(KubeletMalformedError, match="more than 5 pieces"):
            await kubelets.summary(kubelet.node())


async def test_nobody_listens(tls: files.Tls) -> None:
    async with client(tls) as kubelets:
        with pytest.raises(KubeletUnreachableError, match=re.escape("https://127.0.0.1:1/stats")):
            await kubelets.summary(node_at("n1", "127.0.0.1", 1))


async def test_who_takes_connections_and_speaks_no_tls(tls: files.Tls) -> None:
    async with fake_kubelet(hanging, None) as kubelet, client(tls, connect_timeout=0.2) as kubelets:
        with pytest.raises(KubeletUnreachableError, match=r"no connection within 0\.2 s"):
            await kubelets.summary(kubelet.node())


async def test_who_speaks_something_else(tls: files.Tls) -> None:
    http = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    async with fake_kubelet(hanging, None, greeting=http) as kubelet, client(tls) as kubelets:
        with pytest.raises(KubeletTlsError, match="no TLS with it"):
            await kubelets.summary(kubelet.node())


async def test_to_a_kubelet_that_another_authority_vouches_for_nothing_is_said(
    tls: files.Tls, tmp_path: Path
) -> None:
    async with fake_kubelet(WELL, make_tls(tmp_path)) as kubelet, client(tls) as kubelets:
        with pytest.raises(KubeletTlsError, match="certificate is not trusted"):
            await kubelets.summary(kubelet.node())
    assert kubelet.heads == []


async def test_to_one_whose_certificate_is_for_another_address_nothing_is_said(
    tls: files.Tls,
) -> None:
    # It listens there as well, on some systems; where it does not, nobody is asked either.
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        node = kubelet.node(address="localhost.localdomain", kind="Hostname")
        with pytest.raises((KubeletTlsError, KubeletUnreachableError)):
            await kubelets.summary(node)
    assert kubelet.heads == []


async def test_an_address_that_must_not_be_asked_is_not(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls, networks=()) as kubelets:
        for address, kind in (("127.0.0.1", "InternalIP"), ("localhost", "Hostname")):
            with pytest.raises(KubeletAddressError, match="no node is reached"):
                await kubelets.summary(kubelet.node(address=address, kind=kind))
    assert kubelet.connections == 0


async def test_a_connection_is_kept_and_asked_again(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        for _ in range(3):
            await kubelets.summary(kubelet.node())
    assert (kubelet.connections, len(kubelet.heads)) == (1, 3)


async def test_where_none_is_to_be_kept_each_is_closed(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls, max_kept=0) as kubelets:
        for _ in range(3):
            await kubelets.summary(kubelet.node())
    assert kubelet.connections == 3


async def test_one_that_the_kubelet_has_closed_meanwhile_is_replaced(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        await kubelets.summary(kubelet.node())
        kubelet.hang_up()
        await asyncio.sleep(0.05)
        await kubelets.summary(kubelet.node())
        assert kubelet.connections == 2


async def test_one_that_it_closes_when_it_is_asked_is_replaced_too(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet, client(tls) as kubelets:
        await kubelets.summary(kubelet.node())

        async def end_once(_head: bytes, writer: asyncio.StreamWriter) -> None:
            kubelet.behaviour = WELL
            writer.transport.abort()

        kubelet.behaviour = end_once
        await kubelets.summary(kubelet.node())
        assert kubelet.connections == 2


async def test_what_a_kubelet_says_unasked_is_not_the_next_answer(tls: files.Tls) -> None:
    twice = answering(SUMMARY)

    async def more(head: bytes, writer: asyncio.StreamWriter) -> None:
        await twice(head, writer)
        await writer.drain()
        await asyncio.sleep(0.05)
        await answering(summary_json("n1", pods=9))(head, writer)

    async with fake_kubelet(more, tls) as kubelet, client(tls) as kubelets:
        await kubelets.summary(kubelet.node())
        await asyncio.sleep(0.1)
        kubelet.behaviour = WELL
        assert len((await kubelets.summary(kubelet.node())).measured.pods) == 3
        assert kubelet.connections == 2


async def test_when_certificates_change_no_connection_of_before_is_asked(tls: files.Tls) -> None:
    authorities = [tls.ca.read_bytes(), tls.ca.read_bytes() + b"# renewed\n"]
    logins = [Login("https://api", Tls(ca=ca)) for ca in authorities]

    async def api() -> Login:
        return logins[0]

    login = KubeletLogin(api, KubeletSettings(), ManualClock(), silent)
    await login.start()
    settings = KubeletSettings(networks=HERE)
    async with (
        fake_kubelet(answering(SUMMARY), tls) as kubelet,
        Kubelets(login, settings, ManualClock(), None) as kubelets,
    ):
        for seen in (1, 1, 2):
            await kubelets.summary(kubelet.node())
            assert kubelet.connections == seen
            if len(kubelet.heads) == 2:
                logins.pop(0)


async def test_when_they_change_while_a_kubelet_answers_its_connection_is_not_kept(
    tls: files.Tls,
) -> None:
    authorities = [tls.ca.read_bytes(), tls.ca.read_bytes() + b"# renewed\n"]
    logins = [Login("https://api", Tls(ca=ca)) for ca in authorities]
    began, end = asyncio.Event(), asyncio.Event()
    asked: list[asyncio.StreamWriter] = []

    async def api() -> Login:
        return logins[0]

    async def slow_at_first(head: bytes, writer: asyncio.StreamWriter) -> None:
        asked.append(writer)
        if len(asked) == 1:
            began.set()
            await end.wait()
        await answering(SUMMARY)(head, writer)

    settings = KubeletSettings(networks=HERE)
    login = KubeletLogin(api, settings, ManualClock(), silent)
    await login.start()
    async with (
        fake_kubelet(slow_at_first, tls) as kubelet,
        Kubelets(login, settings, ManualClock(), None) as kubelets,
    ):
        of_before = asyncio.create_task(kubelets.summary(kubelet.node()))
        await began.wait()
        logins.pop(0)
        await kubelets.summary(kubelet.node())
        end.set()
        await of_before
        await kubelets.summary(kubelet.node())
    _, second, third = asked
    assert third is second


async def test_a_client_certificate_is_shown_and_then_no_token(
    tls: files.Tls, tmp_path: Path
) -> None:
    own = ClientCertificate(tmp_path)
    own.rotate(tls)
    async with fake_kubelet(answering(SUMMARY), tls, client_ca=tls.ca) as kubelet:
        async with client(tls) as kubelets:
            with pytest.raises((KubeletTlsError, KubeletUnreachableError)):
                await kubelets.summary(kubelet.node())
        async with client(tls, certificate_file=own.certificate, key_file=own.key) as kubelets:
            await kubelets.summary(kubelet.node())
    assert len(kubelet.heads) == 1
    assert b"Authorization" not in kubelet.heads[0]


async def test_after_it_is_closed_nothing_is_kept(tls: files.Tls) -> None:
    async with fake_kubelet(WELL, tls) as kubelet:
        async with client(tls) as kubelets:
            await kubelets.summary(kubelet.node())
        with pytest.raises(KubeletUnreachableError, match="closed"):
            await kubelets.summary(kubelet.node())


@pytest.mark.parametrize("behaviour", [WELL, answering(b"{"), answering(b"no", "403 Forbidden")])
async def test_what_ends_leaves_nothing_that_has_to_be_searched_for(
    tls: files.Tls, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Answer]] = []

    def answer(max_bytes: int) -> Answer:
        one = Answer(max_bytes)
        made.append(weakref.ref(one))
        return one

    monkeypatch.setattr("bailiff.cluster.kubelets.client.Answer", answer)
    gc.disable()
    try:
        async with fake_kubelet(behaviour, tls) as kubelet, client(tls) as kubelets:
            with suppress(KubeletError):
                await kubelets.summary(kubelet.node())
        assert [one() for one in made] == [None]
    finally:
        gc.enable()
