"""The certificate that the chart's Job makes, and its CronJob replaces, on a real API server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import ssl
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from bailiff.certificates import BUNDLED, Place, Renewal, Step, Terms, issue
from bailiff.certificates.renewing import SECRETS
from bailiff.clock import SystemClock
from bailiff.cluster import ConflictError, ForbiddenError, NotFoundError, connect
from tests.harness.api import NAMESPACES, PODS
from tests.harness.certificates import subjects
from tests.harness.clocks import ManualClock
from tests.harness.helm.accounts import Permission, log_in, permissions
from tests.harness.helm.chart import render
from tests.harness.helm.hooks import ALL, Asked, believing, registered
from tests.harness.objects import object_of, pod_object

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

SECRET = "bailiff-certificate"
DAY = 86_400.0
TERMS = Terms(names=("localhost",))
# What each right is for; without it the run fails, and says so.
NEEDED = {
    *(Permission("secrets", verb) for verb in ("get", "patch")),
    *(Permission("mutatingwebhookconfigurations", verb) for verb in ("get", "patch")),
    *(Permission("validatingwebhookconfigurations", verb) for verb in ("get", "patch")),
}


def place(namespace: str) -> Place:
    name = f"{namespace}-bailiff-api"
    return Place(
        namespace=namespace, secret=SECRET, webhooks=tuple((kind, name) for kind in BUNDLED)
    )


@contextlib.asynccontextmanager
async def renewal(server, bench, clock=None, without=None):
    """Under the chart's rules, upon what the chart makes."""
    objects = render(values=ALL, namespace=bench.namespace)
    [secret] = [o for o in objects if o["kind"] == "Secret"]
    await bench.cluster.create(SECRETS, secret, bench.namespace)
    path = await log_in(server, "tls", bench.namespace, without, ALL)
    async with await connect(path) as own:
        yield Renewal(own, clock or SystemClock(), place(bench.namespace), 0.0)


async def held(bench):
    """What the Secret holds."""
    secret = await bench.cluster.get(SECRETS, SECRET, bench.namespace)
    return {name: base64.b64decode(text) for name, text in (secret.get("data") or {}).items()}


async def believed(bench):
    """Whom the webhooks believe; all of them the same."""
    found = set()
    for kind, name in place(bench.namespace).webhooks:
        configuration = await bench.cluster.get(BUNDLED[kind], name)
        found |= {one["clientConfig"].get("caBundle") for one in configuration["webhooks"]}
    [bundle] = found
    return base64.b64decode(bundle or "")


def test_the_rights_are_these_and_each_of_one_object():
    assert permissions("tls", ALL) == NEEDED
    objects = render(values=ALL)
    roles = [o for o in objects if "rules" in o and "-tls" in o["metadata"]["name"]]
    assert [rule["resourceNames"] for role in roles for rule in role["rules"]] == [
        *[["bailiff-bailiff-api"]] * 2,
        [SECRET],
    ]


async def test_the_first_run_makes_it_and_tells_all_webhooks(kube_apiserver, bench):
    async with (
        renewal(kube_apiserver, bench) as run,
        registered(bench.cluster, bench.namespace, ALL, "https://localhost:1"),
    ):
        assert (await run.run(TERMS)).step is Step.ISSUE
        files = await held(bench)
        assert await believed(bench) == files["ca.crt"]
        assert len(subjects(files["ca.crt"])) == 1
        assert (await run.run(TERMS)).step is Step.NONE
        assert await held(bench) == files


async def test_a_webhook_that_comes_later_is_told_too(kube_apiserver, bench):
    async with renewal(kube_apiserver, bench) as run:
        with pytest.raises(NotFoundError):
            await run.run(TERMS)
        files = await held(bench)
        async with registered(bench.cluster, bench.namespace, ALL, "https://localhost:1"):
            assert (await run.run(TERMS)).step is Step.NONE
            assert await believed(bench) == files["ca.crt"]


async def test_whom_webhooks_believe_at_first_they_believe_beside_the_first_one(
    kube_apiserver, bench
):
    """As where the chart's own certificate was another before: pods serve that for a while."""
    before = issue(TERMS.names, datetime.now(UTC), TERMS.life)
    change = believing(before.authority)
    async with (
        renewal(kube_apiserver, bench) as run,
        registered(bench.cluster, bench.namespace, ALL, "https://localhost:1", change),
    ):
        assert (await run.run(TERMS)).step is Step.ISSUE
        files = await held(bench)
        assert subjects(files["ca.crt"])[:1] == subjects(before.authority)
        assert len(subjects(files["ca.crt"])) == 2
        assert await believed(bench) == files["ca.crt"]


async def test_old_and_new_are_believed_until_all_serve_the_new_one(kube_apiserver, bench):
    clock = ManualClock(datetime.now(UTC))
    async with (
        renewal(kube_apiserver, bench, clock) as run,
        registered(bench.cluster, bench.namespace, ALL, "https://localhost:1"),
    ):
        await run.run(TERMS)
        first = await held(bench)
        clock.advance(61 * DAY)
        assert (await run.run(TERMS)).step is Step.ISSUE
        second = await held(bench)
        assert second["tls.crt"] != first["tls.crt"]
        assert subjects(second["ca.crt"])[:1] == subjects(first["ca.crt"])
        assert await believed(bench) == second["ca.crt"]
        assert (await run.run(TERMS)).step is Step.NONE
        clock.advance(3600)
        assert (await run.run(TERMS)).step is Step.PRUNE
        third = await held(bench)
        assert subjects(third["ca.crt"]) == subjects(second["ca.crt"])[1:]
        assert await believed(bench) == third["ca.crt"]
        assert third["tls.crt"] == second["tls.crt"]


