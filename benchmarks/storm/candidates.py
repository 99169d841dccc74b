"""The two that evict, and how each is started."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import Program

UPSTREAM, OURS = "kube-controller-manager", "bailiff"


def candidate(name: str, server: KubeApiserver, options: list[str]) -> Program:
    """One of the two, not yet started."""
    if name == OURS:
        arguments = ["-m", "bailiff", "worker", *_worker_flags(server.kubeconfig), *options]
        return Program(OURS, arguments, server.folder, executable=sys.executable)
    return Program(UPSTREAM, _controller_manager_flags(server.kubeconfig), server.folder)


def _worker_flags(kubeconfig: Path) -> list[str]:
    return [f"--kubeconfig={kubeconfig}", "--status-port=0"]


def _controller_manager_flags(kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        # The taint-eviction controller alone does not start: it uses an index that
        # node-lifecycle-controller adds to the shared informer.
        "--controllers=taint-eviction-controller,node-lifecycle-controller",
        "--leader-elect=false",
        "--secure-port=0",
        # Nodes here have no kubelet that renews anything; nobody is to miss it.
        "--node-monitor-grace-period=24h",
        "--node-startup-grace-period=24h",
        # Its defaults, 20 and 30, would be all that is measured. Bailiff has no such limit.
        "--kube-api-qps=10000",
        "--kube-api-burst=10000",
    ]
