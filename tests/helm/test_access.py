"""Who may ask, and by what: what the values make of the processes and of those who scrape them."""

from __future__ import annotations

import pytest

from tests.harness.helm.chart import (
    COMPONENTS,
    container_of,
    notes,
    pod_of,
    render,
    the,
    try_values,
)

pytestmark = pytest.mark.helm

each_component = pytest.mark.parametrize("component", COMPONENTS)
NO_TLS: dict = {"tls": {"enabled": False}}
NO_REVIEW: dict = {"authentication": {"tokenReview": {"enabled": False}}}
CLIENT_CA: dict = {
    "authentication": {"tokenReview": {"enabled": False}, "clientCA": {"secretName": "callers"}}
}
SCRAPED: dict = {"serviceMonitor": {"enabled": True}}
POLICY = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy"


def settings(objects, component):
    return {e["name"]: e.get("value") for e in container_of(objects, component)["env"]}


@each_component
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, {"TLS_CERT_FILE", "TLS_PRIVATE_KEY_FILE", "AUTHENTICATION_TOKEN_WEBHOOK"}),
        (NO_TLS, {"AUTHENTICATION_TOKEN_WEBHOOK"}),
        (NO_REVIEW, {"TLS_CERT_FILE", "TLS_PRIVATE_KEY_FILE", "INSECURE"}),
        (NO_TLS | NO_REVIEW, {"INSECURE"}),
        (CLIENT_CA, {"TLS_CERT_FILE", "TLS_PRIVATE_KEY_FILE", "CLIENT_CA_FILE"}),
    ],
    ids=["defaults", "TLS by a mesh", "callers by a mesh", "both by a mesh", "client certificates"],
)
def test_one_value_each_says_who_sees_to_it(component, values, told):
    known = {
        f"BAILIFF_{name}"
        for name in (
            *("TLS_CERT_FILE", "TLS_PRIVATE_KEY_FILE", "CLIENT_CA_FILE"),
            *("AUTHENTICATION_TOKEN_WEBHOOK", "INSECURE"),
        )
    }
    found = settings(render(values=values), component)
    assert found.keys() & known == {f"BAILIFF_{name}" for name in told}


def test_certificates_of_callers_need_tls():
    done = try_values(NO_TLS | CLIENT_CA)
    assert done.returncode != 0
    assert "authentication.clientCA needs tls.enabled" in done.stderr


@each_component
def test_every_file_that_a_setting_names_is_mounted_by_its_key(component):
    objects = render("everything")
    container, pod = container_of(objects, component), pod_of(objects, component)["spec"]
    files = {
        f"{mount['mountPath']}/{item['path']}"
        for volume in pod["volumes"]
        for mount in container["volumeMounts"]
        if mount["name"] == volume["name"]
        for item in volume.get("secret", volume.get("configMap"))["items"]
    }
    named = {value for value in settings(objects, component).values() if str(value).startswith("/")}
    # Named by another file, which is the operator's.
    assert named == files - {"/etc/bailiff-fence/password"}


@each_component
def test_nothing_but_named_settings_reaches_the_process(component):
    for profile in ("defaults", "everything"):
        container = container_of(render(profile), component)
        assert "envFrom" not in container
        assert container["command"] == ["/opt/bailiff/bin/python", "-I", "-u", "-m", "bailiff"]


@each_component
def test_a_variable_of_ours_takes_the_place_of_the_chart_s(component):
    extra = [{"name": "BAILIFF_LOG_LEVEL", "value": "warning"}]
    container = container_of(render(values={component: {"extraEnv": extra}}), component)
    assert [e for e in container["env"] if e["name"] == "BAILIFF_LOG_LEVEL"] == extra


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD", "LD_LIBRARY_PATH", "OPENSSL_CONF"]
)
@each_component
def test_variables_that_bring_code_are_refused(component, name):
    done = try_values({component: {"extraEnv": [{"name": name, "value": "/opt"}]}})
    assert done.returncode != 0
    said = f"{component}.extraEnv: {name} brings code into the process and is refused"
    assert said in done.stderr


