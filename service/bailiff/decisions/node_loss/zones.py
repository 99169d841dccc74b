"""How many nodes of a zone may be given up, by how many of them are ready.

Source: ComputeZoneState, ReducedQPSFunc, HealthyQPSFunc and handleDisruption in
pkg/controller/nodelifecycle/node_lifecycle_controller.go. A zone in which no node is ready, while
others have some that are, is what ours treats differently; see LostZone.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.node_loss.facts import ZoneCount
from bailiff.decisions.node_loss.settings import LostZone
from bailiff.kinds.node import LABEL_ZONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.kinds import Node

# k8s.io/api/core/v1/well_known_labels.go, LabelNodeExcludeDisruption and LabelTopologyRegion.
EXCLUDED = "node.kubernetes.io/exclude-disruption"
LABEL_REGION = "topology.kubernetes.io/region"
# Characters of a label's value, which the API server bounds.
_LABEL = 63
# Why a zone has no pace where none of its nodes is ready, or none of any zone.
ZONE_DOWN, ALL_DOWN = "ZoneDown", "AllZonesDown"
# A zone with no more nodes that are not ready is never partially disrupted.
_FEW = 2


class ZoneState(StrEnum):
    """How a zone stands. FULL: no node is ready. PARTIAL: too many are not."""

    NORMAL = "Normal"
    PARTIAL = "PartialDisruption"
    FULL = "FullDisruption"


class ZonePace(NamedTuple):
    """How fast nodes of a zone are given up.

    Attributes:
        rate: nodes a second; 0: none.
        reason: where it is 0, why, in one word.
        message: the same for people.
    """

    rate: float
    reason: str = ""
    message: str = ""


def zone_of(node: Node) -> str:
    """The name of the node's zone, `REGION/ZONE` where it has a region; empty: it has neither.

    Two regions may have zones of one name (GetZoneKey in
    k8s.io/component-helpers/node/topology/helpers.go). No label's value has a `/`.
    """
    labels = node.metadata.labels
    region, zone = labels.get(LABEL_REGION, "")[:_LABEL], labels.get(LABEL_ZONE, "")[:_LABEL]
    return f"{region}/{zone}" if region else zone


def count_zones(nodes: Iterable[tuple[Node, bool]]) -> tuple[ZoneCount, ...]:
    """How many nodes of each zone are ready, by name of the zone.

    Args:
        nodes: all of the cluster, each with whether it is ready.
    """
    counted: Counter[tuple[str, bool]] = Counter()
    for node, ready in nodes:
        if EXCLUDED not in node.metadata.labels:
            counted[zone_of(node), ready] += 1
    names = sorted({name for name, _ in counted})
    return tuple(
        ZoneCount(name=one, ready=counted[one, True], not_ready=counted[one, False])
        for one in names
    )


def zone_state(zone: ZoneCount, settings: NodeLossSettings) -> ZoneState:
    """How the zone stands; one without nodes stands well."""
    if not zone.not_ready:
        return ZoneState.NORMAL
    if not zone.ready:
        return ZoneState.FULL
    part = zone.not_ready / (zone.ready + zone.not_ready)
    if zone.not_ready > _FEW and part >= settings.unhealthy_fraction:
        return ZoneState.PARTIAL
    return ZoneState.NORMAL


def all_down(zones: Iterable[ZoneCount], settings: NodeLossSettings) -> bool:
    """Whether no node of any zone is ready: then it is rather whoever looks that is cut off."""
    states = [zone_state(one, settings) for one in zones]
    return bool(states) and all(one is ZoneState.FULL for one in states)


class Zones:
    """All zones as they stand at one look, for whoever asks about many of their nodes.

    Attributes:
        all: how many nodes of each are ready.
        down: the names of those of which nobody is evicted since none of their nodes is ready.
    """

    def __init__(self, counts: tuple[ZoneCount, ...], settings: NodeLossSettings) -> None:
        """Take them in; none: nobody knows yet how they stand."""
        self.all = counts
        self.down = _down(counts, settings)
        self._by_name = {one.name: one for one in counts}
        ready = (one for one in counts if zone_state(one, settings) is not ZoneState.FULL)
        self._standing = next(ready, None)

    def around(self, name: str) -> tuple[ZoneCount, ...]:
        """As many of them as `pace_of` this zone depends on: itself, and whether any stands.

        There may be a zone for each site: to look at all of them for each node that is lost would
        take seconds.
        """
        own = self._by_name.get(name)
        others = (self._standing,) if self._standing is not None else self.all[:1]
        return others if own is None else tuple(dict.fromkeys((own, *others)))


def _down(zones: tuple[ZoneCount, ...], settings: NodeLossSettings) -> frozenset[str]:
    if all_down(zones, settings):
        return frozenset(one.name for one in zones)
    return frozenset(one.name for one in zones if _of_zone(one, settings).reason == ZONE_DOWN)


def pace_of(name: str, zones: Iterable[ZoneCount], settings: NodeLossSettings) -> ZonePace:
    """How fast nodes of the zone `name` are given up, as all zones stand; unknown ones stand well.

    Args:
        name: of the zone, as `zone_of` has it.
        zones: all; none: nobody knows how they stand, and none holds anything up.
        settings: as told.
    """
    zones = tuple(zones)
    if all_down(zones, settings):
        return ZonePace(0.0, ALL_DOWN, "no node of any zone is ready, so nobody is evicted")
    zone = next((one for one in zones if one.name == name), ZoneCount(name=name))
    pace = _of_zone(zone, settings)
    if pace.rate <= 0 and not pace.reason:
        return ZonePace(0.0, "ZoneStopped", f"the rate set for {_called(zone)} is 0")
    return pace


def _of_zone(zone: ZoneCount, settings: NodeLossSettings) -> ZonePace:
    called, size = _called(zone), zone.ready + zone.not_ready
    match zone_state(zone, settings):
        case ZoneState.FULL if settings.lost_zone is LostZone.STOP:
            why = f"no node of {called} is ready: rather its network is cut than all machines off"
            return ZonePace(0.0, ZONE_DOWN, why)
        case ZoneState.PARTIAL if size <= settings.large_zone:
            why = f"{zone.not_ready} of {size} nodes of {called} are not ready, which are too many"
            return ZonePace(0.0, "ZoneStopped", why)
        case ZoneState.PARTIAL:
            return ZonePace(settings.reduced_rate)
        case _:
            return ZonePace(settings.rate)


def _called(zone: ZoneCount) -> str:
    return f"zone {zone.name}" if zone.name else "the nodes without a zone"
