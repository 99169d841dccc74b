"""The pods that readings are about, as whoever wants them knows them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bailiff.agent.readings.file_systems import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

# A container's writable layer: only the container runtime knows.
Layer = Usage

_NOBODY: Mapping[str, str] = MappingProxyType({})


class PodOnNode(NamedTuple):
    """A pod of the node.

    Attributes:
        uid: of the pod in the API. What shows a static pod there has another one than the cgroup,
            so of that nothing is found; no static pod goes.
        namespace: of the pod.
        name: of the pod.
        containers: names of those that run, by their IDs without `containerd://`.
    """

    uid: str
    namespace: str = ""
    name: str = ""
    containers: Mapping[str, str] = _NOBODY
