"""What a face that explains live objects needs to read, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from bailiff.cluster.discovery import DeviceDiscovery
from bailiff.cluster.errors import ForbiddenError, NotFoundError, UnauthorizedError
from bailiff.cluster.request import Selection
from bailiff.cluster.resource import NODES, PODS
from bailiff.cluster.slimming import slimmer_for
from bailiff.decisions import NotRead, Why
from bailiff.kinds import DeviceTaintRule

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.resource import Resource
    from bailiff.decisions import Options, Round, Scene, System, Systems, Wanted
    from bailiff.decisions.system import LookUp, Seen
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.meta import Value

# Of one namespace: more objects are listed, fewer got one by one.
_FEW = 8


class ClusterReader(Protocol):
    """A port that can only read. Every method raises ClusterError."""

    async def get_pod(self, namespace: str, name: str) -> Pod:
        """One pod; NotFoundError if there is none of that name."""
        ...

    async def get_node(self, name: str) -> Node:
        """One node; NotFoundError if there is none of that name."""
        ...

    async def pods_on_node(self, name: str) -> tuple[Pod, ...]:
        """All pods bound to a node, finished ones too; empty if there is no such node."""
        ...

    async def see(self, wanted: Wanted) -> Seen:
        """What a system wants to see; NotRead where that is forbidden or not served.

        NotFoundError if the cluster ceases to serve it in between.
        """
        ...


async def look_up(
    reader: ClusterReader, systems: Systems, scene: Scene, options: Options
) -> list[tuple[System[Any], Value | Round]]:
    """What every system wants to see for a scene, read one after the other.

    Args:
        reader: of the cluster.
        systems: those to be asked.
        scene: the pods and their node, as the cluster has them.
        options: of the decision.

    Returns:
        For `Systems.weigh_seen_pod` and `weigh_seen_pods`.

    Raises:
        ClusterError: the cluster did not answer as it should.
    """
    return [
        (system, await _follow(reader, wants)) for system, wants in systems.look_ups(scene, options)
    ]


async def _follow(reader: ClusterReader, wants: LookUp[Any]) -> Value | Round:
    try:
        wanted = next(wants)
        while True:
            wanted = wants.send(await reader.see(wanted))
    except StopIteration as end:
        found: Value | Round = end.value
        return found


class LiveReader:
    """A ClusterReader that asks the API server every time; what it serves, once a minute."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._discovery = DeviceDiscovery(cluster, clock)

    async def get_pod(self, namespace: str, name: str) -> Pod:
        """See ClusterReader."""
        return await self._cluster.get(PODS, name, namespace)

    async def get_node(self, name: str) -> Node:
        """See ClusterReader."""
        return await self._cluster.get(NODES, name)

    async def pods_on_node(self, name: str) -> tuple[Pod, ...]:
        """See ClusterReader."""
        selector = f"spec.nodeName={_selector_value(name)}"
        return (await self._cluster.list(PODS, field_selector=selector)).items

    async def see(self, wanted: Wanted) -> Seen:
        """See ClusterReader."""
        try:
            resources = await self._served()
            if wanted.kind not in resources:
                return NotRead(Why.NOT_SERVED, f"the cluster serves no {wanted.kind.__name__}")
            resource = resources[wanted.kind]
            return () if resource is None else await self._read(resource, wanted)
        except NotFoundError:
            self._discovery.forget()
            raise

    async def _served(self) -> dict[type, Resource[Any] | None]:
        """By kind; None where the cluster has none of a kind that it may do without."""
        found: dict[type, Resource[Any] | None] = {one.kind: one for one in (PODS, NODES)}
        api = await self._discovery.current()
        if api is not None:
            found |= {one.kind: one for one in (api.claims, api.slices)}
            found[DeviceTaintRule] = api.rules
        return found

    async def _read(self, resource: Resource[Any], wanted: Wanted) -> Seen:
        one_by_one = wanted.names is not None and len(wanted.names) <= _FEW
        try:
            return await (
                self._get(resource, wanted) if one_by_one else self._list(resource, wanted)
            )
        except (ForbiddenError, UnauthorizedError):
            what = f"{'get' if one_by_one else 'list'} {resource.plural}"
            detail = f"Bailiff's account may not {what}: grant it the permission to {what}"
            return NotRead(Why.FORBIDDEN, detail)

    async def _get(self, resource: Resource[Any], wanted: Wanted) -> tuple[Value, ...]:
        found = []
        for name in wanted.names or ():
            try:
                found.append(await self._cluster.get(resource, name, wanted.namespace))
            except NotFoundError:
                # The core says so of the pod.
                continue
        return tuple(found)

    async def _list(self, resource: Resource[Any], wanted: Wanted) -> tuple[Value, ...]:
        fields = (f"{name}={_selector_value(value)}" for name, value in wanted.fields)
        selection = Selection(namespace=wanted.namespace, field_selector=",".join(fields))
        # A cluster may have thousands, of which few matter here.
        listed = await self._cluster.list_selected(resource, selection, slimmer_for(resource.kind))
        if wanted.names is None:
            return tuple(listed.items)
        return tuple(one for one in listed.items if one.metadata.name in wanted.names)


def _selector_value(text: str) -> str:
    # A selector's own syntax ends a value at these (apimachinery pkg/fields).
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
