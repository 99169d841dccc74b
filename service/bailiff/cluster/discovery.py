"""Whether a cluster serves devices (resource.k8s.io), and in which version.

Clusters differ: version and kinds depend on the release, on feature gates and on --runtime-config
of their API server, and change when it is upgraded while we run.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec

from bailiff import kinds
from bailiff.cluster.answers import decode_answer
from bailiff.cluster.errors import NotFoundError, ResponseError
from bailiff.cluster.request import Request
from bailiff.cluster.resource import Resource
from bailiff.kinds import DeviceTaintRule, ResourceClaim, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster

T = TypeVar("T")

GROUP = "resource.k8s.io"
# v1beta1 and older shape devices otherwise (Device.basic), so nothing is read from them.
_DEVICE_VERSIONS = ("v1", "v1beta2")
_RULE_VERSIONS = ("v1", "v1beta2", "v1alpha3")
# As long as a cluster's upgrade may go unnoticed. Three small requests each time.
_PERIOD_SECONDS = 60.0

_SLICES = Resource(GROUP, "", "resourceslices", ResourceSlice, namespaced=False)
_CLAIMS = Resource(GROUP, "", "resourceclaims", ResourceClaim)
_RULES = Resource(GROUP, "", "devicetaintrules", DeviceTaintRule, namespaced=False)


@dataclass(frozen=True, slots=True)
class DeviceApi:
    """The kinds of resource.k8s.io as a cluster serves them.

    Attributes:
        slices: ResourceSlices.
        claims: ResourceClaims.
        rules: DeviceTaintRules with their status; None where the cluster has none of those.
    """

    slices: Resource[ResourceSlice]
    claims: Resource[ResourceClaim]
    rules: Resource[DeviceTaintRule] | None = None


class _GroupVersion(msgspec.Struct, frozen=True):
    version: str = ""


class _Group(msgspec.Struct, frozen=True):
    versions: tuple[_GroupVersion, ...] = ()


class _ResourceName(msgspec.Struct, frozen=True):
    name: str = ""


class _ResourceList(msgspec.Struct, frozen=True):
    resources: tuple[_ResourceName, ...] = ()


async def served(cluster: Cluster) -> DeviceApi | None:
    """What a cluster serves of resource.k8s.io; None: no slices and claims that we can read.

    Raises:
        ClusterError: the cluster does not tell.
    """
    try:
        group = await _ask(cluster, f"/apis/{GROUP}", _Group)
    except NotFoundError:
        return None
    known = {one.version for one in group.versions} & {*_DEVICE_VERSIONS, *_RULE_VERSIONS}
    names = {version: await _names(cluster, version) for version in sorted(known)}
    return _choose(names)


class DeviceDiscovery:
    """What `served` said, asked again after a minute; for one event loop."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._turn = asyncio.Lock()
        self._found: DeviceApi | None = None
        self._expires = float("-inf")

    async def current(self) -> DeviceApi | None:
        """As `served`, at most a minute old; errors too, which are not remembered."""
        async with self._turn:
            if self._clock.monotonic() >= self._expires:
                self._found = await served(self._cluster)
                self._expires = self._clock.monotonic() + _PERIOD_SECONDS
            return self._found

    def forget(self) -> None:
        """Ask anew the next time, because a resource was found to be served no longer."""
        self._expires = float("-inf")


def _choose(names: Mapping[str, frozenset[str]]) -> DeviceApi | None:
    slices = _first(names, _DEVICE_VERSIONS, _SLICES.plural)
    claims = _first(names, _DEVICE_VERSIONS, _CLAIMS.plural)
    if slices is None or claims is None:
        return None
    # Before 1.35 rules have no status, and selectors that we do not know: what selects few devices
    # by those would seem to select all.
    rules = _first(names, _RULE_VERSIONS, f"{_RULES.plural}/status")
    return DeviceApi(
        replace(_SLICES, version=slices),
        replace(_CLAIMS, version=claims),
        None if rules is None else replace(_RULES, version=rules),
    )


def _first(names: Mapping[str, frozenset[str]], versions: tuple[str, ...], name: str) -> str | None:
    return next((version for version in versions if name in names.get(version, ())), None)


async def _names(cluster: Cluster, version: str) -> frozenset[str]:
    try:
        found = await _ask(cluster, f"/apis/{GROUP}/{version}", _ResourceList)
    except NotFoundError:
        # It went between two requests.
        return frozenset()
    return frozenset(one.name for one in found.resources)


async def _ask(cluster: Cluster, path: str, kind: type[T]) -> T:
    request = Request("GET", path)
    body = await cluster.send(request)
    try:
        return decode_answer(body, kind)
    except kinds.DecodeError as error:
        raise ResponseError(f"{request.what}: {error}") from error
