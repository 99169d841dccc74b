"""What a round of a watched node goes by, in the core's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.versions import told_version
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from bailiff.clock import Moment
    from bailiff.kinds import Node
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.kinds.stats import NodeStats
    from bailiff.worker.systems.pressure.settings import PressureMode
    from bailiff.worker.systems.pressure.watched_node import WatchedNode


def facts_of(
    node: Node,
    measured: NodeStats,
    watched: WatchedNode,
    configuration: KubeletConfiguration | None,
    mode: PressureMode,
    moment: Moment,
) -> PressureFacts:
    """The facts of a round; what was measured of pods is read by whoever plans it.

    Args:
        node: as the API has it.
        measured: of the node as a whole.
        watched: what the last round has left.
        configuration: that counts on the node.
        mode: the operator's.
        moment: of the round, as rounds count time.
    """
    told = node.status.node_info
    return PressureFacts(
        summary=Summary(node=measured),
        configuration=configuration,
        kubelet_version=told_version(told.kubelet_version),
        operating_system=told.operating_system,
        state=watched.state_at(moment),
        layout=mode.layout or watched.layout,
        extensions=mode.extensions,
        huge_pages_bytes=node.status.huge_pages,
    )
