"""Nodes under pressure, for tests: pods, what was measured of them, thresholds."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from bailiff.decisions.pressure.choosing import Outside
from bailiff.decisions.pressure.configuring import read_configuration
from bailiff.decisions.pressure.extensions import PressureExtensions
from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.round import Reclaimed, RoundFacts, RoundPlan, plan
from bailiff.decisions.pressure.settings import PressureSettings
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.kinds import ObjectMeta, Pod, PodSpec, decode
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.pod_resources import Container, ResourceRequirements
from bailiff.kinds.stats import (
    FsStats,
    MemoryStats,
    NodeStats,
    PodReference,
    PodStats,
    ProcessStats,
    Summary,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
CAPACITY = 1000
SECOND = 10**9
NOTHING_OF_THE_KUBELET = KubeletConfiguration(eviction_hard={}, enforce_node_allocatable=())


def pod(name: str, *, request: int = 0, priority: int = 0, grace: int | None = None) -> Pod:
    """One that has asked for so many bytes of memory."""
    asked = ResourceRequirements(requests={"memory": str(request)})
    return Pod(
        metadata=ObjectMeta(name=name, namespace="d", uid=f"u-{name}"),
        spec=PodSpec(
            priority=priority,
            termination_grace_period_seconds=grace,
            containers=(Container(name="c", resources=asked),),
        ),
    )


def ending(one: Pod, *, seconds: float) -> Pod:
    """The same pod, gone so many seconds after START at the latest."""
    at = START + timedelta(seconds=seconds)
    return replace(one, metadata=replace(one.metadata, deletion_timestamp=at))


def measured(one: Pod, used: int) -> PodStats:
    reference = PodReference(name=one.metadata.name, namespace="d", uid=one.metadata.uid)
    memory, one_process = MemoryStats(working_set_bytes=used), ProcessStats(process_count=1)
    return PodStats(pod_ref=reference, memory=memory, process_stats=one_process)


def threshold(least: int, seconds: float = 0, reclaim: int | None = None) -> Threshold:
    """Of memory, met below so many bytes."""
    return Threshold(
        signal=Signal.MEMORY_AVAILABLE,
        value=ThresholdValue(quantity=str(least)),
        grace_period_nanoseconds=round(seconds * SECOND),
        min_reclaim=None if reclaim is None else ThresholdValue(quantity=str(reclaim)),
    )


def extensions(**fields: Any) -> PressureExtensions:
    return decode(json.dumps(fields).encode(), PressureExtensions)


def settings(hard: dict[str, str] | None = None, **fields: Any) -> PressureSettings:
    """Thresholds of a kubelet, and these extensions."""
    configuration = replace(NOTHING_OF_THE_KUBELET, eviction_hard=hard or {})
    found = read_configuration(configuration, extensions=extensions(**fields))
    assert found.errors == ()
    return found.settings


class Node:
    """Rounds of one node, each by the state that the one before has left.

    Attributes:
        outside: as of RoundFacts.
        reclaims: as of RoundFacts.
    """

    def __init__(
        self, *thresholds: Threshold, transition: float = 300, most_grace: int = 0
    ) -> None:
        self.settings = PressureSettings(
            thresholds=thresholds,
            transition_period_nanoseconds=round(transition * SECOND),
            max_pod_grace_period_seconds=most_grace,
        )
        self.pods = [pod("a"), pod("b", request=CAPACITY)]
        self.used = {"a": 10, "b": 10}
        self.state = PressureState()
        self.outside: Outside | None = None
        self.reclaims = False

    def summary(self, available: int, at: float) -> Summary:
        memory = MemoryStats(
            time=START + timedelta(seconds=at),
            available_bytes=available,
            working_set_bytes=CAPACITY - available,
        )
        stats = tuple(
            measured(one, self.used[one.metadata.name])
            for one in self.pods
            if one.metadata.name in self.used
        )
        return Summary(node=NodeStats(node_name="n", memory=memory), pods=stats)

    def with_disk(self, summary: Summary, available: int) -> Summary:
        """The same with so many bytes left on the disk."""
        disk = FsStats(available_bytes=available, capacity_bytes=CAPACITY)
        return replace(summary, node=replace(summary.node, fs=disk))

    def round(
        self,
        at: float,
        available: int,
        *,
        measured_at: float | None = None,
        after: Reclaimed | None = None,
    ) -> RoundPlan:
        """A round so many seconds after START."""
        seen = self.summary(available, at if measured_at is None else measured_at)
        return self.plan(at, seen, after=after)

    def plan(self, at: float, summary: Summary, *, after: Reclaimed | None = None) -> RoundPlan:
        """The same by any summary."""
        planned = plan(
            RoundFacts(
                settings=self.settings,
                layout=Layout.SINGLE,
                summary=summary,
                pods=self.pods,
                state=self.state,
                now=START + timedelta(seconds=at),
                reclaims=self.reclaims,
                reclaimed=after,
                outside=self.outside,
            )
        )
        self.state = planned.state
        return planned

    def gone(self, at: float, available: int, measured_at: float | None = None) -> list[str]:
        """Who goes in a round."""
        return [
            one.pod.metadata.name
            for one in self.round(at, available, measured_at=measured_at).victims
        ]


def extended(hard: dict[str, str] | None = None, **fields: Any) -> Node:
    """A node whose kubelet has such thresholds, with these extensions."""
    node = Node()
    node.settings = settings(hard, **fields)
    return node
