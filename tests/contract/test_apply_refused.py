"""Server-side apply: preconditions, refusals and other bodies, the same on both."""

from __future__ import annotations

import json

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.api import PODS, STRANGER, Bench, uid_of, version_of
from tests.harness.applying import MAPS, apply, pod_config
from tests.harness.objects import Object, config_map

pytestmark = pytest.mark.parity


async def test_a_uid_is_a_precondition(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    config = config_map(x="2")
    config["metadata"]["uid"] = STRANGER
    with pytest.raises(k8s.UidMismatchError):
        await apply(bench, MAPS, config, "one")
    config["metadata"]["name"] = "b"
    with pytest.raises(k8s.ConflictError, match="no existing object was found"):
        await apply(bench, MAPS, config, "one")
    config["metadata"] = {"name": "a", "uid": uid_of(made)}
    assert (await apply(bench, MAPS, config, "one"))["data"] == {"x": "2"}


async def test_a_version_is_a_precondition(bench: Bench) -> None:
    made = await apply(bench, MAPS, config_map(x="1"), "one")
    await apply(bench, MAPS, config_map(x="2"), "one")
    config = config_map(x="3")
    config["metadata"]["resourceVersion"] = version_of(made)
    with pytest.raises(k8s.ConflictError, match="has been modified"):
        await apply(bench, MAPS, config, "one")


@pytest.mark.parametrize(
    ("error", "change", "query"),
    [
        (k8s.InvalidError, {}, {"fieldManager": ""}),
        (k8s.InvalidError, {}, {"fieldManager": "x" * 129}),
        (k8s.BadRequestError, {"metadata": {"name": "a", "managedFields": [{}]}}, {}),
        (k8s.BadRequestError, {"kind": ""}, {}),
        (k8s.BadRequestError, {"kind": "Secret"}, {}),
        (k8s.InvalidError, {"metadata": {"name": "a", "labels": {"a": "!"}}}, {}),
    ],
)
async def test_an_apply_that_is_refused(
    bench: Bench, error: type[k8s.StatusError], change: Object, query: dict[str, str]
) -> None:
    with pytest.raises(error):
        await apply(bench, MAPS, config_map(x="1") | change, "one", **query)


async def test_the_status_of_what_is_not_there_is_not_found(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await apply(bench, PODS, pod_config(phase="Running"), "one", "status")


async def test_force_is_for_apply_only(bench: Bench) -> None:
    await bench.cluster.create(MAPS, config_map(x="1"), bench.namespace)
    path = MAPS.path(bench.namespace, "a")
    request = Request("PATCH", path, {"force": "true"}, b"{}", PatchType.MERGE)
    with pytest.raises(k8s.InvalidError):
        await bench.cluster.send(request)


async def test_a_configuration_may_be_yaml(bench: Bench) -> None:
    text = b'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "2020-01-01"\n'
    path = MAPS.path(bench.namespace, "a")
    query = {"fieldManager": "one"}
    request = Request("PATCH", path, query, text, "application/apply-patch+yaml")
    made = json.loads(await bench.cluster.send(request))
    assert made["data"] == {"x": "2020-01-01"}
    for broken in (b"{a: b: c", b"- a\n"):
        request = Request("PATCH", path, query, broken, "application/apply-patch+yaml")
        with pytest.raises(k8s.BadRequestError):
            await bench.cluster.send(request)


async def test_managed_fields_can_be_reset(bench: Bench) -> None:
    await apply(bench, MAPS, config_map(x="1"), "one")
    patch: Object = {"metadata": {"managedFields": [{}]}}
    merge = PatchType.MERGE
    after = await bench.cluster.patch(MAPS, "a", bench.namespace, patch, patch_type=merge)
    assert "managedFields" not in after["metadata"]