async def test_what_somebody_else_writes_meanwhile_is_not_lost(kube_apiserver, bench, monkeypatch):
    async with renewal(kube_apiserver, bench) as run:
        believe = run._believe

        async def meanwhile(authorities):
            await bench.cluster.patch(SECRETS, SECRET, bench.namespace, {"data": {"a": "Yg=="}})
            await believe(authorities)

        async with registered(bench.cluster, bench.namespace, ALL, "https://localhost:1"):
            await run.run(TERMS)
            before = await held(bench)
            monkeypatch.setattr(run, "_believe", meanwhile)
            with pytest.raises(ConflictError):
                await run.run(TERMS, force=True)
            after = await held(bench)
            assert (after["a"], after["tls.crt"]) == (b"b", before["tls.crt"])


@pytest.mark.parametrize("without", sorted(NEEDED), ids=str)
async def test_with_one_verb_less_it_fails(kube_apiserver, bench, without):
    async with (
        renewal(kube_apiserver, bench, without=without) as run,
        registered(bench.cluster, bench.namespace, ALL, "https://localhost:1"),
    ):
        with pytest.raises(ForbiddenError, match=f'cannot {without.verb} resource "{without[0]}"'):
            await run.run(TERMS)


async def test_other_secrets_are_out_of_reach(kube_apiserver, bench):
    await bench.cluster.create(SECRETS, object_of("Secret", "other"), bench.namespace)
    path = await log_in(kube_apiserver, "tls", bench.namespace, values=ALL)
    async with await connect(path) as own:
        with pytest.raises(ForbiddenError):
            await own.get(SECRETS, "other", bench.namespace)
        with pytest.raises(ForbiddenError):
            await own.create(SECRETS, object_of("Secret", "new"), bench.namespace)


MUTATE = {"tls": ALL["tls"], "webhooks": {"mutatePods": {"enabled": True}}}


@pytest.fixture
async def elsewhere(cluster):
    """A namespace that is not the release's own."""
    name = f"elsewhere-{secrets.token_hex(4)}"
    await cluster.create(NAMESPACES, object_of("Namespace", name))
    return name


@pytest.mark.parametrize("delay", [0.0, 0.5], ids=["at once", "late"])
async def test_rotated_under_load_it_fails_no_request(kube_apiserver, bench, elsewhere, delay):
    """Pods are made all the while; the server takes up a new certificate at once, or late."""
    one = issue(TERMS.names, datetime.now(UTC), TERMS.life)
    server = Asked()
    async with (
        renewal(kube_apiserver, bench) as run,
        server.served(one.certificate, one.key) as url,
    ):
        data = {"tls.crt": one.certificate, "tls.key": one.key, "ca.crt": one.authority}
        encoded = {name: base64.b64encode(text).decode() for name, text in data.items()}
        await bench.cluster.patch(SECRETS, SECRET, bench.namespace, {"data": encoded})
        run._place = Place(
            namespace=bench.namespace, secret=SECRET, webhooks=place(bench.namespace).webhooks[:1]
        )
        run._settle_seconds = 1.0
        change = believing(one.authority)
        async with registered(bench.cluster, bench.namespace, MUTATE, url, change):
            await until_asked(bench.cluster, elsewhere, server)
            tasks = [
                asyncio.create_task(make_pods(bench.cluster, elsewhere)),
                asyncio.create_task(follow(bench, server, delay)),
            ]
            for _ in range(2):
                await run.run(TERMS, force=True)
                await asyncio.sleep(2 * delay + 0.5)
            await run.run(Terms(names=TERMS.names, kept=timedelta()))
            await asyncio.sleep(0.5)
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert [one for one in ended if not isinstance(one, asyncio.CancelledError)] == []
            made = len(server.reviews)
            assert made > 20
            # And what is believed now is the last one alone.
            assert len(subjects(await believed_by(bench, run))) == 1
            assert not await answers(url, one.authority)


async def follow(bench, server, delay):
    """Serve what the Secret holds, so long after it does."""
    served = b""
    while True:
        files = await held(bench)
        if files["tls.crt"] != served:
            await asyncio.sleep(delay)
            server.serve_with(files["tls.crt"], files["tls.key"])
            served = files["tls.crt"]
        await asyncio.sleep(0.02)


async def until_asked(cluster, namespace, server):
    async with asyncio.timeout(30):
        while not server.reviews:
            await make_pod(cluster, namespace)
            await asyncio.sleep(0.1)


async def make_pod(cluster, namespace):
    body = pod_object("p") | {"metadata": {"generateName": "load-"}}
    await cluster.create(PODS, body, namespace, dry_run=True)


async def make_pods(cluster, namespace):
    while True:
        await make_pod(cluster, namespace)


async def believed_by(bench, run):
    [(kind, name)] = run._place.webhooks
    [webhook] = (await bench.cluster.get(BUNDLED[kind], name))["webhooks"]
    return base64.b64decode(webhook["clientConfig"]["caBundle"])


async def answers(url, authority):
    """Whether a client that believes this one gets through a handshake."""
    context = ssl.create_default_context(cadata=authority.decode())
    port = urlsplit(url).port
    try:
        _, writer = await asyncio.open_connection("localhost", port, ssl=context)
    except ssl.SSLCertVerificationError:
        return False
    writer.close()
    return True
