"""What an operator may set of the pressure mode."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bailiff.cluster.kubelets import ReaderSettings
from bailiff.decisions.pressure.extensions import (
    NO_EXTENSIONS,
    MemoryInUse,
    PressureExtensions,
)
from bailiff.decisions.pressure.memory import LONGEST_BREAK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds import Node
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration


@dataclass(frozen=True, kw_only=True)
class PressureMode:
    """Which nodes are watched, and how.

    Attributes:
        selector: labels that a node has to have; none: all nodes.
        configuration: thresholds of all these nodes; None: those of each kubelet, read from it.
        reader: how often summaries are read, and how many at a time.
        stale_after: seconds, above 0. A node whose kubelet has measured nothing new for so long is
            unknown, and nobody is evicted there. 120: a kubelet measures every 10 to 15 s.
        layout: of the file systems of all these nodes; None: taken from the first summary of each.
        keeps_pods: write the status alone, as the kubelet does, and leave the deletion to pod
            garbage collection; where no kubelet ends the containers, nobody does.
        hard_overrides_policies: evict by hard thresholds whatever the policies say. Limits of how
            many go at a time stay.
        publishes: write MemoryPressure, DiskPressure and PIDPressure where nobody else does.
        extensions: what no kubelet does.

    Raises:
        ValueError: `stale_after` is no time, or the extensions go by what no summary says.
    """

    selector: Mapping[str, str] = field(default_factory=dict)
    configuration: KubeletConfiguration | None = None
    reader: ReaderSettings = field(default_factory=ReaderSettings)
    stale_after: float = 120.0
    layout: FileSystemLayout | None = None
    keeps_pods: bool = False
    hard_overrides_policies: bool = False
    publishes: bool = True
    extensions: PressureExtensions = NO_EXTENSIONS

    def __post_init__(self) -> None:
        if not math.isfinite(self.stale_after) or self.stale_after <= 0:
            raise ValueError("the time after which stats are stale must be above 0 s")
        if self.extensions.memory_in_use is MemoryInUse.MEM_AVAILABLE:
            why = "memoryInUse: must be WorkingSet or RSS: no summary says MemAvailable"
            raise ValueError(why)

    @property
    def longest_break(self) -> float:
        """Seconds without a round after which grace periods begin anew."""
        return max(LONGEST_BREAK, 3 * self.reader.interval)

    def selects(self, node: Node) -> bool:
        """Whether this node is watched."""
        labels = node.metadata.labels
        return all(labels.get(key) == value for key, value in self.selector.items())
