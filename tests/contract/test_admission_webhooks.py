"""Our hooks as a real kube-apiserver calls them over TLS, its own plugin switched off."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bailiff.cluster import Cluster, ClusterError, PatchType, connect
from tests.harness.api import PODS, Bench
from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.hook_port import (
    MUTATING,
    HookPort,
    Registration,
    listening,
    registered,
)
from tests.harness.kube.programs import WHY_NOT, assets
from tests.harness.kube.tls import ClientCertificate, Tls, make_tls, new_pair
from tests.harness.objects import Object, pod_object
from tests.harness.transcripts import ROOT
from tests.harness.working import until

pytestmark = pytest.mark.kube_apiserver

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
CONFIGURATION = re.compile(r"<!-- configuration: .*? -->\n```yaml\n(.*?)```", re.DOTALL)
DEFAULTS = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in (NOT_READY, UNREACHABLE)
]
DAEMON = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "name": "agent",
    "uid": "5f2b8c1e-8b3f-4a1c-9d55-000000000001",
    "controller": True,
}


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """An authority that vouches for the API server where it calls."""
    return make_tls(tmp_path_factory.mktemp("callers"))


@pytest.fixture(scope="module")
def server(callers: Tls) -> Iterator[KubeApiserver]:
    """Without the plugins whose work our hook does, and with a certificate to show to hooks."""
    if assets() is None:
        pytest.skip(WHY_NOT)
    off = "ServiceAccount,DefaultTolerationSeconds"
    config = f"--admission-control-config-file={_showing(callers)}"
    with KubeApiserver([f"--disable-admission-plugins={off}", config]) as server:
        yield server


def _showing(callers: Tls) -> Path:
    """What tells an API server which certificate to show to webhooks."""
    folder = callers.ca.parent
    own = ClientCertificate(folder)
    own.rotate(callers, user="kube-apiserver", groups=())
    shown = {"client-certificate": str(own.certificate), "client-key": str(own.key)}
    kubeconfig = folder / "webhooks.kubeconfig"
    users = [{"name": "*", "user": shown}]
    kubeconfig.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "users": users}))
    webhooks = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(kubeconfig),
    }
    plugins = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
    path = folder / "admission.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "apiserver.config.k8s.io/v1",
                "kind": "AdmissionConfiguration",
                "plugins": [{"name": name, "configuration": webhooks} for name in plugins],
            }
        )
    )
    return path


@pytest.fixture
async def cluster(server: KubeApiserver) -> AsyncIterator[Cluster]:
    async with await connect(server.kubeconfig) as client:
        yield client


@pytest.fixture
def hook_tls(tmp_path: Path) -> Tls:
    return make_tls(tmp_path)


def mutating(bench: Bench, **terms: Any) -> Registration:
    more = {"reinvocationPolicy": "IfNeeded"}
    return Registration(
        path="mutate/pods", resources=["pods"], namespace=bench.namespace, more=more, **terms
    )


async def is_called(port: HookPort, bench: Bench) -> None:
    """Wait until the API server calls, which it begins a moment after it is told."""

    async def tried() -> bool:
        # Not yet: no tolerations. Or there is no answer, which is what a test wants to see.
        with contextlib.suppress(ClusterError):
            await create(bench, "probe", dry_run=True)
        return sum(port.count("mutate/pods", result) for result in ("patched", "denied")) > 0

    await until(tried)


async def create(bench: Bench, name: str, *, dry_run: bool = False, **spec: Any) -> Object:
    owner = spec.pop("owner", None)
    body = pod_object(name, **spec)
    body["metadata"] |= {"ownerReferences": [owner] if owner else []}
    return await bench.cluster.create(PODS, body, bench.namespace, dry_run=dry_run)


def tolerations(pod: Object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pod["spec"].get("tolerations", [])
    return found


@pytest.fixture
async def called(bench: Bench, hook_tls: Tls) -> AsyncIterator[HookPort]:
    async with listening(hook_tls) as port, registered(bench.cluster, port, mutating(bench)):
        await is_called(port, bench)
        yield port


async def test_without_us_a_pod_has_no_tolerations(bench: Bench) -> None:
    assert tolerations(await create(bench, "plain")) == []


async def test_a_pod_gets_the_default_tolerations(bench: Bench, called: HookPort) -> None:
    assert tolerations(await create(bench, "web")) == DEFAULTS


async def test_limits_are_requests_by_the_time_that_we_are_asked(
    bench: Bench, called: HookPort
) -> None:
    spec = pod_object("x")["spec"]
    container = {**spec["containers"][0], "resources": {"limits": {"example.com/gpu": "1"}}}
    pod = await create(bench, "gpu", containers=[container])
    gpu = {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert tolerations(pod) == [*DEFAULTS, gpu]


async def test_a_daemons_pod_gets_those_of_daemons(bench: Bench, called: HookPort) -> None:
    own = [DEFAULTS[1] | {"tolerationSeconds": 5}]
    pod = await create(bench, "agent", owner=DAEMON, hostNetwork=True, tolerations=own)
    found = tolerations(pod)
    assert len(found) == 7
    assert all("tolerationSeconds" not in one for one in found)
    assert found[0]["key"] == UNREACHABLE


async def test_an_update_changes_nothing_that_is_there(bench: Bench, called: HookPort) -> None:
    before = await create(bench, "web")
    patched = called.count("mutate/pods", "patched")
    body = {"metadata": {"labels": {"a": "b"}}}
    after = await bench.cluster.patch(
        PODS, "web", bench.namespace, body, patch_type=PatchType.MERGE
    )
    assert tolerations(after) == tolerations(before)
    assert called.count("mutate/pods", "patched") == patched
    assert called.count("mutate/pods", "allowed") == 1


async def test_a_pod_that_was_there_before_gets_them_with_its_next_update(
    bench: Bench, hook_tls: Tls
) -> None:
    await create(bench, "old")
    async with listening(hook_tls) as port, registered(bench.cluster, port, mutating(bench)):
        await is_called(port, bench)
        body = {"metadata": {"labels": {"a": "b"}}}
        after = await bench.cluster.patch(
            PODS, "old", bench.namespace, body, patch_type=PatchType.MERGE
        )
    assert tolerations(after) == DEFAULTS


async def test_what_cannot_be_read_is_refused_with_its_path(bench: Bench, called: HookPort) -> None:
    too_long = [{"key": "a" * 400, "operator": "Exists"}]
    with pytest.raises(ClusterError, match=r"request\.object\.spec\.tolerations\[0\]\.key"):
        await create(bench, "long", tolerations=too_long)


async def test_while_it_is_down_ignore_lets_pods_pass(bench: Bench, hook_tls: Tls) -> None:
    async with listening(hook_tls) as port:
        hook = mutating(bench, failure_policy="Ignore")
        async with registered(bench.cluster, port, hook):
            await is_called(port, bench)
            await port.stop()
            assert tolerations(await create(bench, "web")) == []


async def test_while_it_is_down_fail_refuses_pods(bench: Bench, hook_tls: Tls) -> None:
    async with listening(hook_tls) as port, registered(bench.cluster, port, mutating(bench)):
        await is_called(port, bench)
        await port.stop()
        with pytest.raises(ClusterError, match="failed calling webhook"):
            await create(bench, "web")


async def test_only_the_api_server_is_answered_where_callers_need_a_certificate(
    bench: Bench, hook_tls: Tls, callers: Tls
) -> None:
    async with (
        listening(hook_tls, hook_ca=callers.ca) as port,
        registered(bench.cluster, port, mutating(bench)),
    ):
        await is_called(port, bench)
        assert tolerations(await create(bench, "web")) == DEFAULTS
    async with (
        listening(hook_tls, hook_ca=hook_tls.ca) as port,
        registered(bench.cluster, port, mutating(bench)),
    ):

        async def refused() -> bool:
            try:
                await create(bench, "probe", dry_run=True)
            except ClusterError as error:
                return "failed calling webhook" in str(error)
            return False

        await until(refused)


async def test_certificates_are_rotated_under_load_and_no_request_fails(
    bench: Bench, called: HookPort, hook_tls: Tls
) -> None:
    stop = asyncio.Event()
    created, made = 0, set()

    async def one() -> None:
        nonlocal created
        assert tolerations(await create(bench, "web", dry_run=True)) == DEFAULTS
        created += 1

    async def load() -> None:
        while not stop.is_set():
            await one()

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(load())
        for number in range(1, 5):
            await rotate(called, hook_tls)
            # More at once than there are connections for: the API server makes new ones.
            before = set(called.server.connections)
            await asyncio.gather(*(one() for _ in range(30 * number)))
            made |= called.server.connections - before
        stop.set()
    assert created > 300
    assert made


async def rotate(port: HookPort, tls: Tls) -> None:
    """Another certificate of the same authority."""
    before = port.tls.in_force
    certificate, key = new_pair(tls)
    # One file after the other, as some tools do: in between they are no pair.
    tls.certificate.write_bytes(certificate)
    await asyncio.sleep(0.12)
    tls.key.write_bytes(key)
    await until(lambda: port.tls.in_force is not before)


async def test_the_configuration_of_the_guide_registers_us(bench: Bench, hook_tls: Tls) -> None:
    guide = ROOT / "docs" / "webhooks" / "by-hand.md"
    (written,) = CONFIGURATION.findall(guide.read_text())
    body = yaml.safe_load(written)
    body["metadata"]["name"] = f"guide-{bench.namespace}"
    async with listening(hook_tls) as port:
        client = body["webhooks"][0]["clientConfig"]
        path = client.pop("service")["path"]
        client["url"] = f"https://127.0.0.1:{port.port}{path}"
        client["caBundle"] = base64.b64encode(hook_tls.ca.read_bytes()).decode()
        await bench.cluster.create(MUTATING, body)
        try:
            await is_called(port, bench)
            assert tolerations(await create(bench, "web")) == DEFAULTS
        finally:
            await bench.cluster.delete(MUTATING, body["metadata"]["name"])
