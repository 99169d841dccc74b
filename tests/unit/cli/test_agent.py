"""`bailiff agent`: what its options come to, and what is wrong with them."""

from __future__ import annotations

import os
import sys

import msgspec
import pytest
from typer.testing import CliRunner

from bailiff.agent.settings import AgentSettings, KubeletAccess
from bailiff.cli.app import app
from bailiff.decisions.pressure.extensions import MemoryInUse
from bailiff.decisions.pressure.facts import LAYOUTS

HERE = ("--node", "n1", "--kubeconfig", "k")


@pytest.fixture
def become(monkeypatch):
    """What the process would have become: program, arguments, environment."""
    found = []

    def execve(program, arguments, environment):
        found.append((program, arguments, environment))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", execve)
    return found


def run(*options: str):
    return CliRunner().invoke(app, ["agent", *options])


def settings(become, *options: str) -> AgentSettings:
    done = run(*HERE, *options)
    assert become, done.output
    return msgspec.json.decode(become[-1][1][-1], type=AgentSettings)


def test_another_process_takes_its_place(become):
    run(*HERE)
    (program, arguments, environment), *_ = become
    assert program == sys.executable
    assert arguments[-3:-1] == ["-m", "bailiff.bootstrap.agent"]
    assert environment["MALLOC_ARENA_MAX"] == "1"


def test_by_default_everything_is_measured_here_and_nothing_is_freed_or_stopped(become):
    found = settings(become)
    assert found.node == "n1"
    assert found.kubelet is None
    assert found.own_readings
    assert not found.counts_active_cache
    assert (found.runtime, found.stops_containers, found.publishes) == ("", False, False)
    assert found.status_host == "127.0.0.1"


def test_a_shadow_counts_memory_as_the_kubelet(become):
    assert settings(become, "--shadow").counts_active_cache
    assert not settings(become, "--shadow", "--no-active-page-cache").counts_active_cache


def test_files(become, tmp_path):
    config, more = tmp_path / "kubelet.yaml", tmp_path / "more.yaml"
    config.write_text("kind: KubeletConfiguration\nevictionHard: {memory.available: 1Gi}\n")
    more.write_text("memoryInUse: RSS\n")
    found = settings(become, "--pressure-config", str(config), "--pressure-extensions", str(more))
    assert found.configuration is not None
    assert found.configuration.eviction_hard == {"memory.available": "1Gi"}
    assert found.extensions.memory_in_use is MemoryInUse.RSS


def test_the_kubelet(become):
    found = settings(
        become,
        *("--kubelet", "https://127.0.0.1:10250/", "--kubelet-server-name", "n"),
        *("--pressure-layout", "split"),
    )
    assert found.kubelet == KubeletAccess(url="https://127.0.0.1:10250", server_name="n")
    assert found.layout == LAYOUTS["split"]


@pytest.mark.parametrize(
    ("told", "url"),
    [
        # As the chart gives it on a node that has no other address.
        ("https://fd00:10::7:10250", "https://[fd00:10::7]:10250"),
        ("https://[fd00:10::7]:10250", "https://[fd00:10::7]:10250"),
        ("https://10.0.0.7:10250", "https://10.0.0.7:10250"),
        ("https://localhost:10250", "https://localhost:10250"),
    ],
)
def test_the_kubelet_of_a_node_of_ipv6(become, told, url):
    found = settings(become, "--kubelet", told)
    assert found.kubelet is not None
    assert found.kubelet.url == url


def test_options_may_stand_in_the_environment(become, monkeypatch):
    for name, value in {"NODE": "n2", "IN_CLUSTER": "true", "HOST_ROOT": "/host/"}.items():
        monkeypatch.setenv(f"BAILIFF_{name}", value)
    run()
    found = msgspec.json.decode(become[-1][1][-1], type=AgentSettings)
    assert (found.node, found.cluster.in_cluster, found.host.root) == ("n2", True, "/host")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--node", "n"), "say which cluster"),
        ((*HERE, "--shadow", "--dry-run"), "exclude each other"),
        ((*HERE, "--stop-containers"), "--stop-containers needs --runtime"),
        ((*HERE, "--kubelet-insecure-tls"), "need --kubelet"),
        ((*HERE, "--kubelet", "127.0.0.1:10250"), "--kubelet: must be https://HOST:PORT"),
        ((*HERE, "--kubelet", "http://10.0.0.1:10255"), "or http:// on this machine"),
        ((*HERE, "--no-own-readings"), "neither a kubelet to ask nor own readings"),
        ((*HERE, "--pressure-layout", "round"), "--pressure-layout: must be one of single"),
        ((*HERE, "--pressure-config", "nowhere"), "--pressure-config: nowhere: No such file"),
        ((*HERE, "--pressure-interval", "0.5"), "--pressure-interval"),
        ((*HERE, "--pressure-interval", "601"), "--pressure-interval"),
        ((*HERE, "--in-cluster"), "exclude each other"),
        ((*HERE, "--cgroup", "../x"), "is no path below a mount point"),
        ((*HERE, "--node", ""), "must be the name of a node"),
        ((*HERE, "--node", "a,spec.nodeName!=b"), "must be the name of a node"),
        ((*HERE, "--state-file", "/"), "must be a file"),
        ((*HERE, "--kubelet", "https://127.0.0.1:port"), "--kubelet"),
        ((*HERE, "--kubelet", "https://127.0.0.1"), "it has no port"),
        ((*HERE, "--state-file", "/x/\udcff"), "a path is no UTF-8"),
        ((*HERE, "--kubelet-pods"), "there is none"),
        (
            ("--node", "n1", "--kubelet", "https://127.0.0.1:10250", "--kubelet-pods"),
            "nobody can be evicted without a cluster",
        ),
        ((*HERE, "--kubelet", "https://me:secret@127.0.0.1:10250"), "no user and no password"),
        ((*HERE, "--runtime", "tcp://127.0.0.1:1"), "must be the path of a unix socket"),
        ((*HERE, "--runtime", "containerd.sock"), "must be the path of a unix socket"),
        ((*HERE, "--host-root", "host"), "must be a path from / on"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(become, options, said):
    done = run(*options)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert "secret" not in done.output
    assert not become


def test_what_the_machine_estimates_is_of_no_cgroup(become, tmp_path):
    more = tmp_path / "more.yaml"
    more.write_text("memoryInUse: MemAvailable\n")
    extensions = ("--pressure-extensions", str(more))
    assert settings(become, *extensions).extensions.memory_in_use is MemoryInUse.MEM_AVAILABLE
    become.clear()
    assert run(*HERE, *extensions, "--cgroup", "a").exit_code == 2
    assert not become
