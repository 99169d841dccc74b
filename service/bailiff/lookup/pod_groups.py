"""Which PodGroups go whole: read from whichever version of scheduling.k8s.io a cluster serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.cluster import NotFoundError, Resource
from bailiff.kinds import PodGroup
from bailiff.lookup.kept import Age, Kept
from bailiff.lookup.source import told

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster

_GROUP = "scheduling.k8s.io"
# Of 1.37, where both may be served, and of 1.36. The version that has answered stands first.
_VERSIONS = ("v1beta1", "v1alpha3", "v1alpha2")
# A PodGroup's disruptionMode is immutable; another one may come under its name.
_AGE = Age(5.0)
_MOST = 10_000


class PodGroups:
    """PodGroups of a cluster, each believed for five seconds."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Read nothing yet.

        Args:
            cluster: that is asked.
            clock: for the age of what was read.
        """
        self._cluster = cluster
        self._versions = list(_VERSIONS)
        self._kept: Kept[bool] = Kept(clock, most=_MOST)

    async def goes_whole(self, namespace: str, name: str) -> bool:
        """Whether the pods of this PodGroup can only be disrupted together.

        No where there is none of the name, or none are served.

        Raises:
            LookUpError: it cannot be read.
        """
        key = namespace, name
        return await self._kept.get(key, lambda: self._read(*key), _AGE)

    async def _read(self, namespace: str, name: str) -> bool:
        with told(f"PodGroup {namespace}/{name}", f"get podgroups.{_GROUP}"):
            for version in list(self._versions):
                resource = Resource(_GROUP, version, "podgroups", PodGroup)
                try:
                    found = await self._cluster.get(resource, name, namespace)
                except NotFoundError as error:
                    if error.is_about(_GROUP, resource.plural, name):
                        self._prefer(version)
                        return False
                    continue
                self._prefer(version)
                return found.goes_whole
        return False

    def _prefer(self, version: str) -> None:
        self._versions.sort(key=lambda one: one != version)
