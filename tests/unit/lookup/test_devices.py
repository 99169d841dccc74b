"""What is read about the devices of pods: few requests, and what is needed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from bailiff.decisions import Options, Scene, Wanted
from bailiff.decisions.device_taints import DEVICE_TAINTS, DeviceTaintFacts
from bailiff.kinds import (
    ObjectMeta,
    Pod,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodSpec,
    PodStatus,
    ResourceClaim,
)
from bailiff.lookup import ClusterSource, UnavailableError, drive
from tests.harness.clocks import ManualClock
from tests.harness.device_objects import allocation, claim, slice_of
from tests.harness.lookups import DEVICES, RULES, Server
from tests.harness.objects import Object

if TYPE_CHECKING:
    from pathlib import Path

RECALL = {"metadata": {"name": "recall"}}


def allocated(name: str, driver: str = "d", pool: str = "p") -> Object:
    metadata = {"name": name, "namespace": "ns"}
    status = {"allocation": allocation(pool, driver=driver)}
    return claim(name) | {"metadata": metadata, "status": status}


def published(name: str, driver: str = "d", pool: str = "p") -> Object:
    return slice_of(name, driver=driver, pool={"name": pool})


def user(*claims: str) -> Pod:
    named = tuple(
        PodResourceClaim(name=f"c{i}", resource_claim_name=c) for i, c in enumerate(claims)
    )
    return Pod(
        metadata=ObjectMeta(name="train", namespace="ns"), spec=PodSpec(resource_claims=named)
    )


async def devices_of(source: ClusterSource, *pods: Pod) -> Any:
    """What the system of devices is told of pods that use some, or says without it."""
    scene = Scene(pods, ManualClock().now())
    return await drive(DEVICE_TAINTS.look_up(scene, Options()), source)


def serving(*names: str, **objects: list[Object]) -> Server:
    server = Server(*names)
    server.objects = {"resourceclaims": [], "resourceslices": [], **objects}
    return server


async def test_only_what_decides_is_read(tmp_path: Path) -> None:
    slices = [
        *(published("1"), published("2", pool="elsewhere"), published("3")),
        *(published("4", "e", "q"), published("5", "f")),
    ]
    claims = [allocated("a"), allocated("b", "e", "q"), allocated("other", "f")]
    objects = {"resourceclaims": claims, "resourceslices": slices, "devicetaintrules": [RECALL]}
    server = serving(*DEVICES, *RULES, **objects)
    async with server.source(tmp_path) as source:
        found = await devices_of(source, user("a", "b"), user("a", "absent"))
    assert [one.metadata.name for one in found.resource_claims] == ["a", "b"]
    assert [one.metadata.name for one in found.resource_slices] == ["1", "3", "4"]
    assert [one.metadata.name for one in found.device_taint_rules] == ["recall"]
    assert server.asked == [
        *(f"/namespaces/ns/resourceclaims/{name}" for name in ("a", "b", "absent")),
        *(f"/resourceslices?spec.driver={driver}" for driver in ("d", "e")),
        "/devicetaintrules",
    ]


@pytest.mark.parametrize(
    ("options", "names"),
    [(Options(), [("extended",)]), (Options(extended_resource_claims=False), [])],
)
def test_claims_that_do_not_count_are_not_wanted(
    options: Options, names: list[tuple[str, ...]]
) -> None:
    status = PodStatus(extended_resource_claim_status=PodExtendedResourceClaimStatus("extended"))
    looking = DEVICE_TAINTS.look_up(
        Scene((replace(user(), status=status),), ManualClock().now()), options
    )
    wanted = [next(looking)]
    with contextlib.suppress(StopIteration):
        while True:
            wanted.append(looking.send(()))
    assert [
        one.names for one in wanted if isinstance(one, Wanted) and one.kind is ResourceClaim
    ] == names


async def test_many_claims_are_listed_at_once(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(9)]
    server = serving(*DEVICES, resourceclaims=[allocated(name) for name in (*names, "other")])
    async with server.source(tmp_path) as source:
        found = await devices_of(source, user(*names))
    assert [one.metadata.name for one in found.resource_claims] == names
    assert server.asked == ["/namespaces/ns/resourceclaims", "/resourceslices?spec.driver=d"]


async def test_without_allocations_no_slice_is_read(tmp_path: Path) -> None:
    server = serving(*DEVICES)
    async with server.source(tmp_path) as source:
        found = await devices_of(source, user("absent"))
    assert found == DeviceTaintFacts()
    assert server.asked == ["/namespaces/ns/resourceclaims/absent"]


@pytest.mark.parametrize(
    ("claims", "verb"), [(("a",), "get"), (tuple(f"c{i}" for i in range(9)), "list")]
)
async def test_what_may_not_be_read_is_said(
    tmp_path: Path, claims: tuple[str, ...], verb: str
) -> None:
    pod = user(*claims)
    async with Server(*DEVICES, status=403).source(tmp_path) as source:
        found = await devices_of(source, pod)
    said = found.of(pod)
    assert said.reason == "DevicesNotRead"
    assert f"permission to {verb} resourceclaims" in said.message


async def test_what_is_served_no_longer_is_looked_for_anew(tmp_path: Path) -> None:
    server = serving(*DEVICES, *RULES, devicetaintrules=[RECALL])
    async with server.source(tmp_path) as source:
        await devices_of(source, user("a"))
        server.names = DEVICES
        with pytest.raises(UnavailableError):
            await devices_of(source, user("a"))
        found = await devices_of(source, user("a"))
    assert found.device_taint_rules == ()
