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
    decode_configuration,
)
from bailiff.lookup import ClusterSource, LookUpError, LookUps, UnavailableError

if TYPE_CHECKING:
    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster
    from bailiff.decisions import Systems
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.kinds.stats import Summary

# Seconds for the node and its pods.
_TIMEOUT = 30.0


class KubeletView(NamedTuple):
    """What was read of one node.

    Attributes:
        node: the object.
        pods: all that are bound to it.
        summary: what its kubelet measures.
        configuration: by its /configz; None: it was not asked, or does not tell.
        untold: why it does not tell; empty: it was not asked, or has told.
    """

    node: Node
    pods: tuple[Pod, ...]
    summary: Summary
    configuration: KubeletConfiguration | None = None
    untold: str = ""


def view_of(
    choice: ClusterChoice, systems: Systems, name: str, *, without_configuration: bool
) -> KubeletView:
    """Ask a cluster about a node, and its kubelet by way of the API server (`nodes/proxy`).

    Args:
        choice: the cluster; one that names none is the usual kubeconfig's.
        systems: as of LookUps.
        name: of the node.
        without_configuration: that of the kubelet is not needed, and not asked for.

    Raises:
        ClusterUnusable: no usable configuration or login, or the cluster cannot be asked now.
        StartError: there is no such node, or it may not be read, or its kubelet does not answer,
            or not as kubelets do.
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
        return await _read(cluster, node, pods, without_configuration=without_configuration)

    return use_cluster(choice, act)


async def _read(
    cluster: Cluster, node: Node, pods: tuple[Pod, ...], *, without_configuration: bool
) -> KubeletView:
    settings = KubeletSettings(via_api_server=ViaApiServer.ALWAYS)
    async with await connect_kubelets(cluster, settings) as kubelets:
        try:
            summary = (await kubelets.summary(node)).measured.summary
        except KubeletError as error:
            raise StartError(error.message) from error
        if without_configuration:
            return KubeletView(node, pods, summary)
        try:
            body = await kubelets.configuration(node)
        except KubeletError as error:
            return KubeletView(node, pods, summary, untold=error.message)
    try:
        return KubeletView(node, pods, summary, decode_configuration(body, node.metadata.name))
    except KubeletError as error:
        # It has one, so the defaults do not count.
        raise StartError(error.message) from error
