"""Who asks, by the real API server: TokenReview and SubjectAccessReview."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from prometheus_client import CollectorRegistry

from bailiff.access import AccessSettings, ClusterReviewer, Guard
from bailiff.cluster import Cluster, ClusterSettings, Resource, connect
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.api import NAMESPACES
from tests.harness.clocks import JumpingClock
from tests.harness.faces.asgi import Answer, call
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.relay import Relay
from tests.harness.kube.tokens import ACCOUNTS, expired, token_of
from tests.harness.lookups import DictSource
from tests.harness.objects import Object, object_of

pytestmark = pytest.mark.kube_apiserver

_RBAC = ("rbac.authorization.k8s.io", "v1")
ROLES: Resource[Object] = Resource(*_RBAC, "roles", dict)
BINDINGS: Resource[Object] = Resource(*_RBAC, "rolebindings", dict)
CLUSTER_BINDINGS: Resource[Object] = Resource(*_RBAC, "clusterrolebindings", dict, namespaced=False)
ONE = {"pod": {"metadata": {"name": "web"}}, "node": {"metadata": {"name": "n1"}}}
Ask: TypeAlias = Callable[..., Awaitable[Answer]]


@dataclass
class Town:
    """A namespace with accounts: `delegate` may review, `reader` may get pods, `guest` nothing."""

    admin: Cluster
    namespace: str

    async def token(self, account: str, *audiences: str) -> str:
        return await token_of(self.admin, self.namespace, account, *(audiences or ("bailiff",)))

    def user(self, account: str) -> str:
        return f"system:serviceaccount:{self.namespace}:{account}"

    async def add(self, account: str) -> None:
        await self.admin.create(ACCOUNTS, object_of("ServiceAccount", account), self.namespace)

    async def bind(self, account: str, role: str, resource: Resource[Object]) -> None:
        subject = {"kind": "ServiceAccount", "name": account, "namespace": self.namespace}
        kind = "ClusterRole" if resource is CLUSTER_BINDINGS else "Role"
        name = f"{account}-{self.namespace}"
        await self.admin.create(
            resource,
            {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": _RBAC[0], "kind": kind, "name": role},
                "subjects": [subject],
            },
            self.namespace if resource.namespaced else "",
        )


@pytest.fixture
async def town(kube_apiserver: KubeApiserver) -> AsyncIterator[Town]:
    async with await connect(kube_apiserver.kubeconfig) as admin:
        town = Town(admin, f"access-{secrets.token_hex(4)}")
        await admin.create(NAMESPACES, object_of("Namespace", town.namespace))
        for account in ("delegate", "reader", "guest"):
            await town.add(account)
        await town.bind("delegate", "system:auth-delegator", CLUSTER_BINDINGS)
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
        await admin.create(ROLES, {"metadata": {"name": "pods"}, "rules": [rule]}, town.namespace)
        await town.bind("reader", "pods", BINDINGS)
        yield town


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
async def relay(kube_apiserver: KubeApiserver) -> AsyncIterator[Relay]:
    async with Relay(kube_apiserver.port) as relay:
        yield relay


@pytest.fixture
async def ask(
    kube_apiserver: KubeApiserver, town: Town, relay: Relay, clock: JumpingClock, tmp_path: Path
) -> AsyncIterator[Ask]:
    """The REST face, whose account has no right but those of system:auth-delegator."""
    token = await token_of(town.admin, town.namespace, "delegate")
    text = kube_apiserver.write_kubeconfig(town.namespace, {"token": token}).read_text()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(text.replace(f":{kube_apiserver.port}", f":{relay.port}"))
    settings = AccessSettings(review_timeout_seconds=2)
    bounds = ClusterSettings(request_timeout=2)
    async with await connect(kubeconfig, settings=bounds) as cluster:
        guard = Guard(settings, clock, reviewer=ClusterReviewer(cluster, settings.audience))
        app = create_app(
            RestSettings(), clock, CollectorRegistry(), Options(), DictSource(), guard=guard
        )

        async def ask(method: str, path: str, token: str = "", body: object = b"") -> Answer:
            bearer = {"Authorization": f"Bearer {token}"} if token else {}
            headers = {"content-type": "application/json", **bearer}
            return await call(app, method, path, body, headers)

        async with guard.running():
            yield ask


async def told(answer: Awaitable[Answer]) -> tuple[int, str]:
    """The status, and the code of the problem if it is one."""
    given = await answer
    return given.status, given.json.get("code", "") if given.body else ""


async def test_a_token_for_us_is_known(ask: Ask, town: Town) -> None:
    guest = await town.token("guest")
    assert (await ask("POST", "/v1/decisions", guest, ONE)).status == 200


async def test_others_are_not(ask: Ask, town: Town, kube_apiserver: KubeApiserver) -> None:
    good = await town.token("guest")
    others = {
        "none": "",
        "made up": "made-up",
        "for the API server": await token_of(town.admin, town.namespace, "guest"),
        "for another": await town.token("guest", "vault"),
        "static there": kube_apiserver.token,
        "expired": expired(good, kube_apiserver.tls.service_account_key),
        "forged": good[:-4] + "AAAA",
    }
    found = {name: await told(ask("POST", "/v1/decisions", t, ONE)) for name, t in others.items()}
    assert found == dict.fromkeys(others, (401, "unauthenticated"))


async def test_a_pod_is_looked_up_for_who_may_get_it(ask: Ask, town: Town) -> None:
    path = f"/v1/namespaces/{town.namespace}/pods/web/decision"
    reader, guest = await town.token("reader"), await town.token("guest")
    assert await told(ask("GET", path, reader)) == (404, "not_found")  # let in, and there is none
    assert await told(ask("GET", path, guest)) == (403, "forbidden")
    elsewhere = "/v1/namespaces/default/pods/web/decision"
    assert await told(ask("GET", elsewhere, reader)) == (403, "forbidden")
    refused = await ask("GET", path, guest)
    assert refused.json["detail"] == (
        f'user "{town.user("guest")}" cannot get resource "pods" "web" in API group "" '
        f'in the namespace "{town.namespace}"'
    )


async def test_metrics_are_for_who_may_read_that_path(
    ask: Ask, town: Town, kube_apiserver: KubeApiserver
) -> None:
    guest = await town.token("guest")
    assert await told(ask("GET", "/metrics", guest)) == (403, "forbidden")
    await town.add("scraper")
    await town.bind("scraper", "system:monitoring", CLUSTER_BINDINGS)
    assert (await ask("GET", "/metrics", await town.token("scraper"))).status == 200


async def test_a_right_that_is_taken_away_holds_until_the_answer_has_lapsed(
    ask: Ask, town: Town, clock: JumpingClock
) -> None:
    path = f"/v1/namespaces/{town.namespace}/pods/web/decision"
    reader = await town.token("reader")
    assert (await ask("GET", path, reader)).status == 404
    await town.admin.delete(BINDINGS, f"reader-{town.namespace}", town.namespace)
    clock.skip(55)
    assert (await ask("GET", path, reader)).status == 404
    while (await ask("GET", path, reader)).status == 404:
        clock.skip(10)  # the API server's authorizer may not have seen it yet
    assert await told(ask("GET", path, reader)) == (403, "forbidden")


async def test_while_the_api_server_is_away_only_kept_answers_hold(
    ask: Ask, town: Town, relay: Relay, clock: JumpingClock
) -> None:
    guest, reader = await town.token("guest"), await town.token("reader")
    assert (await ask("POST", "/v1/decisions", guest, ONE)).status == 200
    relay.freeze()
    unavailable = (503, "authentication_unavailable")
    assert await told(ask("POST", "/v1/decisions", reader, ONE)) == unavailable
    assert (await ask("POST", "/v1/decisions", guest, ONE)).status == 200
    clock.skip(61)
    assert await told(ask("POST", "/v1/decisions", guest, ONE)) == unavailable
    await relay.cut()
    relay.thaw()
    assert (await ask("POST", "/v1/decisions", guest, ONE)).status == 200


async def test_without_the_grant_nobody_is_let_in(
    ask: Ask, town: Town, kube_apiserver: KubeApiserver
) -> None:
    name = f"delegate-{town.namespace}"
    await town.admin.delete(CLUSTER_BINDINGS, name)
    guest = await town.token("guest")
    refused = await ask("POST", "/v1/decisions", guest, ONE)
    while refused.status == 200:  # the API server's authorizer has not seen it yet
        refused = await ask("POST", "/v1/decisions", await town.token("guest"), ONE)
    assert refused.json["code"] == "authentication_unavailable"
