"""A node as its kubelet measures it, read once, for commands that answer and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.bootstrap.choices import ClusterUnusable, StartError
from bailiff.bootstrap.once import use_cluster
from bailiff.clock import SystemClock
from bailiff.cluster.kubelets import (
    KubeletError,
    KubeletSettings,
    ViaApiServer,
    connect_kubelets,
)
from bailiff.lookup import ClusterSource, LookUpError, LookUps, UnavailableError

if TYPE_CHECKING:
    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster
    from bailiff.decisions import Systems
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.stats import Summary

# Seconds for the node and its pods.
_TIMEOUT = 30.0


class KubeletView(NamedTuple):
    """What was read of one node.

    Attributes:
        node: the object.
        pods: all that are bound to it.
        summary: what its kubelet measures.
        configuration: its answer to GET /configz; None: it was not asked, or does not tell.
        untold: why it does not tell; empty: it was not asked, or has told.
    """

    node: Node
    pods: tuple[Pod, ...]
    summary: Summary
    configuration: bytes | None = None
    untold: str = ""


def view_of(choice: ClusterChoice, systems: Systems, name: str, *, configured: bool) -> KubeletView:
    """Ask a cluster about a node, and its kubelet by way of the API server (`nodes/proxy`).

    Args:
        choice: the cluster; one that names none is the usual kubeconfig's.
        systems: as of LookUps.
        name: of the node.
        configured: the kubelet's configuration is known, and not asked for.

    Raises:
        ClusterUnusable: no usable configuration or login, or the cluster cannot be asked now.
        StartError: there is no such node, or it may not be read, or its kubelet does not answer.
    """

    async def act(cluster: Cluster) -> KubeletView:
        source = ClusterSource(cluster, SystemClock())
        try:
            looking = LookUps(source, systems, SystemClock(), _TIMEOUT)
            node, pods = await looking.node_and_pods(name)
        except UnavailableError as error:
            raise ClusterUnusable(str(error)) from error
        except LookUpError as error:
            raise StartError(str(error)) from error
        return await _read(cluster, node, pods, configured=configured)

    return use_cluster(choice, act)


async def _read(
    cluster: Cluster, node: Node, pods: tuple[Pod, ...], *, configured: bool
) -> KubeletView:
    settings = KubeletSettings(via_api_server=ViaApiServer.ALWAYS)
    async with await connect_kubelets(cluster, settings) as kubelets:
        try:
            summary = (await kubelets.summary(node)).measured.summary
        except KubeletError as error:
            raise StartError(error.message) from error
        if configured:
            return KubeletView(node, pods, summary)
        try:
            return KubeletView(node, pods, summary, await kubelets.configuration(node))
        except KubeletError as error:
            return KubeletView(node, pods, summary, untold=error.message)
