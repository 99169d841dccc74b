"""The chart installed and upgraded by helm on a real API server: what must outlast an upgrade."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from bailiff.certificates import BUNDLED, issue
from bailiff.cluster import LEASES, LeaseRecord, LeaseStore, PatchType, Resource
from tests.harness.helm.chart import CHART
from tests.harness.objects import object_of
from tests.harness.pausing import WHOLE

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

SECRETS: Resource[dict] = Resource("", "v1", "secrets", dict)
LEASE = "bailiff-worker-0-of-1"


def install(helm, command="install", *sets):
    settings = [part for setting in sets for part in ("--set", setting)]
    return helm(command, str(CHART), *settings)


async def test_the_holder_of_a_lease_stays_over_an_upgrade(helm, cluster, bench):
    install(helm)
    store = LeaseStore(cluster, bench.namespace, LEASE)
    made = await store.read()
    assert made is not None
    assert made.record == LeaseRecord()
    held = LeaseRecord(holder_identity="worker", lease_duration_seconds=15, lease_transitions=3)
    await store.write(made, held)
    install(helm, "upgrade", "logs.level=debug", "labels.team=platform")
    kept = await store.read()
    assert kept is not None
    assert kept.record == held
    assert kept.object["metadata"]["labels"]["team"] == "platform"


async def test_another_number_of_shards_brings_its_leases_and_takes_the_old_ones(
    helm, cluster, bench
):
    install(helm)
    install(helm, "upgrade", "worker.shards=2")
    names = {
        lease["metadata"]["name"]
        for lease in (await cluster.list(LEASES, namespace=bench.namespace)).items
    }
    assert names == {"bailiff-worker-0-of-2", "bailiff-worker-1-of-2"}


def names_of(secret):
    """For which the certificate in it is valid; its authority has signed it."""
    pem = {key: base64.b64decode(secret["data"][key]) for key in ("tls.crt", "ca.crt")}
    found = x509.load_pem_x509_certificate(pem["tls.crt"])
    found.verify_directly_issued_by(x509.load_pem_x509_certificate(pem["ca.crt"]))
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(names.get_values_for_type(x509.DNSName))


async def test_a_certificate_is_made_once_for_the_names_of_the_services(helm, cluster, bench):
    install(helm)
    first = await cluster.get(SECRETS, "bailiff-tls", bench.namespace)
    wanted = {f"bailiff-{one}.{bench.namespace}.svc" for one in ("api", "worker")}
    assert wanted | {"localhost"} <= names_of(first)
    install(helm, "upgrade", "logs.level=debug")
    second = await cluster.get(SECRETS, "bailiff-tls", bench.namespace)
    assert second["data"] == first["data"]


@pytest.mark.parametrize(
    ("setting", "comes"),
    [
        ("api.allowedHosts={bailiff.example.com}", "bailiff.example.com"),
        ("clusterDomain=other.local", "bailiff-api.{namespace}.svc.other.local"),
    ],
)
async def test_a_certificate_is_made_anew_for_other_names(helm, cluster, bench, setting, comes):
    install(helm)
    comes = comes.format(namespace=bench.namespace)
    assert comes not in names_of(await cluster.get(SECRETS, "bailiff-tls", bench.namespace))
    install(helm, "upgrade", setting)
    found = await cluster.get(SECRETS, "bailiff-tls", bench.namespace)
    assert comes in names_of(found)
    install(helm, "upgrade", setting, "logs.level=debug")
    assert await cluster.get(SECRETS, "bailiff-tls", bench.namespace) == found


async def believed(cluster, namespace):
    """Whom the one webhook believes."""
    name = f"{namespace}-bailiff-api"
    found = await cluster.get(BUNDLED["ValidatingWebhookConfiguration"], name)
    [webhook] = found["webhooks"]
    return base64.b64decode(webhook["clientConfig"]["caBundle"])


async def test_webhooks_believe_a_certificate_and_the_one_before(helm, cluster, bench):
    """Pods take up a new one within a minute or two, so the other one is served meanwhile."""
    hook, hosts = "webhooks.validateNodes.enabled=true", "api.allowedHosts={bailiff.example.com}"

    async def authority():
        secret = await cluster.get(SECRETS, "bailiff-tls", bench.namespace)
        return base64.b64decode(secret["data"]["ca.crt"])

    install(helm, "install", hook)
    first = await authority()
    assert await believed(cluster, bench.namespace) == first
    install(helm, "upgrade", hook, "logs.level=debug")
    assert await believed(cluster, bench.namespace) == first
    install(helm, "upgrade", hook, hosts)
    second = await authority()
    assert second != first
    assert await believed(cluster, bench.namespace) == first + second
    install(helm, "upgrade", hook, hosts, "logs.level=debug")
    assert await believed(cluster, bench.namespace) == second


async def test_a_certificate_that_is_replaced_takes_the_place_of_one_that_is_not(
    helm, cluster, bench
):
    hook, rotated = "webhooks.validateNodes.enabled=true", "tls.rotation.enabled=true"
    install(helm, "install", hook)
    first = await believed(cluster, bench.namespace)
    # Pods serve the old one until the Job has made another, and webhooks believe it.
    install(helm, "upgrade", hook, rotated)
    assert await believed(cluster, bench.namespace) == first
    made = issue(("a",), datetime.now(UTC), timedelta(days=1)).authority
    data = {"ca.crt": base64.b64encode(first + made).decode()}
    await cluster.patch(SECRETS, "bailiff-certificate", bench.namespace, {"data": data})
    install(helm, "upgrade", hook, rotated, "webhooks.validateNodes.failurePolicy=Fail")
    assert await believed(cluster, bench.namespace) == first + made


def counting(namespace):
    """Values with a budget over time, whose counts are in the release's namespace."""
    return (
        f"worker.policies.overTime.store.namespace={namespace}",
        "worker.policies.overTime.budgets[0].name=all",
        "worker.policies.overTime.budgets[0].evictions=5",
        "worker.policies.overTime.budgets[0].seconds=60",
    )


