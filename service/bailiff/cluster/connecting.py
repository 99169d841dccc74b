"""From what the operator names to a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.clock import Clock, SystemClock
from bailiff.cluster.client import Cluster
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.errors import ConfigError
from bailiff.cluster.kubeconfig import kubeconfig_reader
from bailiff.cluster.login import Read
from bailiff.cluster.service_account import in_cluster_reader
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.transport import Transport

if TYPE_CHECKING:
    from pathlib import Path


async def connect(
    kubeconfig: Path | None = None,
    *,
    context: str | None = None,
    in_cluster: bool = False,
    settings: ClusterSettings | None = None,
    clock: Clock | None = None,
) -> Cluster:
    """A client for one cluster; logs in, but sends no request yet.

    Until it is closed it keeps the login fresh.

    Args:
        kubeconfig: the file; None is $KUBECONFIG or the file in the home directory.
        context: of the kubeconfig; None is its current one.
        in_cluster: use the pod's service account instead of a kubeconfig.
        settings: bounds.
        clock: when credentials are due to be renewed.

    Raises:
        ConfigError: both ways named at once, or the one named is not usable.
    """
    if in_cluster and (kubeconfig is not None or context is not None):
        raise ConfigError("either a kubeconfig or the service account of the pod, not both")
    bounds = settings or ClusterSettings()
    read: Read = in_cluster_reader() if in_cluster else kubeconfig_reader(kubeconfig, context)
    credentials = Credentials(read, clock or SystemClock(), bounds.login_timeout)
    await credentials.start()
    return Cluster(Transport(credentials, bounds), bounds)
