"""What runs pods (apps/v1), and its scale."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.embedded.shapes.base import Condition, Int32, Object, Selector, Shape, Texts
from bailiff.embedded.shapes.pods import Template


class UpdateStrategy(Shape):
    """The update strategies of apps/v1."""

    type: str = ""
    rolling_update: dict[str, Any] | None = None


class WorkloadSpec(Shape):
    """The common part of the specs of apps/v1."""

    replicas: Int32 | None = None
    selector: Selector | None = None
    template: Template = msgspec.field(default_factory=Template)
    service_name: str = ""
    strategy: UpdateStrategy = msgspec.field(default_factory=UpdateStrategy)
    update_strategy: UpdateStrategy = msgspec.field(default_factory=UpdateStrategy)
    persistent_volume_claim_retention_policy: Texts | None = None


class WorkloadStatus(Shape):
    """The common part of the statuses of apps/v1."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    updated_replicas: Int32 = 0
    desired_number_scheduled: Int32 = 0
    current_number_scheduled: Int32 = 0
    number_ready: Int32 = 0
    number_available: Int32 = 0
    updated_number_scheduled: Int32 = 0
    conditions: tuple[Condition, ...] = ()


class Workload(Object):
    """Any of apps/v1."""

    spec: WorkloadSpec = msgspec.field(default_factory=WorkloadSpec)
    status: WorkloadStatus = msgspec.field(default_factory=WorkloadStatus)


class ScaleSpec(Shape):
    """autoscaling/v1.ScaleSpec."""

    replicas: Int32 = 0


class Scale(Object):
    """autoscaling/v1.Scale."""

    spec: ScaleSpec = msgspec.field(default_factory=ScaleSpec)
