"""Each text that an answer repeats is counted as often as the answer repeats it.

One text at a time, or all of them, is as long as Kubernetes allows, of characters that JSON writes
as six, and all others are short: so one that is counted too rarely shows.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.decisions import OptionOverrides, lengths
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.node_taints import weighing
from bailiff.kinds import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    PodSpec,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
    Taint,
    Toleration,
)
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN
from tests.harness.asking import planned, take_any_taint
from tests.harness.device_kinds import at

WORD, NAME, KEY = MAX_LABEL, MAX_SUBDOMAIN, MAX_SUBDOMAIN + 1 + MAX_LABEL
LATE = at(-0.000_001)
POD_TEXTS = {"namespace": WORD, "pod": NAME, "uid": NAME}
TAINT_TEXTS = {"key": KEY, "value": WORD}
TOLERATION_TEXTS = {"operator": WORD, "toleration_value": WORD}
NODE_TEXTS = {**POD_TEXTS, **TAINT_TEXTS, **TOLERATION_TEXTS, "node": NAME, "elsewhere": NAME}
DEVICE_TEXTS = {
    **POD_TEXTS, **TAINT_TEXTS, "toleration_key": KEY, "driver": WORD, "pool": NAME, "device": WORD,
    "claim": NAME, "claim_uid": NAME, "slice": NAME, "slice_uid": NAME, "rule": NAME,
    "rule_uid": NAME, "entry": WORD, "missing": NAME,
}  # fmt: skip


ALL = "all"


class Texts:
    """All short but one, or ALL long."""

    def __init__(self, most: dict[str, int], long: str) -> None:
        self._texts = {name: name[0] for name in most}
        for name, number in most.items():
            if long in (ALL, name):
                self._texts[name] = "\x01" * number

    def equate(self, name: str, other: str) -> None:
        self._texts[name] = self._texts[other]

    def __getitem__(self, name: str) -> str:
        return self._texts[name]


def metadata(texts: Texts) -> ObjectMeta:
    return ObjectMeta(name=texts["pod"], namespace=texts["namespace"], uid=texts["uid"])


def assert_counted(question: str, explain: bool, **facts: Any) -> None:
    options = OptionOverrides(explain=explain)
    with pytest.MonkeyPatch.context() as patch:
        take_any_taint(patch)
        rough = planned(question, options=options, **facts)
        patch.setattr(lengths, "ROUGH_BYTES", -1)
        patch.setattr(weighing, "ROUGH_BYTES", -1)
        measured = planned(question, options=options, **facts)
    answer = len(msgspec.json.encode(rough.answer()))
    assert answer <= measured.told
    assert answer <= rough.told


def tolerations(texts: Texts, seconds: int | None) -> tuple[Toleration, ...]:
    return (
        Toleration(
            key=texts["key"],
            operator="Equal",
            value=texts["value"],
            effect="NoExecute",
            toleration_seconds=seconds,
        ),
    )


@pytest.mark.parametrize("explain", [True, False])
@pytest.mark.parametrize("where", ["node", "elsewhere", ""])
@pytest.mark.parametrize("tolerated", [False, None, 0, 7, 2**63 - 1])
def test_a_node_s_pods(where: str, tolerated: Any, explain: bool) -> None:
    for long in ("", ALL, *NODE_TEXTS):
        ask_of_a_node(Texts(NODE_TEXTS, long), where, tolerated, explain)


def ask_of_a_node(texts: Texts, where: str, tolerated: Any, explain: bool) -> None:
    taint = Taint(key=texts["key"], value=texts["value"], effect="NoExecute", time_added=LATE)
    pods = tuple(
        Pod(
            metadata=metadata(texts),
            spec=PodSpec(
                node_name=texts[where] if where else "",
                tolerations=() if tolerated is False else tolerations(texts, tolerated),
            ),
        )
        for _ in range(3)
    )
    meta = NodeMeta(name=texts["node"])
    node = Node(metadata=meta, spec=NodeSpec(taints=(taint, taint)))
    assert_counted("decideBatch", explain, pods=pods, node=node)
    sooner = replace(taint, time_added=at(-2))
    assert_counted("previewTaintChange", explain, pods=pods, node=node, add_taints=(sooner,))


def device_objects(texts: Texts, taints: str, seconds: int | None) -> dict[str, Any]:
    taint = DeviceTaint(key=texts["key"], value=texts["value"], effect="NoExecute", time_added=LATE)
    named = {"driver": texts["driver"], "pool": texts["pool"], "device": texts["device"]}
    toleration = DeviceToleration(
        key=texts["toleration_key"],
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=seconds,
    )
    result = DeviceRequestAllocationResult(**named, tolerations=(toleration,))
    claim = ResourceClaim(
        metadata=ObjectMeta(
            name=texts["claim"], namespace=texts["namespace"], uid=texts["claim_uid"]
        ),
        status=ResourceClaimStatus(
            allocation=AllocationResult(devices=DeviceAllocationResult(results=(result,))),
            reserved_for=(ResourceClaimConsumerReference(uid=texts["uid"]),),
        ),
    )
    devices = (Device(name=texts["device"], taints=(taint,) * 6),)
    one_slice = ResourceSlice(
        metadata=ObjectMeta(name=texts["slice"], uid=texts["slice_uid"]),
        spec=ResourceSliceSpec(
            driver=texts["driver"], pool=ResourcePool(name=texts["pool"]), devices=devices
        ),
    )
    rule = DeviceTaintRule(
        metadata=ObjectMeta(name=texts["rule"], uid=texts["rule_uid"]),
        spec=DeviceTaintRuleSpec(device_selector=DeviceTaintSelector(), taint=taint),
    )
    section = DeviceTaintFacts(
        resource_claims=(claim,) * 6,
        resource_slices=(one_slice,) if taints == "slice" else (),
        device_taint_rules=(rule,) if taints == "rule" else (),
    )
    return {"section": section, "rule": rule}


@pytest.mark.parametrize("explain", [True, False])
@pytest.mark.parametrize("taints", ["slice", "rule", "none"])
@pytest.mark.parametrize("seconds", [None, 7])
@pytest.mark.parametrize("tolerates", [True, False])
def test_pods_with_devices(
    taints: str, seconds: int | None, tolerates: bool, explain: bool
) -> None:
    for long in ("", ALL, *DEVICE_TEXTS):
        texts = Texts(DEVICE_TEXTS, long)
        if tolerates:
            texts.equate("toleration_key", "key")
        ask_of_devices(texts, taints, seconds, explain)


def ask_of_devices(texts: Texts, taints: str, seconds: int | None, explain: bool) -> None:
    found = device_objects(texts, taints, seconds)
    entries = (
        PodResourceClaim(name=texts["entry"], resource_claim_name=texts["claim"]),
        PodResourceClaim(name=texts["entry"], resource_claim_name=texts["missing"]),
        *(PodResourceClaim(name=texts["entry"]),) * 9,
    )
    pod = Pod(metadata=metadata(texts), spec=PodSpec(node_name="n", resource_claims=entries))
    pods = (pod,) * 3
    assert_counted("decideBatch", explain, pods=pods, device_taints=found["section"])
    assert_counted("decideBatch", explain, device_taints=found["section"])
    assert_counted(
        "previewDeviceTaintRule",
        explain,
        rule=found["rule"],
        pods=pods,
        device_taints=found["section"],
    )
    rule, section = found["rule"], found["section"]
    assert_counted("previewDeviceTaintRule", explain, rule=rule, device_taints=section)


def test_the_longest_names_are_counted_without_a_look() -> None:
    texts = Texts(NODE_TEXTS, ALL)
    pod = Pod(metadata=metadata(texts), spec=PodSpec(node_name=texts["elsewhere"]))
    node = Node(metadata=NodeMeta(name=texts["node"]))
    rough = lengths.weigh_decisions((pod,), node).told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "ROUGH_BYTES", -1)
        assert lengths.weigh_decisions((pod,), node).told <= rough
