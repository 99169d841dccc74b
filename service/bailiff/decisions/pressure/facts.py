"""What is known of a node's pressure: the section `pressure` of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.extensions import (
    NO_EXTENSIONS,
    MemoryAvailable,
    PressureExtensions,
)
from bailiff.decisions.pressure.flags import EvictionFlags
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.meta import Value
from bailiff.kinds.stats import Count, Summary
from bailiff.kinds.texts import Word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.kinds import Node


class FileSystemLayout(Value, frozen=True, forbid_unknown_fields=True):
    """Which file systems of a node are one, as the kubelet finds out when it starts.

    Attributes:
        dedicated_image_fs: images are on another file system than the kubelet's directory.
        split_container_image_fs: writable layers are on another one than images.
    """

    dedicated_image_fs: bool = False
    split_container_image_fs: bool = False


# By the names that operators give them; see Layout.
LAYOUTS: Mapping[str, FileSystemLayout] = {
    "single": FileSystemLayout(),
    "dedicated": FileSystemLayout(dedicated_image_fs=True),
    "split": FileSystemLayout(dedicated_image_fs=True, split_container_image_fs=True),
}


class AfterReclaim(Value, frozen=True, forbid_unknown_fields=True):
    """That the reclaim steps of this round have been done.

    Attributes:
        summary: read afterwards; absent: it could not be read, so nothing is known to have helped.
    """

    summary: Summary | None = None


class PressureFacts(Value, frozen=True, forbid_unknown_fields=True):
    """What a round of the eviction manager goes by.

    Attributes:
        summary: what the node's kubelet answers to GET /stats/summary.
        configuration: the node's KubeletConfiguration, of which the eviction's fields are read;
            absent: the kubelet's defaults.
        kubelet_version: as `v1.36.2`, since behaviour changed with 1.37; absent: 1.36.
        operating_system: `linux` or `windows`, where memory is what may still be committed.
        flags: of the kubelet's command line; each replaces what the configuration says.
        layout: of the node's file systems; absent: taken from the summary: those of equal size, or
            whose size is not told, count as one.
        state: what the last round has left in its report, as `next`; absent: this is the first.
        reclaims: whoever asks does the reclaim steps and asks again with `afterReclaim` and the
            same state, so that nobody goes before.
        after_reclaim: those of this round have been done.
        extensions: what no kubelet does; absent: nothing.
        mem_available: of the node; required where the extensions go by it.
        huge_pages_bytes: what the node has set aside for huge pages: of its `status.capacity` the
            sum of all `hugepages-*`; required where the extensions take it off.
    """

    summary: Summary | None = None
    configuration: KubeletConfiguration | None = None
    kubelet_version: Word = ""
    operating_system: Word = ""
    flags: EvictionFlags | None = None
    layout: FileSystemLayout | None = None
    state: PressureState = PressureState()
    reclaims: bool = False
    after_reclaim: AfterReclaim | None = None
    extensions: PressureExtensions = NO_EXTENSIONS
    mem_available: MemoryAvailable | None = None
    huge_pages_bytes: Count | None = None


def check_same_node(facts: PressureFacts, node: Node | None) -> None:
    """Refuse what was measured on another node: its pods would go for the other's sake.

    Raises:
        FactsError: as said; where either has no name, nothing contradicts.
    """
    again = None if facts.after_reclaim is None else facts.after_reclaim.summary
    name = "" if node is None else node.metadata.name
    for summary, where in ((facts.summary, "summary"), (again, "afterReclaim.summary")):
        told = "" if summary is None else summary.node.node_name
        if name and told and told != name:
            raise FactsError(
                f"$.pressure.{where}.node.nodeName",
                f"is {told!r}, and $.node.metadata.name is {name!r}: that of another node",
            )
