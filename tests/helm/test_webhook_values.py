"""What the chart registers as webhooks, and who is told to vouch for the API."""

from __future__ import annotations

import base64
import re
import shlex

import pytest
import yaml
from cryptography import x509

from bailiff.certificates import BUNDLED
from bailiff.webhooks.validate_deletes import NEVER_GATED, is_never_gated
from tests.harness.helm.chart import (
    CHART,
    ROOT,
    container_of,
    notes,
    pod_of,
    render,
    run,
    the,
    try_values,
)
from tests.harness.helm.hooks import ALL, configurations

pytestmark = pytest.mark.helm

HOOKS = tuple(ALL["webhooks"])
NODES = {"webhooks": {"validateNodes": {"enabled": True}}}


def webhooks(values, namespace="bailiff"):
    return {
        one["name"]: one
        for configuration in configurations(values, namespace)
        for one in configuration["webhooks"]
    }


def test_none_is_on_unless_it_is_switched_on():
    assert webhooks({}) == {}
    [port] = [p for p in the(render(), "Service", "api")["spec"]["ports"] if p["name"] == "rest"]
    assert port["port"] == 8080
    assert "admission" not in str(pod_of(render(), "api"))


@pytest.mark.parametrize("hook", HOOKS)
def test_each_is_switched_on_alone(hook):
    values = {"webhooks": {hook: ALL["webhooks"][hook]}}
    [(name, found)] = webhooks(values).items()
    assert name.removesuffix(".bailiff.dev").replace("-", "") == hook.lower()
    service = found["clientConfig"]["service"]
    assert (service["name"], service["port"]) == ("bailiff-api", 443)


def test_what_they_may_do_besides_is_said_rightly():
    effects = {name: one["sideEffects"] for name, one in webhooks(ALL).items()}
    counting = {"validate-evictions.bailiff.dev", "validate-deletes.bailiff.dev"}
    assert {name for name, one in effects.items() if one == "NoneOnDryRun"} == counting
    assert {one for name, one in effects.items() if name not in counting} == {"None"}
    fails = {name for name, one in webhooks(ALL).items() if one["failurePolicy"] == "Fail"}
    assert fails == counting
    assert webhooks(ALL)["mutate-pods.bailiff.dev"]["reinvocationPolicy"] == "IfNeeded"


def test_the_release_s_own_namespace_is_left_out_of_all_that_have_one():
    for one in webhooks(ALL, "ops").values():
        if one["rules"][0]["scope"] == "Namespaced":
            [left_out] = one["namespaceSelector"]["matchExpressions"]
            assert left_out["operator"] == "NotIn"
            assert left_out["values"][0] == "ops"


def test_selectors_and_conditions_of_the_values_come_besides():
    more = {
        "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
        "objectSelector": {"matchLabels": {"b": "c"}},
        "matchConditions": [{"name": "mine", "expression": "true"}],
    }
    values = {"webhooks": {"mutatePods": {"enabled": True} | more}}
    [one] = webhooks(values).values()
    assert len(one["namespaceSelector"]["matchExpressions"]) == 2
    assert one["objectSelector"] == more["objectSelector"]
    names = [condition["name"] for condition in one["matchConditions"]]
    assert names == ["not-bailiff", "spec-changed", "not-going", "mine"]


def bundles(values):
    return {one["clientConfig"].get("caBundle", "") for one in webhooks(values).values()}


def test_the_chart_s_own_certificate_is_the_one_that_is_believed():
    values = {"webhooks": ALL["webhooks"]}
    objects = render(values=values)
    [secret] = [o for o in objects if o["kind"] == "Secret"]
    found = {
        webhook["clientConfig"]["caBundle"]
        for configuration in objects
        if configuration["kind"] in BUNDLED
        for webhook in configuration["webhooks"]
    }
    assert found == {secret["data"]["ca.crt"]}
    x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["ca.crt"]))


def test_of_a_certificate_of_somebody_s_own_the_values_say_who_vouches_for_it():
    pem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
    values = {"tls": {"secretName": "mine"}, "webhooks": {**NODES["webhooks"], "caBundle": pem}}
    assert bundles(values) == {base64.b64encode(pem.encode()).decode()}


def test_cert_manager_writes_it_by_itself():
    issuer = {"enabled": True, "issuerRef": {"name": "ca"}}
    values = {"tls": {"certManager": issuer}} | NODES
    assert bundles(values) == {""}
    [configuration] = configurations(values, "bailiff")
    annotations = configuration["metadata"]["annotations"]
    assert annotations == {"cert-manager.io/inject-ca-from": "bailiff/bailiff-tls"}
    [certificate] = [o for o in render(values=values) if o["kind"] == "Certificate"]
    assert certificate["metadata"]["name"] == "bailiff-tls"


