"""What a face that explains live objects needs to read, and no more."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from bailiff.cluster.discovery import DeviceDiscovery
from bailiff.cluster.errors import NotFoundError
from bailiff.cluster.request import Selection
from bailiff.cluster.resource import NODES, PODS
from bailiff.cluster.slimming import slimmer_for
from bailiff.decisions.device_taints.claims import devices_of
from bailiff.decisions.device_taints.pods import named_claims

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.discovery import DeviceApi
    from bailiff.cluster.listing import Listing
    from bailiff.cluster.resource import Resource
    from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice

T = TypeVar("T")

# Of one namespace: more claims are listed, fewer got one by one.
_FEW_CLAIMS = 8


@dataclass(frozen=True, slots=True)
class Devices:
    """What decides about the devices of some pods.

    Attributes:
        claims: those that the pods name and that there are.
        slices: those of the pools that the claims' devices are in.
        rules: all of the cluster.
    """

    claims: tuple[ResourceClaim, ...] = ()
    slices: tuple[ResourceSlice, ...] = ()
    rules: tuple[DeviceTaintRule, ...] = ()


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

    async def devices_of(self, pods: Iterable[Pod]) -> Devices | None:
        """The devices of some pods; None if the cluster serves none.

        NotFoundError if it ceases to serve them in between.
        """
        ...


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

    async def devices_of(self, pods: Iterable[Pod]) -> Devices | None:
        """See ClusterReader."""
        api = await self._discovery.current()
        if api is None:
            return None
        try:
            return await self._read_devices(api, pods)
        except NotFoundError:
            self._discovery.forget()
            raise

    async def _read_devices(self, api: DeviceApi, pods: Iterable[Pod]) -> Devices:
        claims: list[ResourceClaim] = []
        for namespace, names in _claims_named(pods).items():
            claims += await self._claims(api, namespace, names)
        slices = await self._slices(api, claims)
        rules = await self._cluster.list(api.rules) if api.rules else None
        return Devices(tuple(claims), tuple(slices), rules.items if rules else ())

    async def _claims(
        self, api: DeviceApi, namespace: str, names: Iterable[str]
    ) -> list[ResourceClaim]:
        wanted = dict.fromkeys(names)
        if len(wanted) > _FEW_CLAIMS:
            listed = await self._list_slim(api.claims, Selection(namespace=namespace))
            return [claim for claim in listed.items if claim.metadata.name in wanted]
        found = []
        for name in wanted:
            try:
                found.append(await self._cluster.get(api.claims, name, namespace))
            except NotFoundError:
                # The core says so of the pod.
                continue
        return found

    async def _slices(self, api: DeviceApi, claims: Iterable[ResourceClaim]) -> list[ResourceSlice]:
        pools = {(one.driver, one.pool) for claim in claims for one in devices_of(claim)}
        found = []
        # Not by node: which slices of a pool count depends on all of them, wherever they are.
        for driver in sorted({driver for driver, _ in pools}):
            selector = f"spec.driver={_selector_value(driver)}"
            listed = await self._list_slim(api.slices, Selection(field_selector=selector))
            found += [one for one in listed.items if (driver, one.spec.pool.name) in pools]
        return found

    async def _list_slim(self, resource: Resource[T], selection: Selection) -> Listing[T]:
        # A cluster may have thousands, of which few matter here.
        return await self._cluster.list_selected(resource, selection, slimmer_for(resource.kind))


def _claims_named(pods: Iterable[Pod]) -> dict[str, list[str]]:
    """The names by namespace."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for pod in pods:
        named = (one.name for one in named_claims(pod, extended=True) if not one.outcome)
        found[pod.metadata.namespace] += named
    return found


def _selector_value(text: str) -> str:
    # A selector's own syntax ends a value at these (apimachinery pkg/fields).
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
