"""`bailiff explain` with files of claims, slices and rules."""

import json

import pytest

CLAIMS = """
kind: ResourceClaim
metadata: {name: gpu}
status:
  allocation:
    devices:
      results:
      - driver: d
        pool: p
        device: gpu-0
        tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
  reservedFor: [{resource: pods, name: train, uid: u-1}]
---
kind: ResourceClaim
metadata: {name: gpu, namespace: other}
"""
SLICE = """{"kind": "List", "items": [{
  "kind": "ResourceSlice",
  "metadata": {"name": "s", "uid": "s-1"},
  "spec": {
    "driver": "d",
    "pool": {"name": "p", "generation": 1},
    "devices": [{
      "name": "gpu-0",
      "taints": [{"key": "hot", "effect": "NoExecute", "timeAdded": "2026-01-02T00:00:00Z"}]
    }]
  }
}]}"""
TRAIN = """
kind: Pod
metadata: {name: train, namespace: shop, uid: u-1}
spec: {nodeName: n1, resourceClaims: [{name: gpu, resourceClaimName: gpu}]}
"""
RULE = """
kind: DeviceTaintRule
metadata: {name: recall, uid: r-1}
spec:
  deviceSelector: {driver: d}
  taint: {key: recall, effect: NoExecute, timeAdded: "2026-01-02T00:05:00Z"}
"""


@pytest.fixture
def devices(tmp_path):
    """Arguments that name files of devices."""
    found = []
    for name, text in (("claims", CLAIMS), ("slices", SLICE), ("rule", RULE)):
        path = tmp_path / name
        path.write_text(text)
        found += ["-f", str(path)]
    return (*found, "-n", "shop")


def test_explain_names_slice_device_rule_and_toleration(run, devices):
    result = run("explain", "-f", "-", *devices, "--now", "2026-01-02T00:00:30Z", stdin=TRAIN)
    assert result.exit_code == 0, result.output
    published = "ResourceSlice /s:s-1 d/p/gpu-0 taint #0"
    reasons = f"DeviceTaintRule /recall:r-1, {published}"
    tolerated = "is tolerated by *:NoExecute op=Exists for 60s"
    until = "evictAt=2026-01-02T00:01:00Z holdsUntil=2026-01-02T00:01:00Z"
    by_slice = f"taint hot:NoExecute of device d/p/gpu-0 {tolerated}"
    by_rule = f"taint recall:NoExecute of device d/p/gpu-0 {tolerated}"
    assert result.output.splitlines() == [
        "Pod shop/train on node n1: evict at 2026-01-02T00:01:00Z",
        f"  ToleratedUntil: {by_slice}, until 2026-01-02T00:01:00Z ({reasons})",
        "device-taints: EVICT_AT (ToleratedUntil)",
        "  ResourceClaim Used: claim gpu: the pod uses it",
        f"  NoExecuteDeviceTaint ToleratedForSeconds: {by_slice} ({published})",
        "    added 2026-01-02T00:00:00Z",
        "    deadline 2026-01-02T00:01:00Z",
        f"  NoExecuteDeviceTaint ToleratedForSeconds: {by_rule} (DeviceTaintRule /recall:r-1)",
        "    added 2026-01-02T00:05:00Z",
        "    deadline 2026-01-02T00:06:00Z",
        "",
        "device-taints reports",
        f"  claims: claim=shop/gpu verdict=EVICT_AT {until} reasons={reasons}",
        "  claims: claim=other/gpu verdict=KEEP",
    ]


def test_explain_asks_node_and_devices(run, devices):
    arguments = ("-f", "NODE", "--now", "2026-01-02T00:00:30Z", "-o", "json")
    answer = json.loads(run("explain", "-f", "-", *devices, *arguments, stdin=TRAIN).output)
    assert [(f["system"], f["verdict"]) for f in answer["decision"]["findings"]] == [
        ("node-taints", "EVICT_NOW"),
        ("device-taints", "EVICT_AT"),
    ]
    assert answer["decision"]["decidedBy"] == "node-taints"


def test_a_pod_without_a_namespace_is_in_that_of_kubectl(run, tmp_path):
    claims = tmp_path / "claims"
    claims.write_text(CLAIMS.replace("{name: gpu}", "{name: gpu, namespace: default}"))
    (tmp_path / "rules").write_text(RULE)
    files = ("-f", str(claims), "-f", str(tmp_path / "rules"))
    pod = TRAIN.replace("namespace: shop, ", "")
    told = run("explain", "-f", "-", *files, "-o", "json", stdin=pod)
    answer = json.loads(told.output)["decision"]
    assert (answer["pod"]["namespace"], answer["reason"]) == ("default", "TolerationExpired")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: ResourceClaim\nstatus: 1", "ResourceClaim: $.status"),
        ("kind: ResourceClaim\nmetadata: 1", "ResourceClaim: $.metadata"),
        (
            "kind: ResourceSlice\nmetadata: {name: s}\napiVersion: resource.k8s.io/v1beta1",
            "is not read",
        ),
        ("a: " + "x" * 2_000_000, "give it as JSON"),
    ],
)
def test_bad_devices_are_refused_with_their_place(run, tmp_path, text, message):
    (tmp_path / "claims").write_text(text)
    result = run("explain", "-f", "POD", "-f", "NODE", "-f", str(tmp_path / "claims"))
    assert result.exit_code == 2
    assert message in result.output


def test_explain_needs_a_node_or_devices(run):
    result = run("explain", "-f", "POD")
    assert result.exit_code == 2
    assert "bailiff: this cannot be asked: $: nothing to decide from" in result.output
