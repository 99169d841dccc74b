"""Devices and claims made slim: fleets name their devices alike, and most have no taints.

A slice of 128 devices without taints takes 1.8 KiB instead of 13, a claim 0.9 instead of 1.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from bailiff.kinds import LABELS_NOT_KEPT, Annotations

if TYPE_CHECKING:
    from bailiff.cluster.interning import InternTable
    from bailiff.kinds import (
        DeviceRequestAllocationResult,
        ObjectMeta,
        ResourceClaim,
        ResourceSlice,
    )

_NO_ANNOTATIONS = Annotations()


class SliceSlimmer:
    """Makes slices share devices that have nothing but a name; writes to frozen values.

    Right only because it is called before anybody else has seen them.
    """

    def __init__(self, table: InternTable) -> None:
        """Share by this table."""
        self._intern = table.intern

    def __call__(self, one: ResourceSlice) -> ResourceSlice:
        """The same slice, made slim."""
        intern, spec = self._intern, one.spec
        _strip(one.metadata)
        # The node that owns it plays no part.
        force_setattr(one.metadata, "owner_references", ())
        force_setattr(spec, "driver", intern(spec.driver))
        force_setattr(spec, "node_name", intern(spec.node_name))
        devices = [one if one.taints else intern(one) for one in spec.devices]
        force_setattr(spec, "devices", tuple(devices))
        return one


class ClaimSlimmer:
    """Makes claims share names and tolerations; as SliceSlimmer."""

    def __init__(self, table: InternTable) -> None:
        """Share by this table."""
        self._intern = table.intern

    def __call__(self, claim: ResourceClaim) -> ResourceClaim:
        """The same claim, made slim."""
        metadata, allocation = claim.metadata, claim.status.allocation
        _strip(metadata)
        force_setattr(metadata, "namespace", self._intern(metadata.namespace))
        for result in allocation.devices.results if allocation is not None else ():
            self._share(result)
        return claim

    def _share(self, result: DeviceRequestAllocationResult) -> None:
        for field in ("driver", "pool", "device", "tolerations"):
            force_setattr(result, field, self._intern(getattr(result, field)))


def _strip(metadata: ObjectMeta) -> None:
    force_setattr(metadata, "labels", LABELS_NOT_KEPT)
    force_setattr(metadata, "annotations", _NO_ANNOTATIONS)