def test_the_api_answers_to_its_service_s_names_and_to_those_that_are_given():
    objects = render(values={"api": {"allowedHosts": ["bailiff.example.com"]}}, namespace="ops")
    hosts = settings(objects, "api")["BAILIFF_ALLOWED_HOSTS"].split(",")
    assert {"bailiff-api", "bailiff-api.ops.svc", "bailiff.example.com"} <= set(hosts)
    assert "BAILIFF_TRUSTED_PROXIES" not in settings(objects, "api")
    proxies = render(values={"api": {"trustedProxies": ["10.0.0.1", "fd00::/8"]}})
    assert settings(proxies, "api")["BAILIFF_TRUSTED_PROXIES"] == "10.0.0.1,fd00::/8"


@each_component
def test_prometheus_scrapes_by_tls_with_a_token(component):
    monitor = the(render(values=SCRAPED), "ServiceMonitor", component)
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["scheme"] == "https"
    assert endpoint["tlsConfig"]["serverName"] == f"bailiff-{component}.bailiff.svc"
    assert endpoint["tlsConfig"]["ca"]["secret"] == {"name": "bailiff-tls", "key": "ca.crt"}
    assert endpoint["bearerTokenFile"] == "/var/run/secrets/bailiff/token"
    secret = SCRAPED["serviceMonitor"] | {"tokenSecret": {"name": "t"}}
    monitor = the(render(values={"serviceMonitor": secret}), "ServiceMonitor", component)
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": "t", "key": "token"}
    assert "bearerTokenFile" not in endpoint
    monitor = the(render(values=SCRAPED | NO_TLS | NO_REVIEW), "ServiceMonitor", component)
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint.keys() == {"port", "path", "interval"}


@each_component
def test_prometheus_shows_a_certificate_where_tokens_are_not_asked_for(component):
    done = try_values(SCRAPED | CLIENT_CA)
    assert done.returncode != 0
    assert "needs serviceMonitor.clientCertSecret.name" in done.stderr
    secret = SCRAPED["serviceMonitor"] | {"clientCertSecret": {"name": "prometheus"}}
    monitor = the(
        render(values=CLIENT_CA | {"serviceMonitor": secret}), "ServiceMonitor", component
    )
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["tlsConfig"]["cert"]["secret"] == {"name": "prometheus", "key": "tls.crt"}
    assert endpoint["tlsConfig"]["keySecret"] == {"name": "prometheus", "key": "tls.key"}
    assert endpoint.keys() & {"authorization", "bearerTokenFile"} == set()


@pytest.mark.parametrize(
    ("values", "asking"),
    [
        ({}, '--cacert ca.crt -H "Authorization: Bearer $TOKEN" https://localhost'),
        (NO_TLS, '-H "Authorization: Bearer $TOKEN" http://127.0.0.1'),
        (NO_REVIEW, "--cacert ca.crt https://localhost"),
        (NO_TLS | NO_REVIEW, "http://127.0.0.1"),
        (CLIENT_CA, "--cacert ca.crt --cert me.crt --key me.key https://localhost"),
    ],
    ids=["defaults", "TLS by a mesh", "callers by a mesh", "both by a mesh", "client certificates"],
)
@pytest.mark.parametrize("off", ["", "api", "worker"])
def test_the_notes_ask_as_callers_have_to(values, asking, off):
    said = notes(values | ({off: {"enabled": False}} if off else {}))
    asked = {"api": f"  curl -s {asking}:8080/v1/namespaces/", "worker": ":8081/v1/policies\n"}
    for component, line in asked.items():
        assert (line in said) is (component != off)
    assert said.count(f"  curl -s {asking}:") == (1 if off else 2)
    assert ("> ca.crt" in said) is ("ca.crt" in asking)
    assert ("TOKEN=$(" in said) is ("$TOKEN" in asking)


SWITCH_OFF = "kube-controller-manager --controllers=*,-taint-eviction-controller"
SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}


