"""Answers about the pods of a cluster that use devices."""

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.cluster.errors import (
    ClusterError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
)
from bailiff.decisions import Options
from bailiff.decisions.device_taints.facts import MAX_RULES
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice, decode
from bailiff.lookup import FailedError, ForbiddenError, LookUpError, NotServedError
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.kinds import no_execute, node_of
from tests.harness.lookups import DictSource, failing

POD_PATH, NODE_PATH = "/v1/namespaces/default/pods/train/decision", "/v1/nodes/node-1/decisions"
POD = b"""{"metadata": {"name": "train", "namespace": "default", "uid": "u"},
"spec": {"nodeName": "node-1", "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
"tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 60}]}}"""
CLAIM = b"""{"metadata": {"name": "gpu", "namespace": "default"}, "status": {
"allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "gpu-0"}]}},
"reservedFor": [{"resource": "pods", "name": "train", "uid": "u"}]}}"""
RULE = b"""{"metadata": {"name": "recall", "uid": "r"}, "spec": {"deviceSelector": {},
"taint": {"key": "recall", "effect": "NoExecute", "timeAdded": "2026-05-04T12:00:30Z"}}}"""
TAINTED = node_of("node-1", no_execute("k"))
RECALL = decode(RULE, DeviceTaintRule)


OBJECTS = (decode(POD, Pod), TAINTED, decode(CLAIM, ResourceClaim), RECALL)


@pytest.fixture
def user(source: DictSource) -> DictSource:
    """A cluster with a pod that tolerates its node's taint for 60 s; its device has one in 30 s."""
    source.add(*OBJECTS)
    return source


def told(decision: dict) -> dict:
    return {one["system"]: (one["verdict"], one["reason"]) for one in decision["findings"]}


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_both_systems_are_told_and_the_earliest_wins(
    app: FastAPI, user: DictSource, path: str
) -> None:
    answer = (await call(app, "GET", path)).json
    (decision,) = answer.get("decisions") or [answer["decision"]]
    assert decision["decidedBy"] == "device-taints"
    assert decision["evictAt"] == "2026-05-04T12:00:30Z"
    assert told(decision) == {
        "node-taints": ("EVICT_AT", "ToleratedUntil"),
        "device-taints": ("EVICT_AT", "TaintStartsLater"),
    }


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        (NotServedError("none"), "DevicesNotServed"),
        (ForbiddenError("no permission to list resourceslices"), "DevicesNotRead"),
    ],
)
async def test_without_devices_the_node_still_decides(
    app: FastAPI, user: DictSource, path: str, unseen: LookUpError, reason: str
) -> None:
    user.errors[ResourceSlice] = unseen
    answer = await call(app, "GET", path)
    (decision,) = answer.json.get("decisions") or [answer.json["decision"]]
    assert (answer.status, decision["decidedBy"]) == (200, "node-taints")
    assert told(decision)["device-taints"] == ("KEEP", reason)


async def test_what_is_not_known_is_the_reason_where_nothing_evicts(
    app: FastAPI, user: DictSource
) -> None:
    user.objects[Node] = [node_of("node-1")]
    user.errors[ResourceSlice] = ForbiddenError("no permission to list resourceslices")
    decision = (await call(app, "GET", POD_PATH)).json["decision"]
    assert (decision["verdict"], decision["reason"]) == ("KEEP", "DevicesNotRead")
    assert "list resourceslices" in decision["message"]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        # Served a moment ago, as while the API server is upgraded.
        (NotFoundError("no", status=404), 503, "cluster_unavailable"),
        (RequestTimeoutError("slow"), 503, "cluster_unavailable"),
        (ServerError("ill", status=500), 503, "cluster_unavailable"),
        (ResponseError("nonsense"), 502, "cluster_failed"),
    ],
)
@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_devices_that_fail_to_be_read_fail_the_answer(
    path: str, error: ClusterError, status: int, code: str
) -> None:
    source = failing(*OBJECTS, list_resourceslices=error)
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options(), source)
    answer = await call(app, "GET", path)
    assert (answer.status, answer.json["code"]) == (status, code)
    assert ("retry-after" in answer.headers) == (code == "cluster_unavailable")


@pytest.mark.parametrize("path", [POD_PATH, NODE_PATH])
async def test_with_the_gate_off_no_device_is_read(user: DictSource, path: str) -> None:
    user.errors[ResourceClaim] = FailedError("asked")
    options = Options(device_taint_eviction=False)
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), options, user)
    answer = await call(app, "GET", path)
    (decision,) = answer.json.get("decisions") or [answer.json["decision"]]
    assert (answer.status, decision["decidedBy"]) == (200, "node-taints")
    assert told(decision)["device-taints"] == ("KEEP", "DeviceTaintEvictionOff")


async def test_more_rules_than_can_be_answered_for_are_refused_by_name(
    app: FastAPI, user: DictSource
) -> None:
    user.objects[DeviceTaintRule] = [RECALL] * (MAX_RULES + 1)
    answer = await call(app, "GET", POD_PATH)
    assert (answer.status, answer.json["code"]) == (422, "too_many_objects")
    assert "deviceTaintRules" in answer.json["detail"]