async def test_counts_that_were_made_without_the_chart_are_taken_over_as_they_are(
    helm, cluster, bench
):
    made = object_of("ConfigMap", "bailiff-evictions") | {"data": {"all": "1"}}
    await cluster.create(WHOLE, made, bench.namespace)
    sets = [part for setting in counting(bench.namespace) for part in ("--set", setting)]
    helm("install", str(CHART), "--take-ownership", *sets)
    install(helm, "upgrade", *counting(bench.namespace), "logs.level=debug")
    counts = await cluster.get(WHOLE, "bailiff-evictions", bench.namespace)
    assert counts["data"] == {"all": "1"}


async def test_an_upgrade_leaves_what_the_job_has_made_and_what_is_counted(helm, cluster, bench):
    made = (
        "tls.rotation.enabled=true",
        "webhooks.validateEvictions.enabled=true",
        "webhooks.validateEvictions.failurePolicy=Ignore",
        *counting(bench.namespace),
    )
    install(helm, "install", *made)
    hooks, name = BUNDLED["ValidatingWebhookConfiguration"], f"{bench.namespace}-bailiff-api"
    pem = base64.b64encode(issue(("a",), datetime.now(UTC), timedelta(days=1)).authority).decode()
    data = {"tls.crt": "YQ==", "tls.key": "Yg==", "ca.crt": pem}
    await cluster.patch(SECRETS, "bailiff-certificate", bench.namespace, {"data": data})
    await cluster.patch(WHOLE, "bailiff-evictions", bench.namespace, {"data": {"all": "1"}})
    found = await cluster.get(SECRETS, "bailiff-certificate", bench.namespace)
    bundle = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": pem}
    await cluster.patch(hooks, name, "", [bundle], patch_type=PatchType.JSON)
    install(helm, "upgrade", *made, "webhooks.validateEvictions.timeoutSeconds=7")
    kept = await cluster.get(SECRETS, "bailiff-certificate", bench.namespace)
    assert kept["data"] == found["data"] == data
    counts = await cluster.get(WHOLE, "bailiff-evictions", bench.namespace)
    assert counts["data"] == {"all": "1"}
    [webhook] = (await cluster.get(hooks, name))["webhooks"]
    assert (webhook["timeoutSeconds"], webhook["clientConfig"]["caBundle"]) == (7, pem)


def test_the_notes_tell_what_to_do_first(helm):
    said = install(helm)
    assert "--audience bailiff" in said
    assert "ValidatingAdmissionPolicies are in force" in said