@pytest.mark.parametrize(
    ("worker", "why"),
    [
        ({"extraArgs": ["--shadow"]}, "--shadow in worker.extraArgs"),
        ({"extraArgs": ["--concurrency=5", "--dry-run"]}, "--dry-run in worker.extraArgs"),
        ({"extraEnv": [{"name": "BAILIFF_SHADOW", "value": "true"}]}, "BAILIFF_SHADOW in worker"),
        ({"extraEnv": [{"name": "BAILIFF_DRY_RUN", "value": " On"}]}, "BAILIFF_DRY_RUN in worker"),
        (
            {
                "extraArgs": ["--dry-run"],
                "extraEnv": [{"name": "BAILIFF_SHADOW", "valueFrom": SECRET}],
            },
            "--dry-run in worker.extraArgs",
        ),
    ],
    ids=str,
)
def test_the_notes_switch_nothing_off_where_the_worker_evicts_nothing(worker, why):
    said = notes({"worker": worker})
    assert f"The worker evicts nothing ({why}" in said
    assert "Leave the\ncontrollers of kube-controller-manager on" in said
    assert "evicts from now on" not in said
    assert SWITCH_OFF not in said
    assert ("get lease" in said) is ("SHADOW" not in why and "shadow" not in why)


@pytest.mark.parametrize(
    "worker",
    [
        {},
        {"extraArgs": ["--audit-log=--shadow"]},
        {"extraEnv": [{"name": "BAILIFF_SHADOW", "value": "false"}]},
        {"extraEnv": [{"name": "BAILIFF_SHADOW", "value": ""}]},
        {"extraEnv": [{"name": "BAILIFF_DRY_RUN", "value": value} for value in ("1", "0")]},
    ],
    ids=str,
)
def test_the_notes_tell_what_to_switch_off_where_the_worker_evicts(worker):
    said = notes({"worker": worker})
    assert "The worker evicts from now on. Switch off" in said
    assert f"\n  {SWITCH_OFF}" in said


@pytest.mark.parametrize("given", [{"valueFrom": SECRET}, {"value": "$(OTHER)"}], ids=str)
def test_the_notes_say_where_it_cannot_be_known_whether_the_worker_evicts(given):
    said = notes({"worker": {"extraEnv": [{"name": "BAILIFF_SHADOW"} | given]}})
    assert "Does the worker evict? That depends on BAILIFF_SHADOW in worker.extraEnv" in said
    assert "evicts from now on" not in said


def kinds(objects):
    return {obj["kind"] for obj in objects}


def test_a_certificate_is_the_chart_s_or_cert_manager_s_or_yours():
    issued = {"certManager": {"enabled": True, "issuerRef": {"name": "ca"}}}
    assert {"Secret", "Certificate"} & kinds(render()) == {"Secret"}
    assert {"Secret", "Certificate"} & kinds(render(values={"tls": issued})) == {"Certificate"}
    for values in ({"tls": {"secretName": "mine"}}, NO_TLS):
        assert not {"Secret", "Certificate"} & kinds(render(values=values))
    done = try_values({"tls": {"certManager": {"enabled": True}}})
    assert done.returncode != 0
    assert "needs tls.certManager.issuerRef.name: who is to sign" in done.stderr


@pytest.mark.parametrize(
    ("served", "values", "there"),
    [
        # helm template asks no server.
        ((), {}, True),
        (("v1/Pod", POLICY), {}, True),
        (("v1/Pod",), {}, False),
        (("v1/Pod", POLICY), {"admissionPolicies": {"enabled": False}}, False),
        (("v1/Pod", POLICY), {"worker": {"enabled": False}}, False),
    ],
    ids=["unknown", "served", "not served", "off", "no worker"],
)
def test_admission_policies_are_there_where_they_are_served(served, values, there):
    versions = [part for version in served for part in ("--api-versions", version)]
    done = try_values(values, *versions)
    assert done.returncode == 0, done.stderr
    assert ("kind: ValidatingAdmissionPolicy\n" in done.stdout) is there
