"""What the REST face answers from: a clock that stands, and a cluster that is a dictionary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from bailiff.cluster.errors import ClusterError, NotFoundError
from bailiff.decisions import NotRead, Wanted
from bailiff.decisions.system import Seen
from bailiff.kinds import Node, Pod
from bailiff.kinds.meta import Value
from tests.harness.clocks import ManualClock

T = TypeVar("T")
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
CLOCK = ManualClock(NOW)


@dataclass
class DictReader:
    """A cluster to read: objects by name, or the error that reading them gives."""

    pods: dict[str, Pod | ClusterError] = field(default_factory=dict)
    nodes: dict[str, Node | ClusterError] = field(default_factory=dict)
    on_node: dict[str, tuple[Pod, ...] | ClusterError] = field(default_factory=dict)

    # What systems want to see besides, by kind; all of a kind, whatever of it they want.
    objects: Mapping[type, tuple[Value, ...]] = field(default_factory=dict)
    unseen: NotRead | ClusterError | None = None
    asked: list[Wanted] = field(default_factory=list)

    async def see(self, wanted: Wanted) -> Seen:
        self.asked.append(wanted)
        if isinstance(self.unseen, ClusterError):
            raise self.unseen
        return self.objects.get(wanted.kind, ()) if self.unseen is None else self.unseen

    async def get_pod(self, namespace: str, name: str) -> Pod:
        return _found(self.pods.get(f"{namespace}/{name}"))

    async def get_node(self, name: str) -> Node:
        return _found(self.nodes.get(name))

    async def pods_on_node(self, name: str) -> tuple[Pod, ...]:
        return _found(self.on_node.get(name))


def _found(value: T | ClusterError | None) -> T:
    if value is None:
        raise NotFoundError("not there", status=404)
    if isinstance(value, ClusterError):
        raise value
    return value
