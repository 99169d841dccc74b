"""What a question tells of devices."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bailiff.kinds import DeviceTaintRule, ResourceClaim, ResourceSlice
from bailiff.kinds.meta import Value

# Objects in one question: those of a cluster of 5,000 nodes with eight devices each, of which half
# are in use.
MAX_CLAIMS = 20_000
MAX_SLICES = 20_000
MAX_RULES = 1000


class DeviceTaintFacts(Value, frozen=True, forbid_unknown_fields=True):
    """Devices, who has them, and their taints. Of objects of one name the last counts.

    Attributes:
        resource_claims: the claims that the pods name, and maybe others, at most 20,000; each is
            reported on.
        resource_slices: the slices that publish the devices of those claims, and maybe others, at
            most 20,000 with 50,000 devices.
        device_taint_rules: the rules of the cluster, at most 1,000.
    """

    resource_claims: Annotated[tuple[ResourceClaim, ...], Meta(max_length=MAX_CLAIMS)] = ()
    resource_slices: Annotated[tuple[ResourceSlice, ...], Meta(max_length=MAX_SLICES)] = ()
    device_taint_rules: Annotated[tuple[DeviceTaintRule, ...], Meta(max_length=MAX_RULES)] = ()

    @property
    def any(self) -> bool:
        """Whether there is anything at all."""
        return bool(self.resource_claims or self.resource_slices or self.device_taint_rules)