def test_the_guide_has_helm_print_what_is_to_be_registered():
    guide = (ROOT / "docs" / "webhooks" / "by-hand.md").read_text()
    [command] = re.findall(r"^(helm template .*\n.*)$", guide, re.MULTILINE)
    program, *arguments = shlex.split(
        command.replace("\\\n", "").replace("helm/bailiff", str(CHART))
    )
    done = run(program, *arguments)
    [webhook] = yaml.safe_load(done.stdout)["webhooks"]
    assert "kube-controller-manager" in str(webhook["matchConditions"])


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        ({"enabled": False}, "needs tls.enabled"),
        ({"secretName": "mine"}, "does not go with tls.secretName"),
        (
            {"certManager": {"enabled": True, "issuerRef": {"name": "ca"}}},
            "does not go with tls.certManager.enabled",
        ),
    ],
)
@pytest.mark.parametrize("hooks", [{}, NODES])
def test_no_job_writes_an_authority_whose_certificate_nobody_serves(tls, said, hooks):
    values = {"tls": tls | {"rotation": {"enabled": True}}} | hooks
    done = try_values(values)
    assert done.returncode != 0
    assert f"tls.rotation.enabled {said}" in done.stderr


def test_the_job_is_told_of_what_there_is():
    values = {"tls": ALL["tls"]} | NODES
    assert bundles(values) == {""}
    objects = render(values=values)
    args = container_of(objects, "tls")["args"]
    assert "--validating-webhook-configuration=bailiff-bailiff-api" in args
    assert not any("mutating" in one for one in args)
    assert "--dns-name=bailiff-api.bailiff.svc" in args
    [cron] = [o for o in objects if o["kind"] == "CronJob"]
    assert cron["spec"]["jobTemplate"]["spec"]["template"] == pod_of(objects, "tls")
    # Pods are served the same Secret, which has nothing that an upgrade could write over it.
    [secret] = [o for o in objects if o["kind"] == "Secret"]
    assert "data" not in secret
    for component in ("api", "worker"):
        volumes = {v["name"]: v for v in pod_of(objects, component)["spec"]["volumes"]}
        assert volumes["tls"]["secret"]["secretName"] == secret["metadata"]["name"]


def test_other_names_are_another_job():
    def name(**api):
        objects = render(values={"tls": ALL["tls"], "api": api})
        return the(objects, "Job", "tls")["metadata"]["name"]

    assert name() == name()
    assert name() != name(allowedHosts=["bailiff.example.com"])


@pytest.mark.parametrize("worker", [True, False])
def test_the_gate_has_the_worker_s_policies_with_or_without_a_worker(worker):
    values = {
        "worker": {
            "enabled": worker,
            "policies": {"overTime": {"budgets": [{"name": "all", "evictions": 1, "seconds": 60}]}},
        },
        "webhooks": {"validateEvictions": {"enabled": True}},
    }
    objects = render(values=values)
    [volume] = [v for v in pod_of(objects, "api")["spec"]["volumes"] if v["name"] == "policies"]
    names = {o["metadata"]["name"] for o in objects if o["kind"] == "ConfigMap"}
    assert names == {volume["configMap"]["name"], "bailiff-evictions"}
    counting = {
        o["subjects"][0]["name"]
        for o in objects
        if o["kind"] == "RoleBinding" and o["metadata"]["name"].endswith("-counts")
    }
    assert counting == {"bailiff-api"} | ({"bailiff-worker"} if worker else set())


def test_whom_the_gate_never_holds_no_value_may_name():
    users = [*NEVER_GATED, "system:node:a"]
    assert all(map(is_never_gated, users))
    said = try_values({"webhooks": {"validateDeletes": {"enabled": True, "users": users}}}).stderr
    refused = re.search(r"validateDeletes.users: must not be held: ([^ ]+(?:, [^ ]+)*): they", said)
    assert refused is not None
    assert refused[1].split(", ") == users


def test_the_notes_say_what_is_refused_meanwhile():
    said = notes(ALL)
    assert "is refused: validateEvictions, validateDeletes" in said
    assert "Webhooks are on" not in notes({})


BUDGET = {"overTime": {"budgets": [{"name": "ten", "evictions": 10, "seconds": 3600}]}}


@pytest.mark.parametrize(
    ("policies", "enabled", "warned"),
    [(BUDGET, False, True), (BUDGET, True, False), ({"protection": True}, False, False)],
)
def test_whom_a_budget_over_time_does_not_hold_is_said(
    policies: dict, enabled: bool, warned: bool
) -> None:
    said = notes(
        {"worker": {"policies": policies}, "webhooks": {"validateEvictions": {"enabled": enabled}}}
    )
    assert ("overTime holds the worker alone" in said) is warned
