"""The DaemonSet of agents: what it is told, and that it may do no more than it needs."""

from __future__ import annotations

import pytest
import typer

from bailiff.cli.app import app
from tests.harness.helm.chart import container_of, pod_of, render, the, try_values

pytestmark = pytest.mark.helm

ON = {"agent": {"enabled": True}}
# Of the process, and not of the command.
OF_THE_PROCESS = {"BAILIFF_LOG_FORMAT", "BAILIFF_LOG_LEVEL", "HOST_IP", "TZ", "NODE"} | {
    "OTEL_EXPORTER_OTLP_HEADERS"
}


def agents(**values):
    return render(values={"agent": ON["agent"] | values})


def settings(objects):
    return {one["name"]: one.get("value", "") for one in container_of(objects, "agent")["env"]}


@pytest.mark.parametrize("objects", [agents, lambda: render("everything")], ids=["on", "all"])
def test_every_setting_is_an_option_of_the_command(objects):
    command = typer.main.get_group(app).commands["agent"]
    known = {option.envvar for option in command.params} | OF_THE_PROCESS
    assert settings(objects()).keys() <= known


def test_without_it_there_is_none():
    labels = "app.kubernetes.io/component"
    assert "agent" not in {one["metadata"]["labels"].get(labels) for one in render()}


@pytest.mark.parametrize(
    ("mode", "said"), [("act", None), ("dryRun", "BAILIFF_DRY_RUN"), ("shadow", "BAILIFF_SHADOW")]
)
def test_modes(mode, said):
    objects = agents(mode=mode) if mode != "shadow" else agents()
    told = settings(objects)
    found = {name for name in ("BAILIFF_DRY_RUN", "BAILIFF_SHADOW") if name in told}
    assert found == ({said} if said else set())


def test_it_runs_as_a_daemon_of_the_system_on_every_node():
    spec = pod_of(agents(), "agent")["spec"]
    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert not spec.get("hostNetwork")
    assert not spec.get("hostPID")


def test_its_memory_is_bounded_above_its_budget():
    limits = container_of(agents(), "agent")["resources"]
    assert limits["requests"]["memory"] == "48Mi"
    assert limits["limits"]["memory"] == "96Mi"


def mounts(objects):
    return {one["mountPath"]: one for one in container_of(objects, "agent")["volumeMounts"]}


def test_of_the_node_it_may_write_where_it_must_alone():
    written = {path for path, one in mounts(agents()).items() if not one.get("readOnly")}
    assert written == {"/host/sys/fs/cgroup", "/host/run/containerd", "/var/lib/bailiff"}
    security = container_of(agents(), "agent")["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["DAC_READ_SEARCH", "SYS_RESOURCE"]}
    assert security["readOnlyRootFilesystem"]
    assert not security["allowPrivilegeEscalation"]


def test_as_another_than_root_it_has_no_capability_and_writes_nothing_of_the_node():
    objects = agents(root=False)
    assert "BAILIFF_RUNTIME" not in settings(objects)
    security = container_of(objects, "agent")["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert "runAsUser" not in security
    assert pod_of(objects, "agent")["spec"]["securityContext"]["runAsNonRoot"]
    written = {path for path, one in mounts(objects).items() if not one.get("readOnly")}
    assert written == {"/var/lib/bailiff"}
    (state,) = [
        one for one in pod_of(objects, "agent")["spec"]["volumes"] if one["name"] == "state"
    ]
    assert "emptyDir" in state


def test_without_a_runtime_its_socket_is_not_mounted():
    assert "/host/run/containerd" not in mounts(agents(runtime={"enabled": False}))


def rules(**values):
    found = the(agents(**values), "ClusterRole", "agent")["rules"]
    return {
        (resource, verb) for one in found for resource in one["resources"] for verb in one["verbs"]
    }


WATCHES = {(one, verb) for one in ("nodes", "pods") for verb in ("list", "watch")}
KUBELET = {("nodes/stats", "get"), ("nodes/configz", "get")}
ACTS = {("pods", "delete"), ("pods/status", "patch"), ("events", "create")}


def test_its_rights():
    assert rules() == WATCHES | KUBELET
    assert rules(mode="act") == WATCHES | KUBELET | ACTS
    assert rules(mode="act", keepPods=True) == WATCHES | KUBELET | ACTS - {("pods", "delete")}
    status = {("nodes/status", "patch")}
    assert rules(mode="act", conditions=True) == WATCHES | KUBELET | ACTS | status
    assert rules(mode="act", kubelet={"enabled": False}) == WATCHES | ACTS
    told = {"evictionHard": {"memory.available": "1Gi"}}
    assert rules(mode="act", thresholds=told) == WATCHES | ACTS | {("nodes/stats", "get")}


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "off"},
        {"root": False, "memoryHighMark": True},
        {"paths": {"kubelet": "relative"}},
        {"runtime": {"socket": "unix:///run/x.sock"}},
        {"extraEnv": [{"name": "PYTHONPATH", "value": "/x"}]},
    ],
)
def test_values_that_cannot_be_are_refused(wrong):
    done = try_values({"agent": ON["agent"] | wrong})
    assert done.returncode != 0
