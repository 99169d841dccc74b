"""`validate/devicetaintrules` and `validate/resourceslices`: as of nodes, for devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import BlastRadius
from bailiff.kinds import Annotations, DeviceTaintRule, ResourceSlice
from tests.harness.device_kinds import claim, on, reserved, rule, slice_of, taint, using
from tests.harness.hooks import Hooked

if TYPE_CHECKING:
    from bailiff.kinds.meta import Value

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime

RADIUS = BlastRadius(max_pods=1)
BEFORE, AFTER = slice_of(a=(), b=()), slice_of(a=(taint(),), b=(taint(),))
WORLD: tuple[Value, ...] = (
    claim("c", on("a")),
    claim("d", on("b"), reserved_for=(reserved("q", "q-1"),)),
    using("c"),
    using("d", name="q", uid="q-1"),
    BEFORE,
)


def acknowledging(one: DeviceTaintRule | ResourceSlice, causes: str) -> Value:
    annotations = Annotations(acknowledged_taints=causes)
    return replace(one, metadata=replace(one.metadata, annotations=annotations))


@pytest.mark.parametrize(
    ("plural", "old", "new", "cause", "kind"),
    [
        ("devicetaintrules", None, rule(), "DeviceTaintRule r", "DeviceTaintRule r"),
        ("resourceslices", BEFORE, AFTER, "device taint k:NoExecute", "ResourceSlice s"),
    ],
)
async def test_above_the_radius_it_is_refused_until_it_is_acknowledged(
    plural: str, old: Value | None, new: DeviceTaintRule | ResourceSlice, cause: str, kind: str
) -> None:
    names = kind if kind == cause else f"{kind}, {cause}"
    told = f"evicts 2 pods now (bailiff: {names})"
    said = await Hooked(*WORLD).change(plural, old, new)
    assert (said["allowed"], said["warnings"]) == (True, [told])
    said = await Hooked(*WORLD, radius=RADIUS).change(plural, old, new)
    assert not said["allowed"]
    assert said["status"]["message"] == (
        f"blastRadius: {cause} evicts 2 pods, more than 1; where that is meant, annotate {kind}, "
        "in this same write, and the nodes of its pods first: "
        f"bailiff.dev/acknowledged-taints='{cause}'"
    )
    said = await Hooked(*WORLD, radius=RADIUS).change(plural, old, acknowledging(new, cause))
    assert said["allowed"]


@pytest.mark.parametrize(
    ("plural", "old", "new"),
    [
        ("devicetaintrules", rule(), rule(effect="None")),
        ("devicetaintrules", None, rule(effect="NoSchedule")),
        ("resourceslices", AFTER, BEFORE),
    ],
)
async def test_what_brings_no_evicting_taint_is_allowed_without_a_look(
    plural: str, old: Value | None, new: Value
) -> None:
    hooked = Hooked(*WORLD, radius=RADIUS)
    said = await hooked.change(plural, old, new)
    assert (said["allowed"], said.get("warnings", [])) == (True, [])
    assert hooked.source.kinds == []


async def test_of_other_versions_it_is_said_that_they_are_not_looked_at() -> None:
    resource = {"group": "resource.k8s.io", "version": "v1alpha3", "resource": "devicetaintrules"}
    hooked = Hooked(*WORLD, radius=RADIUS)
    said = await hooked.change("devicetaintrules", None, rule(), resource=resource)
    assert said["allowed"]
    assert said["warnings"] == [
        "not looked at: devicetaintrules of resource.k8s.io/v1alpha3 (bailiff: devicetaintrules r)"
    ]


async def test_a_rule_that_selects_more_is_counted_whole() -> None:
    hooked = Hooked(*WORLD, rule(device="a"), radius=RADIUS)
    said = await hooked.change("devicetaintrules", rule(device="a"), rule())
    assert "DeviceTaintRule r evicts 2 pods, more than 1" in said["status"]["message"]
    assert said["warnings"] == ["evicts 1 pod now (bailiff: DeviceTaintRule r)"]
