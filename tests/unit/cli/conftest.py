"""A command line with a pod and a node at hand."""

import pytest
from typer.testing import CliRunner

from bailiff.cli.app import app

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, creationTimestamp: 2026-01-01T00:00:00Z}
spec:
  nodeName: n1
  tolerations:
  - {key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 60}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
spec:
  taints:
  - {key: maintenance, value: "yes", effect: NoExecute, timeAdded: 2026-01-02T00:00:00Z}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    # Logs are set up once for a process, and the runner's standard error lives for one call.
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "node.yaml").write_text(NODE)

    def _run(*arguments, stdin=None, **more):
        places = {"POD": str(tmp_path / "pod.yaml"), "NODE": str(tmp_path / "node.yaml")}
        return CliRunner().invoke(app, [places.get(a, a) for a in arguments], input=stdin, **more)

    return _run
