"""Nodes."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.embedded.shapes.base import Amounts, Condition, Object, Shape, Time


class Taint(Shape):
    """v1.Taint."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class NodeSpec(Shape):
    """v1.NodeSpec."""

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    provider_id: str = msgspec.field(default="", name="providerID")


class Address(Shape):
    """v1.NodeAddress."""

    type: str = ""
    address: str = ""


class NodeStatus(Shape):
    """v1.NodeStatus."""

    conditions: tuple[Condition, ...] = ()
    addresses: tuple[Address, ...] = ()
    node_info: dict[str, Any] | None = None
    capacity: Amounts | None = None
    allocatable: Amounts | None = None


class Node(Object):
    """v1.Node."""

    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)
