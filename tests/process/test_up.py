"""`bailiff up` as a process: a fleet and policies of one's own, and an end without remains."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import ssl
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.harness.transcripts import running_up

pytestmark = pytest.mark.process

FLEET = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: demo}}
- {apiVersion: v1, kind: Node, metadata: {name: mine}}
- apiVersion: v1
  kind: Pod
  metadata: {name: a, namespace: demo}
  spec: {nodeName: mine, containers: [{name: c, image: "example.com/c:1"}]}
"""
POLICIES = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\nprotection: true\n"


def fetched(url, token="", authority=""):
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    context = ssl.create_default_context(cadata=authority) if authority else None
    with urllib.request.urlopen(asked, timeout=10, context=context) as answer:  # noqa: S310
        return json.load(answer)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def test_a_fleet_and_policies_of_ones_own(tmp_path):
    (tmp_path / "fleet.yaml").write_text(FLEET)
    (tmp_path / "policies.yaml").write_text(POLICIES)
    fleet = ("--fleet", str(tmp_path / "fleet.yaml"))
    policies = ("--policies", str(tmp_path / "policies.yaml"))
    with running_up(tmp_path, *fleet, *policies) as up:
        config = yaml.safe_load(Path(up.kubeconfig).read_text())
        found, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        authority = base64.b64decode(found["certificate-authority-data"]).decode()
        nodes = fetched(f"{found['server']}/api/v1/nodes", user["token"], authority)["items"]
        assert [node["metadata"]["name"] for node in nodes] == ["mine"]
        told = fetched(f"http://127.0.0.1:{up.ports['8081']}/v1/policies")
        assert told["policies"]["protection"] is True
    assert not any(map(listens, up.ports.values()))
    assert not Path(up.kubeconfig).exists()


def kill_and_wait(folder):
    """Until nobody listens any more."""
    with running_up(folder) as up:
        os.kill(up.pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while any(map(listens, up.ports.values())):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_killed_it_leaves_no_child(tmp_path):
    """Its children read the end of their standard input."""
    with pytest.raises(AssertionError, match="ended with -9"):
        kill_and_wait(tmp_path)
