"""What the chart's objects say to each other, to the commands they run, and to Kubernetes."""

from __future__ import annotations

import re

import pytest
import typer

from bailiff.bootstrap.leases import lease_names
from bailiff.cli.app import app
from bailiff.worker import Shard
from tests.harness.helm.chart import (
    COMPONENTS,
    PROFILES,
    container_of,
    pod_of,
    render,
    the,
)
from tests.harness.helm.hooks import ALL

pytestmark = pytest.mark.helm

# No options: read when logging is set up, before any command, or when the ports are.
OF_THE_PROCESS = {
    "BAILIFF_LOG_FORMAT",
    "BAILIFF_LOG_LEVEL",
    "BAILIFF_ALLOWED_HOSTS",
    "BAILIFF_TRUSTED_PROXIES",
}
COMMANDS = {"api": "serve", "worker": "worker"}
ASKING: dict = {"authentication": {"tokenReview": {"enabled": True}}}
NOT_ASKING: dict = {"authentication": {"tokenReview": {"enabled": False}}}
each_component = pytest.mark.parametrize("component", COMPONENTS)
each_profile = pytest.mark.parametrize("profile", PROFILES)


@each_profile
def test_objects_of_a_component_find_its_pods(profile):
    objects = render(profile)
    for component in COMPONENTS:
        labels = pod_of(objects, component)["metadata"]["labels"].items()
        selectors = [s for o in objects if component in str(o["metadata"]) for s in selectors_of(o)]
        assert len(selectors) >= 2
        assert all(selector.items() <= labels for selector in selectors)


def selectors_of(obj):
    """The label selectors of pods in an object, wherever they stand."""
    spec = obj.get("spec", {})
    if obj["kind"] == "Service":
        return [spec["selector"]]
    found = [spec[key] for key in ("selector", "podSelector") if key in spec]
    if "template" in spec:
        constraints = spec["template"]["spec"].get("topologySpreadConstraints", [])
        found += [constraint["labelSelector"] for constraint in constraints]
    return [selector["matchLabels"] for selector in found]


@each_profile
def test_no_two_components_share_a_pod(profile):
    objects = render(profile)
    api, worker = (the(objects, "Service", component) for component in COMPONENTS)
    assert not api["spec"]["selector"].items() <= worker["spec"]["selector"].items()


