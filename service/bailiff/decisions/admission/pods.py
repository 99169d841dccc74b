"""A pod on its way into the API server, as far as its tolerations go by it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Raw

from bailiff.kinds.meta import KubernetesObject, OwnerReference, Value
from bailiff.kinds.taint import Toleration


class RequestedResources(Value, frozen=True):
    """What a container asks for.

    Attributes:
        requests: by resource; their amounts decide nothing here.
    """

    requests: Mapping[str, Raw] = {}


class AdmittedContainer(Value, frozen=True):
    """A container, or an init container.

    Attributes:
        resources: what it asks for.
    """

    resources: RequestedResources = RequestedResources()


class AdmittedSpec(Value, frozen=True):
    """What a pod asks for and what it tolerates.

    Attributes:
        tolerations: the taints it puts up with.
        host_network: it uses its node's network.
        containers: its containers.
        init_containers: run before those.
    """

    tolerations: tuple[Toleration, ...] = ()
    host_network: bool = False
    containers: tuple[AdmittedContainer, ...] = ()
    init_containers: tuple[AdmittedContainer, ...] = ()


class AdmittedMeta(Value, frozen=True):
    """Whose a pod is.

    Attributes:
        owner_references: the objects that it belongs to.
    """

    owner_references: tuple[OwnerReference, ...] = ()


# Stands, by identity, for a spec that is absent: nothing can be added to it.
_NO_SPEC = AdmittedSpec()


class AdmittedPod(KubernetesObject, frozen=True, tag="Pod"):
    """A pod that is created or changed.

    Attributes:
        metadata: whose it is.
        spec: see there.
    """

    metadata: AdmittedMeta = AdmittedMeta()
    spec: AdmittedSpec = _NO_SPEC

    @property
    def has_spec(self) -> bool:
        """Whether it was written with one."""
        return self.spec is not _NO_SPEC

    @property
    def is_of_daemon_set(self) -> bool:
        """Whether the owner that manages it is a DaemonSet."""
        return any(
            owner.controller
            and owner.kind == "DaemonSet"
            and owner.api_version.partition("/")[0] == "apps"
            for owner in self.metadata.owner_references
        )
