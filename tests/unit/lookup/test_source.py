"""What is asked of an API server: few requests, little kept; and what its refusals become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bailiff.decisions import Wanted
from bailiff.decisions.criticality import is_critical
from bailiff.kinds import (
    DeviceTaintRule,
    Node,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    ResourceSlice,
)
from bailiff.kinds.meta import Value
from bailiff.lookup import (
    FailedError,
    ForbiddenError,
    MissingError,
    NotServedError,
    UnavailableError,
)
from tests.harness.device_objects import allocation, claim, slice_of
from tests.harness.lookups import DEVICES, RULES, Server
from tests.harness.objects import Object

if TYPE_CHECKING:
    from pathlib import Path


def allocated(name: str, driver: str = "d", pool: str = "p") -> Object:
    metadata = {"name": name, "namespace": "ns"}
    return claim(name) | {
        "metadata": metadata,
        "status": {"allocation": allocation(pool, driver=driver)},
    }


def names(objects: tuple[Any, ...]) -> list[str]:
    return [one.metadata.name for one in objects]


async def test_a_few_are_got_one_by_one_and_those_that_are_not_there_left_out(
    tmp_path: Path,
) -> None:
    server = Server(*DEVICES)
    server.objects["resourceclaims"] = [allocated(name) for name in ("a", "b", "other")]
    async with server.source(tmp_path) as source:
        found = await source.see(Wanted(ResourceClaim, "ns", ("a", "b", "a", "absent")))
    assert names(found) == ["a", "b"]
    of_namespace = "/namespaces/ns/resourceclaims/"
    assert server.asked == [f"{of_namespace}{name}" for name in ("a", "b", "absent")]


async def test_many_are_listed_at_once(tmp_path: Path) -> None:
    server = Server(*DEVICES)
    wanted = tuple(f"c{number}" for number in range(9))
    server.objects["resourceclaims"] = [allocated(name) for name in (*wanted, "other")]
    async with server.source(tmp_path) as source:
        found = await source.see(Wanted(ResourceClaim, "ns", wanted))
    assert names(found) == list(wanted)
    assert server.asked == ["/namespaces/ns/resourceclaims"]


@pytest.mark.parametrize("number", [2, 9])
async def test_no_more_than_so_many_of_those_that_are_named(tmp_path: Path, number: int) -> None:
    server = Server(*DEVICES)
    wanted = tuple(f"c{number}" for number in range(number))
    server.objects["resourceclaims"] = [allocated(name) for name in ("a", "b", *wanted)]
    async with server.source(tmp_path) as source:
        assert names(await source.see(Wanted(ResourceClaim, "ns", wanted, most=1))) == ["c0"]


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [
        (Wanted(Pod, fields=(("spec.nodeName", "n"),)), "/api/v1/pods?spec.nodeName=n"),
        (Wanted(Pod, "", ("p",), (("spec.nodeName", "n"),)), "/api/v1/pods?spec.nodeName=n"),
        (Wanted(Pod, fields=(("a", "x,y=z\\"),)), "/api/v1/pods?a=x\\,y\\=z\\\\"),
        (Wanted(Pod, unlike=(("a", "x"), ("b", "y"))), "/api/v1/pods?a!=x,b!=y"),
        (Wanted(Pod, "", ("p",), unlike=(("a", "x"),)), "/api/v1/pods?a!=x"),
        (Wanted(Pod, most=1), "/api/v1/pods"),
        (Wanted(Node), "/api/v1/nodes"),
        (Wanted(PodDisruptionBudget), "/apis/policy/v1/poddisruptionbudgets"),
        (Wanted(ResourceSlice, fields=(("spec.driver", "d"),)), "/resourceslices?spec.driver=d"),
        (Wanted(DeviceTaintRule), "/devicetaintrules"),
    ],
)
async def test_where_what_is_wanted_is_served(tmp_path: Path, wanted: Wanted, asked: str) -> None:
    server = Server(*DEVICES, *RULES)
    plurals = ("pods", "nodes", "poddisruptionbudgets", "resourceslices", "devicetaintrules")
    server.objects |= {plural: [] for plural in plurals}
    async with server.source(tmp_path) as source:
        assert await source.see(wanted) == ()
    assert server.asked == [asked]


@pytest.mark.parametrize("names", [None, ("p",)], ids=["listed", "got"])
async def test_no_pod_calls_itself_a_static_one(
    tmp_path: Path, names: tuple[str, ...] | None
) -> None:
    server = Server()
    annotations = {"kubernetes.io/config.source": "file"}
    metadata = {"name": "p", "namespace": "ns", "annotations": annotations}
    server.objects["pods"] = [{"metadata": metadata}]
    async with server.source(tmp_path) as source:
        (seen,) = await source.see(Wanted(Pod, "ns", names))
        got = await source.get(Pod, "p", "ns")
    assert isinstance(seen, Pod)
    assert not is_critical(seen)
    assert not is_critical(got)


async def test_slices_come_slim_because_there_may_be_thousands(tmp_path: Path) -> None:
    server = Server(*DEVICES)
    server.objects["resourceslices"] = [slice_of("1"), slice_of("2")]
    async with server.source(tmp_path) as source:
        one, other = await source.see(Wanted(ResourceSlice))
    assert isinstance(one, ResourceSlice)
    assert isinstance(other, ResourceSlice)
    assert one.spec.devices[0] is other.spec.devices[0]


async def test_a_cluster_that_serves_no_devices_is_asked_for_none(tmp_path: Path) -> None:
    server = Server()
    async with server.source(tmp_path) as source:
        with pytest.raises(NotServedError, match=r"resource\.k8s\.io"):
            await source.see(Wanted(ResourceClaim))
    assert set(server.asked) == {"/apis/resource.k8s.io"}


async def test_a_cluster_with_devices_and_no_rules_is_as_one_that_has_none(tmp_path: Path) -> None:
    async with Server(*DEVICES).source(tmp_path) as source:
        assert await source.see(Wanted(DeviceTaintRule)) == ()


async def test_what_is_served_no_longer_is_looked_for_anew(tmp_path: Path) -> None:
    server = Server(*DEVICES, *RULES)
    server.objects["devicetaintrules"] = [{"metadata": {"name": "recall"}}]
    async with server.source(tmp_path) as source:
        assert names(await source.see(Wanted(DeviceTaintRule))) == ["recall"]
        server.names = DEVICES
        with pytest.raises(UnavailableError, match="ceased to serve devicetaintrules"):
            await source.see(Wanted(DeviceTaintRule))
        assert await source.see(Wanted(DeviceTaintRule)) == ()


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (404, MissingError, "Pod ns/web does not exist"),
        (403, ForbiddenError, "grant it the permission to get pods"),
        (401, ForbiddenError, "grant it the permission to get pods"),
        (500, UnavailableError, "Pod ns/web could not be read"),
        (400, FailedError, "Pod ns/web could not be read"),
    ],
)
async def test_a_refusal_says_what_to_do(
    tmp_path: Path, status: int, error: type[Exception], said: str
) -> None:
    async with Server(status=status).source(tmp_path) as source:
        with pytest.raises(error, match=said):
            await source.get(Pod, "web", "ns")


async def test_what_is_no_api_server_does_not_know_what_exists(tmp_path: Path) -> None:
    async with Server(status=404, says="<html>nothing here</html>").source(tmp_path) as source:
        with pytest.raises(FailedError, match=r"no Kubernetes API answered: .*nothing here"):
            await source.get(Pod, "web", "ns")


@pytest.mark.parametrize(
    ("kind", "permission"),
    [(Pod, "list pods"), (ResourceSlice, "list resourceslices"), (Node, "list nodes")],
)
async def test_the_missing_permission_is_named(
    tmp_path: Path, kind: type[Value], permission: str
) -> None:
    async with Server(*DEVICES, status=403).source(tmp_path) as source:
        with pytest.raises(ForbiddenError, match=f"the permission to {permission}"):
            await source.see(Wanted(kind))


async def test_a_kind_that_nobody_knows_is_a_fault_of_the_program(tmp_path: Path) -> None:
    async with Server(*DEVICES).source(tmp_path) as source:
        with pytest.raises(TypeError, match="ObjectMeta"):
            await source.see(Wanted(ObjectMeta))