@each_profile
@each_component
def test_every_port_that_is_named_is_there(profile, component):
    objects = render(profile)
    container = container_of(objects, component)
    named = {port["name"] for port in container["ports"]}
    service = the(objects, "Service", component)["spec"]["ports"]
    # Probes are the kubelet's alone.
    assert {port["targetPort"] for port in service} == named - {"health"}
    probes = [container[p] for p in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert {p["httpGet"]["port"] for p in probes} == {"health"}
    policies = [o for o in objects if o["kind"] == "NetworkPolicy"]
    for policy in policies:
        if policy["metadata"]["labels"]["app.kubernetes.io/component"] == component:
            *asked, probed = policy["spec"]["ingress"]
            opened = {port["port"] for rule in asked for port in rule["ports"]}
            assert opened == named - {"health"}
            # Nobody can name the kubelet.
            assert probed == {"ports": [{"port": "health"}]}


def settings_of(objects, component):
    """The environment of a component; what it says of no value is empty."""
    container = container_of(objects, component)
    found = {entry["name"]: entry.get("value", "") for entry in container["env"]}
    # The API server merges them by name.
    assert len(found) == len(container["env"])
    return found


def parsed(component, environment, arguments, monkeypatch):
    """The options as the command of a component understands them."""
    command = typer.main.get_group(app).commands[COMMANDS[component]]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert arguments[0] == COMMANDS[component]
    return command.make_context(arguments[0], arguments[1:]).params


@each_profile
@each_component
def test_every_setting_is_one_of_the_command_s(profile, component):
    command = typer.main.get_group(app).commands[COMMANDS[component]]
    known = {option.envvar for option in command.params} | OF_THE_PROCESS
    settings = settings_of(render(profile), component)
    assert {name for name in settings if name.startswith("BAILIFF_")} <= known


@each_component
def test_settings_are_understood(component, monkeypatch):
    objects = render("everything")
    args = container_of(objects, component)["args"]
    options = parsed(component, settings_of(objects, component), args, monkeypatch)
    assert options["host"] == "::"
    assert options["in_cluster"]
    assert options["comparison_operators"]
    assert options["evict_ended_pods"]
    assert options["pod_group_claims"]


@each_component
def test_switches_that_are_off_are_off(component, monkeypatch):
    values = NOT_ASKING | {
        "api": {"readCluster": False},
        "decisions": {"extendedResourceClaims": False},
    }
    objects = render(values=values)
    args = container_of(objects, component)["args"]
    options = parsed(component, settings_of(objects, component), args, monkeypatch)
    assert options["host"] == "0.0.0.0"
    assert options["in_cluster"] == (component == "worker")
    assert not options["comparison_operators"]
    assert not options["evict_ended_pods"]
    assert not options["extended_resource_claims"]
    assert not options["pod_group_claims"]


def test_processes_listen_where_the_chart_says(monkeypatch):
    objects = render()
    ports = {
        port["name"]: port["containerPort"]
        for component in COMPONENTS
        for port in container_of(objects, component)["ports"]
    }
    api = parsed("api", settings_of(objects, "api"), ["serve"], monkeypatch)
    worker = parsed("worker", settings_of(objects, "worker"), ["worker"], monkeypatch)
    told = {"rest": api["rest_port"], "grpc": api["grpc_port"], "status": worker["status_port"]}
    assert ports == told | {"health": 8082}
    assert api["health_port"] == worker["health_port"] == 8082


@pytest.mark.parametrize(
    ("shards", "standbys", "pods"), [(1, 0, 1), (1, 1, 2), (4, 1, 5), (3, 2, 5), (64, 16, 80)]
)
def test_each_shard_has_a_pod_and_a_lease_and_standbys_are_for_all(
    shards, standbys, pods, monkeypatch
):
    objects = render(values={"worker": {"shards": shards, "standbys": standbys}})
    spec = the(objects, "Deployment", "worker")["spec"]
    assert spec["replicas"] == pods
    # All pods of a new number of shards come before the first of the old one goes.
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": "100%"}
    options = parsed("worker", settings_of(objects, "worker"), ["worker"], monkeypatch)
    assert (options["leader_elect"], options["shards"]) == (True, shards)
    # So it takes any of them.
    assert options["shard"] is None
    assert the(objects, "Role", "worker")["metadata"]["namespace"] == options["lease_namespace"]
    [rule] = the(objects, "Role", "worker")["rules"]
    assert rule["verbs"] == ["get", "update"]
    names = list(lease_names(options["lease_name"], Shard.all_of(shards)).values())
    assert rule["resourceNames"] == names
    leases = [obj for obj in objects if obj["kind"] == "Lease"]
    assert sorted(lease["metadata"]["name"] for lease in leases) == sorted(names)
    assert {lease["metadata"]["namespace"] for lease in leases} == {options["lease_namespace"]}
    # What a manifest says an upgrade would write over the holder's.
    assert all("spec" not in lease for lease in leases)


@each_component
def test_a_changed_setting_changes_the_pod(component):
    def pod(values):
        return pod_of(render(values=values), component)

    before = pod({})
    assert pod({"logs": {"level": "debug"}}) != before
    assert pod({"networkPolicy": {"enabled": True}}) == before


@each_profile
@each_component
def test_pods_may_do_as_little_as_can_be(profile, component):
    objects = render(profile)
    pod = pod_of(objects, component)["spec"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container_of(objects, component)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    # Services of other people's choosing must not become settings of ours.
    assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("asks", [ASKING, NOT_ASKING], ids=["asks who", "does not ask"])
@pytest.mark.parametrize("reads", [True, False], ids=["reads", "does not read"])
def test_the_api_gets_a_token_and_a_role_only_for_what_it_does_with_them(reads, asks):
    objects = render(values={"api": {"readCluster": reads}} | asks)
    reviews = asks is ASKING
    assert pod_of(objects, "api")["spec"]["automountServiceAccountToken"] is (reads or reviews)
    told = settings_of(objects, "api")["BAILIFF_IN_CLUSTER"]
    assert told == str(reads or reviews).lower()
    roles = {
        o["roleRef"]["name"]
        for o in objects
        if o["kind"] == "ClusterRoleBinding" and "-api" in o["metadata"]["name"]
    }
    own, delegation = {"bailiff-bailiff-api"} if reads else set(), {"system:auth-delegator"}
    assert roles == own | (delegation if reviews else set())
    for component in COMPONENTS:
        account = the(objects, "ServiceAccount", component)
        assert account["automountServiceAccountToken"] is False


@pytest.mark.parametrize("enabled", [True, False])
def test_the_api_reads_devices_only_if_their_taints_count(enabled, monkeypatch):
    objects = render(values={"api": {"deviceTaintEviction": {"enabled": enabled}}})
    options = parsed("api", settings_of(objects, "api"), ["serve"], monkeypatch)
    assert options["device_taint_eviction"] is enabled
    groups = [rule["apiGroups"] for rule in the(objects, "ClusterRole", "api")["rules"]]
    assert (["resource.k8s.io"] in groups) is enabled


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_api_asks_kubelets_only_if_it_is_told_to(enabled, reads, monkeypatch):
    values = {"readCluster": reads, "pressureLookUps": {"enabled": enabled}}
    objects = render(values={"api": values})
    options = parsed("api", settings_of(objects, "api"), ["serve"], monkeypatch)
    assert options["pressure_look_ups"] is (enabled and reads)
    if reads:
        rules = the(objects, "ClusterRole", "api")["rules"]
        granted = [rule["verbs"] for rule in rules if rule["resources"] == ["nodes/proxy"]]
        assert granted == [["get"]] * enabled


@pytest.mark.parametrize("enabled", [True, False])
def test_the_worker_follows_devices_only_if_their_taints_count(enabled, monkeypatch):
    objects = render(values={"worker": {"deviceTaintEviction": {"enabled": enabled}}})
    options = parsed("worker", settings_of(objects, "worker"), ["worker"], monkeypatch)
    assert options["device_taint_eviction"] is enabled
    groups = [rule["apiGroups"] for rule in the(objects, "ClusterRole", "worker")["rules"]]
    assert (["resource.k8s.io"] in groups) is enabled


def test_roles_go_to_the_accounts_that_the_pods_run_as():
    for profile in PROFILES:
        objects = render(profile)
        for binding in (o for o in objects if o["kind"].endswith("RoleBinding")):
            component = binding["metadata"]["labels"]["app.kubernetes.io/component"]
            [subject] = binding["subjects"]
            assert subject["name"] == pod_of(objects, component)["spec"]["serviceAccountName"]
            if binding["roleRef"]["name"] == "system:auth-delegator":
                # Kubernetes' own.
                continue
            [role] = [
                o
                for o in objects
                if o["kind"] == binding["roleRef"]["kind"]
                and o["metadata"]["name"] == binding["roleRef"]["name"]
            ]
            place = binding["metadata"].get("namespace")
            assert role["metadata"].get("namespace") == place
            assert role["metadata"]["labels"]["app.kubernetes.io/component"] == component


def test_names_of_cluster_wide_objects_differ_between_namespaces():
    def names(namespace):
        return {
            (o["kind"], o["metadata"]["name"])
            for o in render(namespace=namespace)
            if "namespace" not in o["metadata"]
        }

    assert len(names("a")) > 10
    assert not names("a") & names("b")


@pytest.mark.parametrize("off", COMPONENTS)
def test_a_component_that_is_off_leaves_nothing(off):
    # Without the API there is nobody to ask.
    hooks = {key: {"enabled": False} for key in ALL["webhooks"]} if off == "api" else {}
    objects = render("everything", {off: {"enabled": False}, "webhooks": hooks})
    left = {o["metadata"]["labels"]["app.kubernetes.io/component"] for o in objects}
    # The certificate and the alerts are for both; agents are beside them.
    assert left == set(COMPONENTS) - {off} | {"tls", "agent", "monitoring"}


def test_an_autoscaler_s_deployment_says_no_number():
    objects = render(values={"api": {"autoscaling": {"enabled": True}}})
    deployment = the(objects, "Deployment", "api")
    assert "replicas" not in deployment["spec"]
    target = the(objects, "HorizontalPodAutoscaler", "api")["spec"]["scaleTargetRef"]
    assert target["name"] == deployment["metadata"]["name"]


def test_a_digest_wins_over_a_tag():
    image = {"repository": "r.example/b", "tag": "t", "digest": f"sha256:{'0' * 64}"}
    shown = container_of(render(values={"image": image}), "api")["image"]
    assert re.fullmatch(r"r\.example/b@sha256:0{64}", shown)


def test_the_process_ends_before_it_is_killed():
    # bootstrap's and the worker's grace, 20 s, after the sleep before SIGTERM.
    for component in COMPONENTS:
        objects = render()
        sleep = container_of(objects, component).get("lifecycle", {}).get("preStop", {})
        waits = sleep.get("sleep", {}).get("seconds", 0)
        assert pod_of(objects, component)["spec"]["terminationGracePeriodSeconds"] > waits + 20
