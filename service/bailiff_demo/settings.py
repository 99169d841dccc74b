"""What a demo cluster may use, and what `bailiff up` is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The version whose API is served, as far as it is served.
KUBERNETES_VERSION = "v1.37.1+bailiff"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """The bounds of a demo cluster, and how fast its pretended parts are.

    Attributes:
        history: changes kept per resource; a watch from an older version gets 410.
        max_objects: objects over all resources; creating more is refused with 403.
        max_events: Event objects kept; the oldest go first, as their TTL would take them.
        max_body_bytes: of a request, as kube-apiserver (3 MiB).
        bookmark_seconds: between bookmarks of a quiet watch, as kube-apiserver (a minute).
        watch_seconds: the longest a watch lasts when the client names no timeout.
        future_version_seconds: how long a read at a version not reached yet waits before 504.
        start_seconds: from binding a pod to it being ready, for the pretended kubelet.
        stop_seconds: the longest the pretended kubelet takes to end a pod; a shorter grace
            period is kept. Demos should not wait for 30 s of nothing.
    """

    history: int = 10_000
    max_objects: int = 200_000
    max_events: int = 20_000
    max_body_bytes: int = 3 * 1024 * 1024
    bookmark_seconds: float = 60.0
    watch_seconds: float = 1800.0
    future_version_seconds: float = 3.0
    start_seconds: float = 0.5
    stop_seconds: float = 1.0


DEFAULT_SETTINGS = DemoSettings()


@dataclass(frozen=True)
class UpSettings:
    """The demo; the help of the command line tells what the fields mean.

    Attributes:
        kubeconfig: where to write the kubeconfig; None is the usual place, see there.
        policies: of the worker and of the hooks; None for none.
        fleet: a file with the objects to begin with; None is the fleet of the README.
    """

    host: str = "127.0.0.1"
    rest_port: int = 8080
    grpc_port: int = 9090
    status_port: int = 8081
    cluster_port: int = 6480
    kubeconfig: Path | None = None
    policies: Path | None = None
    fleet: Path | None = None
